/* Any bytes as a safetensors file; what is accepted must have all its data inside the file. */
#include <stdint.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/hash.h"
#include "builder/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	const struct safetensors *s = safetensors_parse(a, data, size, &error);

	if (!s && !error)
		abort();
	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct st_tensor *t = &s->tensors[i];
		if (safetensors_find(s, t->name) == NULL)
			abort();
		hash_bytes(t->data, t->bytes);
	}
	arena_free(a);
	return 0;
}

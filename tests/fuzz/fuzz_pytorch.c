/* Any bytes as a file of torch.save, or as its pickle if they begin with its version. In an accepted file all data are inside the file. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/hash.h"
#include "builder/weights/pickle.h"
#include "builder/weights/pytorch.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	bool is_pickle = size && *data == 0x80;
	const struct pickle *p = is_pickle ? pickle_read(a, data, size, &error) : NULL;
	const struct tensor_list *s = is_pickle ? NULL : pytorch_parse(a, data, size, &error);

	if (!p && !s && !error)
		abort();
	for (uint32_t i = 0; s && i < s->n; i++) {
		if (!tensor_list_find(s, s->tensors[i].name))
			abort();
		hash_bytes(s->tensors[i].data, s->tensors[i].bytes);
	}
	arena_free(a);
	return 0;
}

/* Any bytes as a GGUF file. In an accepted file all data are inside the file, and all elements can be read. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/hash.h"
#include "builder/weights/gguf.h"
#include "tests/fuzz/fuzz.h"

static void read_all(const struct file_tensor *t)
{
	float some[300];
	size_t bad;
	double value;
	int64_t count = file_tensor_count(t);
	hash_bytes(t->data, t->bytes);
	for (int64_t at = 0; t->encoding != TENSOR_PLAIN && at < count; at += 300)
		if (!tensor_read(t, at, count - at < 300 ? (size_t)(count - at) : 300, DT_FLOAT32, some, &bad, &value))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	const struct tensor_list *s = gguf_parse(a, data, size, &error);

	if (!s && !error)
		abort();
	for (uint32_t i = 0; s && i < s->n; i++) {
		if (!tensor_list_find(s, s->tensors[i].name))
			abort();
		read_all(&s->tensors[i]);
	}
	arena_free(a);
	return 0;
}

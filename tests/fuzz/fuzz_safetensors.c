/* Any bytes as a safetensors file. In an accepted file all data are inside the file. An input that begins with `{` is a header up to its
 * first NUL, then the data; the header's length is added. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hash.h"
#include "builder/weights/file_kind.h"
#include "builder/weights/safetensors.h"
#include "tests/fuzz/fuzz.h"

static void check(const void *file, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	const struct tensor_list *s = safetensors_parse(a, file, size, &error);

	if (!s && !error)
		abort();
	if (!*file_kind_text(file_kind_of(file, size)))
		abort();
	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct file_tensor *t = &s->tensors[i];
		if (tensor_list_find(s, t->name) == NULL)
			abort();
		hash_bytes(t->data, t->bytes);
	}
	arena_free(a);
}

/* A copy of its own size, so that a byte read beyond its end is seen. */
static uint8_t *with_length(const uint8_t *data, size_t size, size_t *len)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t header = nul ? (size_t)(nul - data) : size, rest = nul ? size - header - 1 : 0;
	uint8_t *file = malloc(8 + header + rest);
	for (int i = 0; file && i < 8; i++)
		file[i] = (uint8_t)((uint64_t)header >> 8 * i);
	if (file)
		memcpy(file + 8, data, header);
	if (file && rest)
		memcpy(file + 8 + header, nul + 1, rest);
	*len = 8 + header + rest;
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	uint8_t *file = size && *data == '{' ? with_length(data, size, &len) : NULL;
	if (file)
		check(file, len);
	else
		check(data, size);
	free(file);
	return 0;
}

/* Any bytes as a .npy file. An accepted file is the same after writing and reading. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/weights/npy.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct tensor t, back;
	const char *error = NULL;
	struct buf b = {0};

	if (npy_parse(a, data, size, &t, &error)) {
		npy_write(&t, &b);
		if (!npy_parse(a, b.at, b.len, &back, &error) || back.rank != t.rank ||
		    memcmp(back.data, t.data, (size_t)tensor_bytes(&t)) != 0)
			abort();
	} else if (!error) {
		abort();
	}
	buf_free(&b);
	arena_free(a);
	return 0;
}

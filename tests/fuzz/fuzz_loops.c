/* Any bytes as loop IR. Accepted bytes are printed, and are the same after writing and reading. */
#include <stdlib.h>
#include <string.h>
#include "backend/loops/loops.h"
#include "backend/loops/serialize.h"
#include "base/arena.h"
#include "base/buf.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *error = NULL;
	const struct loop_fn *f = loops_read(a, data, size, &error), *again;
	struct buf text = {0}, bytes = {0}, twice = {0};
	if (!f && !error)
		abort();
	if (f) {
		loops_print(f, &text);
		loops_write(f, &bytes);
		again = loops_read(a, bytes.at, bytes.len, &error);
		if (!again)
			abort();
		loops_write(again, &twice);
		if (bytes.len != twice.len || memcmp(bytes.at, twice.at, bytes.len) != 0)
			abort();
	}
	buf_free(&text);
	buf_free(&bytes);
	buf_free(&twice);
	arena_free(a);
	return 0;
}

/* Any text as tri.lock. An accepted text is the same after writing and reading. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/deps/lockfile.h"
#include "tests/fuzz/fuzz.h"

static void expect_same(const struct lockfile *a, const struct lockfile *b)
{
	if (!b || a->n != b->n)
		abort();
	for (uint32_t i = 0; i < a->n; i++) {
		const struct lockfile_entry *x = &a->entries[i], *y = &b->entries[i];
		if (strcmp(x->name, y->name) || !git_source_equal(&x->source, &y->source) || strcmp(x->commit, y->commit))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct diags *d = diags_new(0);
	struct sources *s = sources_new();
	struct buf text = {0};
	const struct lockfile *lock = lockfile_read(a, sources_add(s, "tri.lock", (const char *)data, size), d);
	if (!lock != (diags_errors(d) > 0))
		abort();
	if (lock) {
		lockfile_print(lock->entries, lock->n, &text);
		expect_same(lock, lockfile_read(a, sources_add(s, "again", text.at, text.len), d));
	}
	buf_free(&text);
	sources_free(s);
	diags_free(d);
	arena_free(a);
	return 0;
}

/* Any bytes as loop IR: text if they start like one, else the binary form. What is accepted is the same after writing and reading, in both forms.
 * After a NUL in a text are changes, of three bytes each: the place, two bytes, and the value there of the binary form of the text. So the seeds of
 * damaged binary forms stay of the current version. */
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/serialize.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "tests/fuzz/fuzz.h"

static bool same(const struct buf *a, const struct buf *b) { return a->len == b->len && !memcmp(a->at, b->at, a->len); }

static struct loop_fn *read_text(struct arena *a, struct sources *s, const char *text, size_t n)
{
	struct diags *d = diags_new(0);
	struct loop_fn *f = loops_read(a, sources_add(s, "fuzz.loops", text, n), d);
	BUG_ON(!f != (diags_errors(d) > 0));
	diags_free(d);
	return f;
}

static struct loop_fn *read_bytes(struct arena *a, const void *bytes, size_t n)
{
	const char *error = NULL;
	struct loop_fn *f = loops_deserialize(a, bytes, n, &error);
	BUG_ON(!f != (error != NULL));
	return f;
}

static void check_text(struct arena *a, struct sources *s, const struct loop_fn *f)
{
	struct buf first = {0}, second = {0};
	loops_print(f, &first);
	const struct loop_fn *again = read_text(a, s, first.at, first.len);
	BUG_ON(!again);
	loops_print(again, &second);
	BUG_ON(!same(&first, &second));
	buf_free(&first);
	buf_free(&second);
}

static void check_bytes(struct arena *a, const struct loop_fn *f)
{
	struct buf first = {0}, second = {0};
	loops_serialize(f, &first);
	const struct loop_fn *again = read_bytes(a, first.at, first.len);
	BUG_ON(!again);
	loops_serialize(again, &second);
	BUG_ON(!same(&first, &second));
	buf_free(&first);
	buf_free(&second);
}

static void check(struct arena *a, struct sources *s, const struct loop_fn *f)
{
	check_text(a, s, f);
	check_bytes(a, f);
}

static void check_changed(struct arena *a, struct sources *s, const struct loop_fn *f, const uint8_t *changes, size_t n)
{
	struct buf bytes = {0};
	loops_serialize(f, &bytes);
	for (; n >= 3; changes += 3, n -= 3)
		bytes.at[(changes[0] | (size_t)changes[1] << 8) % bytes.len] = (char)changes[2];
	f = read_bytes(a, bytes.at, bytes.len);
	if (f)
		check(a, s, f);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 16)
		return 0;
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	bool text = size > 5 && !memcmp(data, "unit ", 5);
	size_t n = text ? strnlen((const char *)data, size) : size;
	const struct loop_fn *f = text ? read_text(a, s, (const char *)data, n) : read_bytes(a, data, size);
	if (f)
		check(a, s, f);
	if (f && n < size)
		check_changed(a, s, f, data + n + 1, size - n - 1);
	sources_free(s);
	arena_free(a);
	return 0;
}

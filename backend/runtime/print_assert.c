/* print and assert in generated code. Text goes to standard error, because it is for people who debug a model; standard output belongs
 * to the host program. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "base/format.h"
#include "backend/runtime/context.h"
#include "backend/runtime/abi/tri.h"

_Static_assert((int)FORMAT_BOOL == (int)TRI_BOOL && (int)FORMAT_FLOAT64 == (int)TRI_FLOAT64 && (int)FORMAT_UINT8 == (int)TRI_UINT8,
	       "element types have the same numbers");

enum { MAX_VALUES = 64 };

static void effect_describe(const uint8_t *kinds, void *const *bufs, const int64_t *dims, uint32_t n, struct format_value *values)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t rank = kinds[k] & 15u;
		values[k] = (struct format_value){(enum format_elem)(kinds[k] >> 4), rank, dims, bufs[k]};
		dims += rank;
	}
}

/* A buffer that is written to standard error when it is full, or whose end is cut off (`fixed`). */
struct output {
	char at[1024];
	size_t n;
	bool fixed;
};

static void effect_flush(struct output *t)
{
	for (size_t done = 0; done < t->n;) {
		ssize_t n = write(STDERR_FILENO, t->at + done, t->n - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	t->n = 0;
}

static void effect_put(void *ctx, const char *s, size_t n)
{
	struct output *t = ctx;
	while (n) {
		size_t room = sizeof t->at - t->n, part = n < room ? n : room;
		memcpy(t->at + t->n, s, part);
		t->n += part;
		s += part;
		n -= part;
		if (t->n < sizeof t->at)
			continue;
		if (t->fixed)
			return;
		effect_flush(t);
	}
}

void tri_print(struct tri_context *ctx, const char *text, const uint8_t *kinds, void *const *bufs, const int64_t *dims, uint32_t n)
{
	struct format_value values[MAX_VALUES];
	struct output out = {.n = 0};
	struct format_out to = {effect_put, &out};
	if (ctx->failed || n > MAX_VALUES)
		return;
	effect_describe(kinds, bufs, dims, n, values);
	format_template(text, values, &to);
	effect_flush(&out);
}

void tri_assert(struct tri_context *ctx, const char *text, const char *where, const uint8_t *kinds, void *const *bufs, const int64_t *dims,
		uint32_t n)
{
	struct format_value values[MAX_VALUES];
	struct output out = {.n = 0, .fixed = true};
	struct format_out to = {effect_put, &out};
	if (*(const uint8_t *)bufs[0] || ctx->failed || n > MAX_VALUES)
		return;
	effect_describe(kinds, bufs, dims, n, values);
	effect_put(&out, where, strlen(where));
	effect_put(&out, ": ", 2);
	if (*text)
		format_template(text, values + 1, &to);
	else
		effect_put(&out, "the assertion fails", 19);
	size_t keep = out.n < sizeof ctx->fail_text - 1 ? out.n : sizeof ctx->fail_text - 1;
	while (keep < out.n && keep && ((unsigned char)out.at[keep] & 0xc0) == 0x80) /* do not cut a UTF-8 character */
		keep--;
	memcpy(ctx->fail_text, out.at, keep);
	ctx->fail_text[keep] = 0;
	tri_fail(ctx, TRI_ERR_ASSERT, 0, 0);
}

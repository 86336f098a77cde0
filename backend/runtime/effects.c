/* Formats the values of print and assert. */
#include "backend/runtime/effects.h"
#include <string.h>
#include <unistd.h>
#include "base/format.h"
#include "backend/runtime/abi/tri.h"

_Static_assert((int)FORMAT_BOOL == (int)TRI_BOOL && (int)FORMAT_FLOAT64 == (int)TRI_FLOAT64 && (int)FORMAT_UINT8 == (int)TRI_UINT8,
	       "element types have the same numbers");

enum { MAX_VALUES = 64 };

static void effect_describe(const struct tri_effect_values *v, struct format_value *values)
{
	const int64_t *dims = v->dims;
	for (uint32_t k = 0; k < v->n; k++) {
		uint32_t rank = v->kinds[k] & 15u;
		values[k] = (struct format_value){(enum format_elem)(v->kinds[k] >> 4), rank, dims, v->at[k]};
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

void tri_effect_print(const char *text, const struct tri_effect_values *v)
{
	struct format_value values[MAX_VALUES];
	struct output out = {.n = 0};
	struct format_out to = {effect_put, &out};
	if (v->n > MAX_VALUES)
		return;
	effect_describe(v, values);
	format_template(text, values, &to);
	effect_flush(&out);
}

bool tri_effect_holds(const char *text, const char *where, const struct tri_effect_values *v, char *said, size_t room)
{
	struct format_value values[MAX_VALUES];
	struct output out = {.n = 0, .fixed = true};
	struct format_out to = {effect_put, &out};
	if (*(const uint8_t *)v->at[0] || v->n > MAX_VALUES)
		return true;
	effect_describe(v, values);
	effect_put(&out, where, strlen(where));
	effect_put(&out, ": ", 2);
	if (*text)
		format_template(text, values + 1, &to);
	else
		effect_put(&out, "the assertion fails", 19);
	size_t keep = out.n < room - 1 ? out.n : room - 1;
	while (keep < out.n && keep && ((unsigned char)out.at[keep] & 0xc0) == 0x80) /* do not cut a UTF-8 character */
		keep--;
	memcpy(said, out.at, keep);
	said[keep] = 0;
	return false;
}

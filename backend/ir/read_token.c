/* The tokens of the IR's text, dimensions and types. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

enum { MAX_NESTING = 32, MAX_WORD = 256 };

void read_fail(struct reader *r, const char *what)
{
	if (r->failed)
		return;
	uint32_t start = (uint32_t)(r->at - r->source->text), end = r->at < r->end ? start + 1 : start;
	diag_add(r->diags, DIAG_IR_TEXT, (span){r->source->id, start, end}, "%s", what);
	r->failed = true;
	r->at = r->end;
}

void read_skip(struct reader *r)
{
	while (r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == ';')) {
		if (*r->at == ';')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		else
			r->at++;
	}
}

bool read_eat(struct reader *r, const char *text)
{
	read_skip(r);
	size_t n = strlen(text);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n))
		return false;
	r->at += n;
	return true;
}

void read_expect(struct reader *r, const char *text)
{
	if (!read_eat(r, text))
		read_fail(r, arena_printf(r->unit, "`%s` expected", text));
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

const char *read_word(struct reader *r)
{
	read_skip(r);
	const char *start = r->at;
	while (r->at < r->end && is_word(*r->at))
		r->at++;
	if (r->at - start > MAX_WORD)
		read_fail(r, "a name of at most 256 letters expected");
	return arena_strndup(r->unit, start, (size_t)(r->at - start));
}

bool read_eat_word(struct reader *r, const char *text)
{
	read_skip(r);
	size_t n = strlen(text);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) || (r->at + n < r->end && is_word(r->at[n])))
		return false;
	r->at += n;
	return true;
}

void read_expect_word(struct reader *r, const char *text)
{
	if (!read_eat_word(r, text))
		read_fail(r, arena_printf(r->unit, "`%s` expected", text));
}

int64_t read_number(struct reader *r)
{
	read_skip(r);
	bool negative = read_eat(r, "-");
	uint64_t v = 0, limit = (uint64_t)INT64_MAX + negative;
	if (r->at >= r->end || !isdigit((unsigned char)*r->at))
		read_fail(r, "a number expected");
	for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
		uint64_t digit = (uint64_t)(*r->at - '0');
		if (v > (limit - digit) / 10) {
			read_fail(r, "a number of 64 bits expected");
			return 0;
		}
		v = 10 * v + digit;
	}
	return (int64_t)(negative ? 0 - v : v);
}

uint32_t read_small_number(struct reader *r, uint32_t limit)
{
	int64_t v = read_number(r);
	if (v < 0 || v > limit)
		read_fail(r, "a smaller number expected");
	return r->failed ? 0 : (uint32_t)v;
}

double read_real(struct reader *r)
{
	char text[64];
	size_t n = 0;
	read_skip(r);
	while (r->at < r->end && n < sizeof text - 1 && (is_word(*r->at) || strchr("+-.", *r->at))) {
		if (!*r->at)
			break;
		text[n++] = *r->at++;
	}
	text[n] = 0;
	char *stop = text;
	double v = strtod(text, &stop);
	if (!n || *stop)
		read_fail(r, "a number expected");
	return v;
}

/* ---- dimensions and types ---- */

static dim factor(struct reader *r)
{
	struct dims *d = r->f->dims;
	read_skip(r);
	if (read_eat(r, "(")) {
		dim x = read_dim(r);
		read_expect(r, ")");
		return x;
	}
	if (r->at < r->end && isdigit((unsigned char)*r->at))
		return dim_const(d, read_number(r));
	const char *name = read_word(r);
	for (uint32_t k = 0; k < dims_syms(d); k++)
		if (!strcmp(dims_sym_name(d, k), name))
			return dim_sym(d, k);
	read_fail(r, "a number or a symbol of the function expected");
	return dim_const(d, 0);
}

static dim product(struct reader *r)
{
	struct dims *d = r->f->dims;
	bool negative = read_eat(r, "-");
	dim x = factor(r);
	int64_t v;
	while (!r->failed) {
		if (read_eat(r, "*")) {
			x = dim_mul(d, x, factor(r));
			continue;
		}
		bool divides = read_eat(r, "//");
		if (!divides && !read_eat(r, "%"))
			break;
		dim y = factor(r);
		if (r->failed || (dim_is_const(d, y, &v) && v == 0)) {
			read_fail(r, "a divisor other than 0 expected");
			break;
		}
		x = divides ? dim_floordiv(d, x, y) : dim_mod(d, x, y);
	}
	return negative ? dim_sub(d, dim_const(d, 0), x) : x;
}

dim read_dim(struct reader *r)
{
	struct dims *d = r->f->dims;
	if (++r->nesting > MAX_NESTING)
		read_fail(r, "dimensions nested less deeply expected");
	dim x = r->failed ? dim_const(d, 0) : product(r);
	while (!r->failed) {
		if (read_eat(r, "+"))
			x = dim_add(d, x, product(r));
		else if (read_eat(r, "-"))
			x = dim_sub(d, x, product(r));
		else
			break;
	}
	r->nesting--;
	if (dims_overflowed(d))
		read_fail(r, "smaller dimensions expected");
	return x;
}

uint32_t read_dims(struct reader *r, dim *out, uint32_t limit)
{
	uint32_t n = 0;
	read_expect(r, "[");
	if (read_eat(r, "]"))
		return 0;
	do {
		if (n == limit)
			read_fail(r, "fewer dimensions expected");
		if (r->failed)
			return 0;
		out[n++] = read_dim(r);
	} while (read_eat(r, ","));
	read_expect(r, "]");
	return n;
}

struct hir_type read_type(struct reader *r)
{
	struct hir_type t = {.elem = dtype_find(read_word(r))};
	if (t.elem == DT_COUNT)
		read_fail(r, "an element type expected");
	if (!r->failed)
		t.rank = (uint8_t)read_dims(r, t.dims, HIR_MAX_RANK);
	if (r->failed)
		t.elem = DT_INT8;
	return t;
}

uint32_t read_ints(struct reader *r, int64_t *out)
{
	uint32_t n = 0;
	read_expect(r, "[");
	if (read_eat(r, "]"))
		return 0;
	do {
		if (n == HIR_MAX_RANK)
			read_fail(r, "at most 8 numbers expected");
		if (r->failed)
			return 0;
		out[n++] = read_number(r);
	} while (read_eat(r, ","));
	read_expect(r, "]");
	return n;
}

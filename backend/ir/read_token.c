/* The tokens of the IR's text, dimensions and types. */
#include "backend/ir/read_token.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

enum { MAX_NESTING = 32, MAX_WORD = 256, MAX_SYMS = 256 };

struct ir_reader ir_reader_of(struct arena *unit, const struct source *text, struct diags *diags)
{
	return (struct ir_reader){.unit = unit, .source = text, .at = text->text, .end = text->text + text->len, .diags = diags};
}

void ir_read_fail(struct ir_reader *r, const char *what)
{
	if (r->failed)
		return;
	uint32_t start = (uint32_t)(r->at - r->source->text), end = r->at < r->end ? start + 1 : start;
	diag_add(r->diags, DIAG_IR_TEXT, (span){r->source->id, start, end}, "%s", what);
	r->failed = true;
	r->at = r->end;
}

void ir_read_space(struct ir_reader *r)
{
	while (r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == ';')) {
		if (*r->at == ';')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		else
			r->at++;
	}
}

static bool read_token_is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool ir_read_eat(struct ir_reader *r, const char *text)
{
	ir_read_space(r);
	size_t n = strlen(text);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) ||
	    (n && read_token_is_word(text[n - 1]) && r->at + n < r->end && read_token_is_word(r->at[n])))
		return false;
	r->at += n;
	return true;
}

void ir_read_expect(struct ir_reader *r, const char *text)
{
	if (!ir_read_eat(r, text))
		ir_read_fail(r, arena_printf(r->unit, "`%s` expected", text));
}

bool ir_is_word(const char *text)
{
	const char *c = text;
	while (read_token_is_word(*c))
		c++;
	return c > text && !*c;
}

const char *ir_read_word(struct ir_reader *r)
{
	ir_read_space(r);
	const char *start = r->at;
	while (r->at < r->end && read_token_is_word(*r->at))
		r->at++;
	if (r->at - start > MAX_WORD)
		ir_read_fail(r, "a name of at most 256 letters expected");
	return arena_strndup(r->unit, start, (size_t)(r->at - start));
}

int64_t ir_read_int(struct ir_reader *r)
{
	ir_read_space(r);
	bool negative = ir_read_eat(r, "-");
	uint64_t v = 0, limit = (uint64_t)INT64_MAX + negative;
	if (r->at >= r->end || !isdigit((unsigned char)*r->at))
		ir_read_fail(r, "a number expected");
	for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
		uint64_t digit = (uint64_t)(*r->at - '0');
		if (v > (limit - digit) / 10) {
			ir_read_fail(r, "a number of 64 bits expected");
			return 0;
		}
		v = 10 * v + digit;
	}
	return (int64_t)(negative ? 0 - v : v);
}

uint32_t ir_read_u32(struct ir_reader *r, uint32_t limit)
{
	int64_t v = ir_read_int(r);
	if (v < 0 || v > limit)
		ir_read_fail(r, "a smaller number expected");
	return r->failed ? 0 : (uint32_t)v;
}

double ir_read_real(struct ir_reader *r)
{
	char text[64];
	size_t n = 0;
	ir_read_space(r);
	while (r->at < r->end && n < sizeof text - 1 && (read_token_is_word(*r->at) || strchr("+-.", *r->at))) {
		if (!*r->at)
			break;
		text[n++] = *r->at++;
	}
	text[n] = 0;
	char *stop = text;
	double v = strtod(text, &stop);
	if (!n || *stop)
		ir_read_fail(r, "a number expected");
	return v;
}

/* ---- dimensions and types ---- */

static void read_token_read_symbol(struct ir_reader *r, const char *name)
{
	struct dims *d = r->dims;
	bool taken = !*name || isdigit((unsigned char)*name);
	for (uint32_t k = 0; k < dims_syms(d); k++)
		taken = taken || !strcmp(dims_sym_name(d, k), name);
	if (taken || dims_syms(d) == MAX_SYMS)
		ir_read_fail(r, "a new name expected");
	if (!r->failed)
		dim_new_sym(d, name);
}

void ir_read_symbols(struct ir_reader *r)
{
	ir_read_expect(r, "(");
	if (ir_read_eat(r, ")"))
		return;
	do {
		ir_read_space(r);
		const char *start = r->at, *name = ir_read_word(r);
		ir_read_space(r);
		if (!*name || isdigit((unsigned char)*name) || (r->at < r->end && strchr("*/%+-", *r->at))) {
			r->at = start;
			ir_read_dim(r);
		} else {
			read_token_read_symbol(r, name);
		}
	} while (ir_read_eat(r, ","));
	ir_read_expect(r, ")");
}

static dim factor(struct ir_reader *r)
{
	struct dims *d = r->dims;
	ir_read_space(r);
	if (ir_read_eat(r, "(")) {
		dim x = ir_read_dim(r);
		ir_read_expect(r, ")");
		return x;
	}
	if (r->at < r->end && isdigit((unsigned char)*r->at))
		return dim_const(d, ir_read_int(r));
	const char *name = ir_read_word(r);
	for (uint32_t k = 0; k < dims_syms(d); k++)
		if (!strcmp(dims_sym_name(d, k), name))
			return dim_sym(d, k);
	ir_read_fail(r, "a number or a symbol of the function expected");
	return dim_const(d, 0);
}

static dim read_token_product(struct ir_reader *r)
{
	struct dims *d = r->dims;
	bool negative = ir_read_eat(r, "-");
	dim x = factor(r);
	int64_t v;
	while (!r->failed) {
		if (ir_read_eat(r, "*")) {
			x = dim_mul(d, x, factor(r));
			continue;
		}
		bool divides = ir_read_eat(r, "//");
		if (!divides && !ir_read_eat(r, "%"))
			break;
		dim y = factor(r);
		if (r->failed || (dim_is_const(d, y, &v) && v == 0)) {
			ir_read_fail(r, "a divisor other than 0 expected");
			break;
		}
		x = divides ? dim_floordiv(d, x, y) : dim_mod(d, x, y);
	}
	return negative ? dim_sub(d, dim_const(d, 0), x) : x;
}

dim ir_read_dim(struct ir_reader *r)
{
	struct dims *d = r->dims;
	if (++r->nesting > MAX_NESTING)
		ir_read_fail(r, "dimensions nested less deeply expected");
	dim x = r->failed ? dim_const(d, 0) : read_token_product(r);
	while (!r->failed) {
		if (ir_read_eat(r, "+"))
			x = dim_add(d, x, read_token_product(r));
		else if (ir_read_eat(r, "-"))
			x = dim_sub(d, x, read_token_product(r));
		else
			break;
	}
	r->nesting--;
	if (dims_overflowed(d))
		ir_read_fail(r, "smaller dimensions expected");
	return x;
}

static uint32_t read_token_read_list(struct ir_reader *r, dim *dims, int64_t *ints, uint32_t limit)
{
	uint32_t n = 0;
	ir_read_expect(r, "[");
	if (ir_read_eat(r, "]"))
		return 0;
	do {
		if (n == limit)
			ir_read_fail(r, "fewer numbers expected");
		if (r->failed)
			return 0;
		if (dims)
			dims[n++] = ir_read_dim(r);
		else
			ints[n++] = ir_read_int(r);
	} while (ir_read_eat(r, ","));
	ir_read_expect(r, "]");
	return n;
}

uint32_t ir_read_dims(struct ir_reader *r, dim *out, uint32_t limit) { return read_token_read_list(r, out, NULL, limit); }
uint32_t ir_read_ints(struct ir_reader *r, int64_t *out) { return read_token_read_list(r, NULL, out, HIR_MAX_RANK); }

dtype ir_read_elem(struct ir_reader *r)
{
	dtype t = dtype_find(ir_read_word(r));
	if (t == DT_COUNT)
		ir_read_fail(r, "an element type expected");
	return r->failed ? DT_INT8 : t;
}

struct hir_type ir_read_type(struct ir_reader *r)
{
	struct hir_type t = {.elem = ir_read_elem(r)};
	if (!r->failed)
		t.rank = (uint8_t)ir_read_dims(r, t.dims, HIR_MAX_RANK);
	return t;
}

enum layout ir_read_layout(struct ir_reader *r)
{
	const char *text = ir_read_word(r);
	for (enum layout l = 0; l < LAYOUT_COUNT; l++)
		if (!strcmp(ir_layout_text(l), text))
			return l;
	ir_read_fail(r, "a layout expected");
	return LAYOUT_PLAIN;
}

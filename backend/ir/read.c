/* Reads the text that print.c writes. Grammar, white space free within a line, `;` starts a comment:
 *
 *   fn      := "fn" name "(" [sym {"," sym}] ")" {line} "out" {value}
 *   line    := ("in" | "weight") number type | value "=" op {value} [attributes] ":" type
 *   type    := dtype "[" [dim {"," dim}] "]"          dim := product {("+" | "-") product}
 *   product := ["-"] factor {("*" | "//" | "%") factor}    factor := number | sym | "(" dim ")"
 *
 * The text comes from outside: sizes are bounded by its length, nesting by a constant, and what was read must pass the verifier. The callee of a
 * call is made up from its symbol and identity. */
#include <ctype.h>
#include <string.h>
#include "backend/ir/read_state.h"
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

enum { MAX_SYMS = 256 };

/* ---- attributes ---- */

static void *grown(struct reader *r, void *old, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 8;
	void *p = arena_alloc(r->unit, size * *cap, 8);
	if (n)
		memcpy(p, old, size * n);
	return p;
}

/* Values in the text's order; their element type stands at the end of the line, so they are kept as text position and read again. */
static const char *skip_data(struct reader *r)
{
	const char *start = r->at;
	while (r->at < r->end && *r->at != '}' && *r->at != '\n')
		r->at++;
	read_expect(r, "}");
	return start;
}

static int64_t whole_value(struct reader *r, dtype t)
{
	int64_t v = read_number(r), back;
	uint8_t bytes[8] = {0};
	elem_put_int(t, bytes, 0, v);
	back = elem_int(t, bytes, 0);
	if (back != v || (t == DT_TRIT && (v < -1 || v > 1)))
		read_fail(r, "a value of the constant's element type expected");
	return v;
}

static void read_data(struct reader *r, struct ir_inst *i, const char *start)
{
	const char *after = r->at;
	if (r->failed)
		return;
	r->at = start;
	int64_t n = 1, v;
	for (uint32_t k = 0; k < i->type.rank; k++)
		if (!dim_is_const(r->f->dims, i->type.dims[k], &v) || v < 0 || __builtin_mul_overflow(n, v, &n))
			n = INT64_MAX;
	if (n > r->end - r->at) {
		read_fail(r, "as many values as the type has elements expected");
		return;
	}
	void *data = arena_alloc(r->unit, (size_t)n * dtype_size(i->type.elem) + 1, 16);
	for (int64_t k = 0; k < n && !r->failed; k++) {
		if (k)
			read_expect(r, ",");
		if (r->failed)
			return;
		if (dtype_class(i->type.elem) == DTC_FLOAT)
			elem_put_float(i->type.elem, data, k, read_real(r));
		else
			elem_put_int(i->type.elem, data, k, whole_value(r, i->type.elem));
	}
	read_expect(r, "}");
	if (!r->failed)
		r->at = after;
	i->data = data;
}

/* A callee of which nothing is known but its name, its symbols and how many inputs it has. */
static struct hir_unit *read_unit(struct reader *r, uint32_t n_inputs)
{
	struct hir_unit *u = ARENA_NEW(r->unit, struct hir_unit);
	read_expect(r, "@");
	u->symbol = u->name = read_word(r);
	const char *hex = read_word(r);
	if (!r->failed && !hash_parse_hex(hex, &u->identity))
		read_fail(r, "32 hex digits expected");
	u->dims = dims_new(r->unit);
	u->n_inputs = n_inputs;
	u->inputs = ARENA_ARRAY(r->unit, struct hir_input, n_inputs + 1);
	u->never_inline = true;
	return u;
}

static void add_syms(struct reader *r, struct hir_unit *u, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		dim_new_sym(u->dims, arena_printf(r->unit, "s%u", k));
}

/* How many operands a side of a branch takes; no more than there are. */
static void read_taken(struct reader *r, struct hir_unit *u, uint32_t n_operands)
{
	read_expect_word(r, "takes");
	u->n_inputs = read_small_number(r, n_operands);
}

static void read_callee(struct reader *r, struct ir_inst *i, uint32_t n_operands)
{
	dim syms[MAX_SYMS];
	struct hir_unit *u = read_unit(r, n_operands);
	uint32_t n = r->failed ? 0 : read_dims(r, syms, MAX_SYMS);
	add_syms(r, u, n);
	dim *copy = ARENA_ARRAY(r->unit, dim, n + 1);
	if (n)
		memcpy(copy, syms, n * sizeof *copy);
	i->callee = u;
	i->callee_syms = copy;
	if (i->op != OP_IF)
		return;
	read_taken(r, u, n_operands);
	read_expect_word(r, "else");
	struct hir_unit *other = read_unit(r, n_operands);
	read_taken(r, other, n_operands);
	add_syms(r, other, n);
	i->other = other;
}

static void read_mask(struct reader *r, struct ir_inst *i)
{
	int64_t dims[HIR_MAX_RANK];
	read_expect_word(r, "dims");
	uint32_t n = read_ints(r, dims);
	for (uint32_t k = 0; k < n; k++) {
		if (dims[k] < 0 || dims[k] >= HIR_MAX_RANK)
			read_fail(r, "dimensions 0 to 7 expected");
		else
			i->mask |= 1u << dims[k];
	}
}

/* A string in quotes. */
static const char *read_text(struct reader *r)
{
	struct buf b = {0};
	read_expect(r, "\"");
	while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
		bool escape = *r->at == '\\' && r->at + 1 < r->end;
		r->at += escape;
		buf_putc(&b, escape && *r->at == 'n' ? '\n' : *r->at);
		r->at++;
	}
	const char *text = arena_strndup(r->unit, b.at ? b.at : "", b.len);
	buf_free(&b);
	read_expect(r, "\"");
	return text;
}

static void read_random(struct reader *r, struct ir_inst *i)
{
	i->index = read_small_number(r, UINT32_MAX);
	read_expect_word(r, "seed");
	i->ints[0] = read_number(r);
	read_expect_word(r, "stream");
	i->ints[1] = read_number(r);
	i->f[0] = read_real(r);
	i->f[1] = read_real(r);
}

static void read_attributes(struct reader *r, struct ir_inst *i, uint32_t n_operands, const char **data)
{
	switch (i->op) {
	case OP_CONST:
		read_expect(r, "{");
		*data = skip_data(r);
		return;
	case OP_DIM:
		read_expect(r, "(");
		i->extent = read_dim(r);
		read_expect(r, ")");
		return;
	case OP_CALL:
	case OP_IF:
	case OP_LOOP: read_callee(r, i, n_operands); return;
	case OP_TRANSPOSE:
		read_expect_word(r, "perm");
		read_ints(r, i->ints);
		return;
	case OP_SLICE:
		read_expect_word(r, "start");
		read_dims(r, i->starts, HIR_MAX_RANK);
		read_expect_word(r, "step");
		read_ints(r, i->ints);
		return;
	case OP_PAD:
		read_expect_word(r, "before");
		read_dims(r, i->starts, HIR_MAX_RANK);
		return;
	case OP_WINDOW:
		read_mask(r, i);
		read_expect_word(r, "step");
		read_ints(r, i->ints);
		return;
	case OP_RANDOM: read_random(r, i); return;
	case OP_PRINT: i->text = read_text(r); return;
	case OP_ASSERT:
		i->text = read_text(r);
		i->where = read_text(r);
		return;
	case OP_INPUT:
	case OP_WEIGHT:
	case OP_RESULT:
	case OP_CONCAT:
	case OP_GATHER_DIM:
	case OP_SORT:
	case OP_SCAN_SUM:
	case OP_SCAN_PROD:
	case OP_SCATTER:
	case OP_SCATTER_ADD:
	case OP_PUT:
	case OP_IOTA: i->index = read_small_number(r, UINT32_MAX); return;
	default:
		if (ir_op_traits(i->op) & REDUCES)
			read_mask(r, i);
	}
}

/* ---- lines ---- */

static enum ir_op find_op(const char *text)
{
	for (int op = 0; op < OP_COUNT; op++)
		if (!strcmp(ir_op_text((enum ir_op)op), text))
			return (enum ir_op)op;
	return OP_COUNT;
}

static ir_ref read_value(struct reader *r)
{
	ir_ref v = read_small_number(r, UINT32_MAX - 1);
	if (!r->failed && v >= r->f->n_insts)
		read_fail(r, "a value that stands before expected");
	return v;
}

static void read_inst(struct reader *r)
{
	uint32_t cap = 0, n = 0;
	ir_ref *operands = NULL;
	if (read_number(r) != r->f->n_insts)
		read_fail(r, "values are numbered in order");
	read_expect(r, "=");
	struct ir_inst i = {.op = find_op(read_word(r)), .at = SPAN_NONE};
	if (i.op == OP_COUNT)
		read_fail(r, "an operation expected");
	while (!r->failed && read_eat(r, "%")) {
		operands = grown(r, operands, n, &cap, sizeof *operands);
		operands[n++] = read_value(r);
	}
	if (!r->failed && ir_op_ins(i.op) >= 0 && (uint32_t)ir_op_ins(i.op) != n)
		read_fail(r, "another number of operands expected");
	const char *data = NULL;
	if (!r->failed)
		read_attributes(r, &i, n, &data);
	read_expect(r, ":");
	if (!r->failed)
		i.type = read_type(r);
	if (data)
		read_data(r, &i, data);
	if (r->failed)
		return;
	ir_copy(r->f, &i, operands, n);
	if (i.op == OP_RESULT && ir_at(r->f, operands[0])->callee) {
		struct hir_unit *u = (struct hir_unit *)(uintptr_t)ir_at(r->f, operands[0])->callee; /* made by read_callee */
		if (i.index >= u->n_outputs && i.index < 1024)
			u->n_outputs = i.index + 1;
	}
}

static void read_declared(struct reader *r, struct hir_type **types, uint32_t *n, uint32_t *cap)
{
	if (read_number(r) != *n)
		read_fail(r, "inputs and weights are numbered in order");
	struct hir_type t = read_type(r);
	*types = grown(r, *types, *n, cap, sizeof **types);
	(*types)[(*n)++] = t;
}

static void read_head(struct reader *r)
{
	struct dims *d = dims_new(r->unit);
	read_expect_word(r, "fn");
	r->f = ir_fn_new(r->unit, read_word(r), d);
	read_expect(r, "(");
	if (read_eat(r, ")"))
		return;
	do {
		const char *name = read_word(r);
		bool taken = !*name || isdigit((unsigned char)*name);
		for (uint32_t k = 0; k < dims_syms(d); k++)
			taken = taken || !strcmp(dims_sym_name(d, k), name);
		if (taken || dims_syms(d) == MAX_SYMS)
			read_fail(r, "a new name expected");
		if (!r->failed)
			dim_new_sym(d, name);
	} while (read_eat(r, ","));
	read_expect(r, ")");
}

static void read_outputs(struct reader *r)
{
	uint32_t cap = 0;
	while (!r->failed && read_eat(r, "%")) {
		r->f->outputs = grown(r, r->f->outputs, r->f->n_outputs, &cap, sizeof *r->f->outputs);
		r->f->outputs[r->f->n_outputs++] = read_value(r);
	}
}

static void read_lines(struct reader *r)
{
	while (!r->failed && !read_eat_word(r, "out")) {
		if (read_eat(r, "%"))
			read_inst(r);
		else if (read_eat_word(r, "in"))
			read_declared(r, &r->f->inputs, &r->f->n_inputs, &r->cap_inputs);
		else if (read_eat_word(r, "weight"))
			read_declared(r, &r->f->weights, &r->f->n_weights, &r->cap_weights);
		else
			read_fail(r, "`in`, `weight`, `out` or a value expected");
	}
}

struct ir_fn *ir_read(struct arena *unit, const struct source *text, struct diags *diags)
{
	struct reader r = {.unit = unit, .source = text, .at = text->text, .end = text->text + text->len, .diags = diags};
	read_head(&r);
	if (!r.failed)
		read_lines(&r);
	if (!r.failed)
		read_outputs(&r);
	read_skip(&r);
	if (!r.failed && r.at < r.end)
		read_fail(&r, "the end of the text expected");
	struct buf why = {0};
	if (!r.failed && !ir_verify(r.f, &why)) {
		r.at = text->text;
		read_fail(&r, why.at);
	}
	buf_free(&why);
	if (r.failed)
		return NULL;
	ir_mark_build_time(r.f);
	return r.f;
}

/* Reads the text that print.c writes. White space is free, `;` starts a comment. Grammar:
 *
 *   fn      := "fn" name "(" [sym {"," sym}] ")" {line} "out" {value}
 *   line    := ("in" | "weight") number type | value "=" op {value} [attributes] ":" type
 *   type    := dtype "[" [dim {"," dim}] "]"          dim := product {("+" | "-") product}
 *   product := ["-"] factor {("*" | "//" | "%") factor}    factor := number | sym | "(" dim ")"
 *
 * attributes.def lists the attributes. The text is not trusted: its length bounds sizes, a constant bounds nesting, and the result must
 * pass the verifier. The unit of a call has a symbol and an identity but no body. */
#include <string.h>
#include "backend/ir/attributes.h"
#include "backend/ir/read_state.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

static enum ir_op find_op(const char *text)
{
	for (int op = 0; op < OP_COUNT; op++)
		if (!strcmp(ir_op_text((enum ir_op)op), text))
			return (enum ir_op)op;
	return OP_COUNT;
}

static ir_ref read_value(struct ir_reader *r)
{
	ir_ref v = ir_read_u32(r, UINT32_MAX - 1);
	if (!r->failed && v >= r->fn->f->n_insts)
		ir_read_fail(r, "an earlier value expected");
	return v;
}

static void read_inst(struct ir_reader *r)
{
	uint32_t cap = 0, n = 0;
	ir_ref *operands = NULL;
	if (ir_read_int(r) != r->fn->f->n_insts)
		ir_read_fail(r, "values are numbered in order");
	ir_read_expect(r, "=");
	struct ir_inst i = {.op = find_op(ir_read_word(r))};
	if (i.op == OP_COUNT)
		ir_read_fail(r, "an operation expected");
	while (!r->failed && ir_read_eat(r, "%")) {
		operands = arena_grow(r->unit, operands, n, &cap, n + 1, sizeof *operands);
		operands[n++] = read_value(r);
	}
	if (!r->failed && ir_op_operands(i.op) >= 0 && (uint32_t)ir_op_operands(i.op) != n)
		ir_read_fail(r, "another number of operands expected");
	r->fn->n_operands = n;
	r->fn->n_each = NO_EACH;
	if (!r->failed)
		ir_read_attributes(r, &i);
	ir_read_expect(r, ":");
	if (!r->failed)
		i.type = ir_read_type(r);
	if (!r->failed && ir_read_eat(r, "as"))
		i.layout = (uint8_t)ir_read_layout(r);
	if (r->fn->n_each != NO_EACH && r->fn->n_each != i.type.rank)
		ir_read_fail(r, "a result with as many dimensions as its attributes have values expected");
	ir_read_constant(r, &i);
	if (r->failed)
		return;
	ir_copy(r->fn->f, &i, operands, n);
	if (i.op == OP_RESULT && ir_calls(ir_at(r->fn->f, operands[0])->op)) {
		struct hir_unit *u = (struct hir_unit *)(uintptr_t)ir_call(ir_at(r->fn->f, operands[0]))->callee; /* read from this text */
		uint32_t number = ir_number(&i)->number;
		if (number >= u->n_outputs && number < 1024)
			u->n_outputs = number + 1;
	}
}

static void read_declared(struct ir_reader *r, struct hir_type **types, uint32_t *n, uint32_t *cap)
{
	if (ir_read_int(r) != *n)
		ir_read_fail(r, "inputs and weights are numbered in order");
	struct hir_type t = ir_read_type(r);
	*types = arena_grow(r->unit, *types, *n, cap, *n + 1, sizeof **types);
	(*types)[(*n)++] = t;
}

static void read_head(struct ir_reader *r)
{
	r->dims = dims_new(r->unit);
	ir_read_expect(r, "fn");
	r->fn->f = ir_fn_new(r->unit, ir_read_word(r), r->dims);
	ir_read_symbols(r);
}

static void read_outputs(struct ir_reader *r)
{
	uint32_t cap = 0;
	while (!r->failed && ir_read_eat(r, "%")) {
		r->fn->f->outputs = arena_grow(r->unit, r->fn->f->outputs, r->fn->f->n_outputs, &cap, r->fn->f->n_outputs + 1,
					       sizeof *r->fn->f->outputs);
		r->fn->f->outputs[r->fn->f->n_outputs++] = read_value(r);
	}
}

static void read_lines(struct ir_reader *r)
{
	while (!r->failed && !ir_read_eat(r, "out")) {
		if (ir_read_eat(r, "%"))
			read_inst(r);
		else if (ir_read_eat(r, "in"))
			read_declared(r, &r->fn->f->inputs, &r->fn->f->n_inputs, &r->fn->cap_inputs);
		else if (ir_read_eat(r, "weight"))
			read_declared(r, &r->fn->f->weights, &r->fn->f->n_weights, &r->fn->cap_weights);
		else
			ir_read_fail(r, "`in`, `weight`, `out` or a value expected");
	}
}

struct ir_fn *ir_read(struct arena *unit, const struct source *text, struct diags *diags)
{
	struct ir_fn_reader fn = {0};
	struct ir_reader r = ir_reader_of(unit, text, diags);
	r.fn = &fn;
	read_head(&r);
	if (!r.failed)
		read_lines(&r);
	if (!r.failed)
		read_outputs(&r);
	ir_read_space(&r);
	if (!r.failed && r.at < r.end)
		ir_read_fail(&r, "the end of the text expected");
	struct buf why = {0};
	if (!r.failed && !ir_verify(fn.f, &why)) {
		r.at = text->text;
		ir_read_fail(&r, why.at);
	}
	buf_free(&why);
	if (r.failed)
		return NULL;
	ir_mark_build_time(fn.f);
	return fn.f;
}

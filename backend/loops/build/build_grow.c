/* Appends in place. The interface of the unit says which output grows which input (passes/program/states.c). From such an output back to the input, each value
 * is a CONCAT along the dim that is stored first, or a result that its call grows: these values have the memory of their predecessor. If a pass has
 * changed the chain, the output is written completely; rows that it has already get the same values. */
#include <string.h>
#include "backend/loops/build/build.h"
#include "base/arena.h"

/* Returns the operand that v grows, or IR_NONE. */
static ir_ref grown_by(const struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	bool result = in->op == OP_RESULT;
	ir_ref call = result ? ir_operand(b->ir, v, 0) : v, from = IR_NONE;
	if (in->op == OP_CONCAT && in->layout == ir_layout_along(ir_axis(in)->axis, in->type.rank))
		from = ir_operand(b->ir, v, 0);
	if (ir_at(b->ir, call)->op == OP_CALL) {
		uint32_t number = result ? ir_number(in)->number : 0;
		uint32_t input = argument_grows(ir_program_layouts(b->program, ir_call(ir_at(b->ir, call))->callee), number);
		from = input == IR_NONE ? IR_NONE : ir_operand(b->ir, call, input);
	}
	return from != IR_NONE && ir_at(b->ir, from)->layout == in->layout ? from : IR_NONE;
}

/* True if the value of the output is a chain from input `number`. */
static bool is_chain(const struct builder *b, ir_ref v, uint32_t number)
{
	while (v != IR_NONE && ir_at(b->ir, v)->op != OP_INPUT)
		v = grown_by(b, v);
	return v != IR_NONE && ir_number(ir_at(b->ir, v))->number == number;
}

/* All RESULTs of one number share a buffer. */
static void build_grow_mark(struct builder *b, ir_ref v, ir_ref from)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	b->grown[v] = from;
	for (ir_ref r = v + 1; in->op == OP_RESULT && r < b->ir->n_insts; r++)
		if (ir_at(b->ir, r)->op == OP_RESULT && ir_operand(b->ir, r, 0) == ir_operand(b->ir, v, 0) &&
		    ir_number(ir_at(b->ir, r))->number == ir_number(in)->number)
			b->grown[r] = from;
}

void loops_find_growth(struct builder *b)
{
	b->grown = memset(ARENA_ARRAY(b->unit, ir_ref, b->ir->n_insts + 1), 0xff, b->ir->n_insts * sizeof *b->grown);
	b->output_grows = ARENA_ARRAY(b->unit, bool, b->ir->n_outputs + 1);
	for (uint32_t k = 0; k < b->ir->n_outputs; k++) {
		uint32_t input = argument_grows(b->own, k);
		b->output_grows[k] = input != IR_NONE && is_chain(b, b->ir->outputs[k], input);
		for (ir_ref v = b->ir->outputs[k]; b->output_grows[k] && ir_at(b->ir, v)->op != OP_INPUT; v = b->grown[v])
			build_grow_mark(b, v, grown_by(b, v));
	}
}

uint32_t loops_grown_result(const struct builder *b, ir_ref call, uint32_t number)
{
	if (number == 0 && b->grown[call] != IR_NONE)
		return b->buffer[b->grown[call]];
	for (ir_ref v = b->results[call]; v != IR_NONE; v = b->results[v])
		if (ir_number(ir_at(b->ir, v))->number == number && b->grown[v] != IR_NONE)
			return b->buffer[b->grown[v]];
	return LOOP_NONE;
}

/* Adds a nest that copies a buffer to another one of the same type. */
static void copy_buffer(struct builder *b, ir_ref v, uint32_t from, uint32_t to)
{
	const struct hir_type *t = &b->fn->buffers[to].type;
	struct loop_stmt *s = &b->fn->stmts[b->fn->n_stmts++];
	struct loop_nest n = {.n_parallel = t->rank, .n_exprs = 1, .n_stores = 1};
	n.exprs = memset(ARENA_NEW(b->unit, struct loop_expr), 0, sizeof *n.exprs);
	n.stores = memset(ARENA_NEW(b->unit, struct loop_store), 0, sizeof *n.stores);
	struct loop_access *a = &n.exprs->access;
	dim strides[HIR_MAX_RANK];
	coords_strides(b, t, b->fn->buffers[to].layout, strides);
	for (uint32_t k = 0; k < LOOP_MAX; k++) {
		n.extent[k] = k < t->rank ? t->dims[k] : b->zero;
		a->stride[k] = k < t->rank ? strides[k] : b->zero;
	}
	a->base = a->scale = n.exprs->extent = b->zero;
	a->index = n.exprs->args[0] = n.exprs->args[1] = n.exprs->args[2] = LOOP_NONE;
	a->buffer = from;
	n.exprs->kind = LOOP_LOAD;
	n.exprs->elem = t->elem;
	n.stores->access = *a;
	n.stores->access.buffer = to;
	*s = (struct loop_stmt){.kind = STMT_NEST, .values = ARENA_ARRAY(b->unit, uint32_t, 1), .n_values = 1, .u.nest = n};
	s->values[0] = v;
}

static uint32_t add_copy(struct builder *b, const struct loop_buffer *like)
{
	uint32_t temp = loops_add_temp(b, &like->type);
	b->fn->buffers[temp].layout = like->layout;
	return temp;
}

void loops_copy_grown(struct builder *b, ir_ref v, struct loop_call *call, uint32_t input, uint32_t output, uint32_t *copied)
{
	uint32_t from = call->buffers[input], to = call->buffers[call->n_inputs + output];
	uint32_t own = add_copy(b, &b->fn->buffers[from]), grown = add_copy(b, &b->fn->buffers[to]);
	copy_buffer(b, v, from, own);
	b->fn->buffers[grown].grows = own;
	call->buffers[input] = own;
	call->buffers[call->n_inputs + output] = grown;
	copied[output] = to;
}

void loops_copy_back(struct builder *b, ir_ref v, const struct loop_call *call, const uint32_t *copied)
{
	for (uint32_t k = 0; k < call->n_buffers - call->n_inputs; k++)
		if (copied[k] != LOOP_NONE)
			copy_buffer(b, v, call->buffers[call->n_inputs + k], copied[k]);
}

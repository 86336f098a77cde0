/* Builds loop IR from the run_fn of a plan: statements over buffers, in the order of the values that they store. */
#include "backend/loops/build/build.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

static uint32_t buffer_new(struct builder *b, enum buffer_kind kind, uint32_t index, const struct hir_type *type)
{
	struct loop_fn *f = b->fn;
	f->buffers[f->n_buffers] = (struct loop_buffer){
		.kind = kind, .index = index, .type = *type, .offset = b->zero, .alias = LOOP_NONE, .grows = LOOP_NONE};
	return f->n_buffers++;
}

static struct loop_stmt *nest_new(struct builder *b)
{
	struct loop_stmt *s = &b->fn->stmts[b->fn->n_stmts++];
	*s = (struct loop_stmt){.kind = STMT_NEST};
	return s;
}

/* Adds a statement that computes v. */
static struct loop_stmt *stmt_new(struct builder *b, enum loop_stmt_kind kind, ir_ref v)
{
	struct loop_stmt *s = &b->fn->stmts[b->fn->n_stmts++];
	*s = (struct loop_stmt){.kind = kind, .values = ARENA_ARRAY(b->unit, uint32_t, 1), .n_values = 1};
	s->values[0] = v;
	return s;
}

/* The inputs in order, then the outputs: buffer n_inputs + k is output k. */
static void add_interface_buffers(struct builder *b)
{
	const struct ir_fn *f = b->ir;
	for (uint32_t k = 0; k < f->n_inputs; k++) {
		uint32_t in = buffer_new(b, BUFFER_INPUT, k, &f->inputs[k]);
		b->fn->buffers[in].layout = argument_input(b->own, k);
	}
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		uint32_t out = buffer_new(b, BUFFER_OUTPUT, k, &ir_at(f, f->outputs[k])->type);
		b->fn->buffers[out].layout = (enum layout)ir_at(f, f->outputs[k])->layout;
		if (b->output_grows[k] && ir_at(f, f->outputs[k])->op == OP_INPUT)
			b->fn->buffers[out].grows = argument_grows(b->own, k);
	}
}

uint32_t loops_add_temp(struct builder *b, const struct hir_type *type) { return buffer_new(b, BUFFER_TEMP, 0, type); }

static uint32_t output_or_temp(struct builder *b, ir_ref v, const struct hir_type *type)
{
	uint32_t o = b->values[v].output;
	if (o != LOOP_NONE)
		return b->fn->n_inputs + o;
	uint32_t temp = buffer_new(b, BUFFER_TEMP, 0, type);
	b->fn->buffers[temp].layout = ir_at(b->ir, v)->layout;
	return temp;
}

static void weight_buffer(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	const struct slot *slot = &b->slots[ir_number(in)->number];
	if (slot->kind == SLOT_TABLE)
		return;
	b->buffer[v] = buffer_new(b, BUFFER_WEIGHT, ir_number(in)->number, &in->type);
	b->fn->buffers[b->buffer[v]].layout = in->layout;
}

static void const_buffer(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	if (!b->values[v].forced && loops_is_splat(b, in))
		return;
	b->buffer[v] = buffer_new(b, BUFFER_CONST, 0, &in->type);
	b->fn->buffers[b->buffer[v]].data = ir_data(in)->data;
	b->fn->buffers[b->buffer[v]].data_bytes = (size_t)ir_type_count(b->ir->dims, &in->type) * dtype_size(in->type.elem);
}

/* Returns a RESULT `index` of `call` that is used, or IR_NONE. */
static ir_ref build_result_of(const struct builder *b, ir_ref call, uint32_t index)
{
	for (ir_ref v = b->results[call]; v != IR_NONE; v = b->results[v])
		if (ir_number(ir_at(b->ir, v))->number == index && b->values[v].use != USE_NONE)
			return v;
	return IR_NONE;
}

static void chain_results(struct builder *b)
{
	b->results = ARENA_ARRAY(b->unit, ir_ref, b->ir->n_insts + 1);
	for (ir_ref v = 0; v < b->ir->n_insts; v++)
		b->results[v] = IR_NONE;
	for (ir_ref v = b->ir->n_insts; v-- > 0;) {
		if (ir_at(b->ir, v)->op != OP_RESULT)
			continue;
		ir_ref call = ir_operand(b->ir, v, 0);
		b->results[v] = b->results[call];
		b->results[call] = v;
	}
}

/* Returns a buffer for an output of the callee that is not used. */
static uint32_t unused_result(struct builder *b, ir_ref call, uint32_t output, const struct hir_type *type)
{
	uint32_t temp = buffer_new(b, BUFFER_TEMP, 0, type);
	b->fn->buffers[temp].layout = argument_output(ir_program_layouts(b->program, ir_call(ir_at(b->ir, call))->callee), output);
	return temp;
}

/* Returns the buffer of result `index` of a call, which is output `output` of the callee. All RESULTs of this index share it. */
static uint32_t result_buffer(struct builder *b, ir_ref call, uint32_t index, uint32_t output)
{
	const struct ir_inst *in = ir_at(b->ir, call);
	const struct hir_unit *u = ir_call(in)->callee;
	struct hir_type type = ir_type_translate(b->dims, u->dims, ir_call(in)->syms, hir_output_type(u, output));
	uint32_t buffer = LOOP_NONE;
	if (index == 0 && b->values[call].output != LOOP_NONE)
		buffer = b->fn->n_inputs + b->values[call].output;
	ir_ref first = build_result_of(b, call, index);
	if (buffer == LOOP_NONE)
		buffer = first == IR_NONE ? unused_result(b, call, output, &type) : output_or_temp(b, first, &type);
	if (index == 0)
		b->buffer[call] = buffer;
	for (ir_ref v = b->results[call]; v != IR_NONE; v = b->results[v])
		if (ir_number(ir_at(b->ir, v))->number == index)
			b->buffer[v] = buffer;
	return buffer;
}

/* Returns a call of u with its run-time operands, which start at *first, and its weight table; moves *first after them. The caller adds
 * the outputs. */
static struct loop_call build_call_of(struct builder *b, ir_ref v, const struct hir_unit *u, uint32_t *first)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	struct loop_call s = {.slot = LOOP_NONE, .callee = u->symbol, .n_dims = dims_syms(u->dims)};
	s.buffers = ARENA_ARRAY(b->unit, uint32_t, in->n_operands + u->n_outputs + 1);
	for (bool table = false; *first < in->n_operands && !table; ++*first) {
		ir_ref o = ir_operand(b->ir, v, *first);
		const struct ir_inst *oi = ir_at(b->ir, o);
		table = oi->op == OP_WEIGHT && b->slots[ir_number(oi)->number].kind == SLOT_TABLE;
		if (table)
			s.slot = ir_number(oi)->number;
		else
			s.buffers[s.n_buffers++] = b->buffer[ir_below_reshapes(b->ir, o)];
	}
	s.n_inputs = s.n_buffers;
	s.dims = ARENA_ARRAY(b->unit, dim, s.n_dims);
	for (uint32_t k = 0; k < s.n_dims; k++)
		s.dims[k] = ir_call(in)->syms[k];
	return s;
}

static void build_emit_call(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	uint32_t first = 0;
	struct loop_call call = build_call_of(b, v, ir_call(in)->callee, &first);
	struct argument_layouts l = ir_program_layouts(b->program, ir_call(in)->callee);
	uint32_t n = ir_call(in)->callee->n_outputs, *copied = ARENA_ARRAY(b->unit, uint32_t, n + 1);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t grows = loops_grown_result(b, v, k);
		call.buffers[call.n_buffers++] = result_buffer(b, v, k, k);
		copied[k] = LOOP_NONE;
		if (grows != LOOP_NONE)
			b->fn->buffers[call.buffers[call.n_buffers - 1]].grows = grows;
	}
	for (uint32_t k = 0; k < n; k++)
		if (argument_grows(l, k) != IR_NONE && loops_grown_result(b, v, k) == LOOP_NONE)
			loops_copy_grown(b, v, &call, argument_grows(l, k), k, copied);
	stmt_new(b, STMT_CALL, v)->u.call = call;
	loops_copy_back(b, v, &call, copied);
}

static void build_emit_branch(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	uint32_t first = 1;
	struct loop_branch s = {.condition = b->buffer[ir_below_reshapes(b->ir, ir_operand(b->ir, v, 0))]};
	s.calls[0] = build_call_of(b, v, ir_call(in)->callee, &first);
	s.calls[1] = build_call_of(b, v, ir_call(in)->other, &first);
	for (uint32_t k = 0; k < ir_call(in)->callee->n_outputs; k++) {
		uint32_t result = result_buffer(b, v, k, k);
		for (uint32_t i = 0; i < 2; i++)
			s.calls[i].buffers[s.calls[i].n_buffers++] = result;
	}
	stmt_new(b, STMT_BRANCH, v)->u.branch = s;
}

/* The body reads the carried values from the buffers of the results and writes their next values to temporaries, unless
 * it updates them. */
static void build_emit_loop(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	uint32_t first = 1;
	struct loop_iterate s = {.condition = b->buffer[ir_below_reshapes(b->ir, ir_operand(b->ir, v, 0))]};
	struct loop_call *body = &s.body;
	*body = build_call_of(b, v, ir_call(in)->callee, &first);
	s.n_carried = ir_call(in)->callee->n_outputs - 1;
	uint32_t *initial = ARENA_ARRAY(b->unit, uint32_t, s.n_carried + 1);
	struct hir_type flag = {.elem = DT_BOOL};
	uint32_t go = buffer_new(b, BUFFER_TEMP, 0, &flag);
	for (uint32_t k = 0; k < s.n_carried; k++) {
		initial[k] = body->buffers[k];
		body->buffers[k] = result_buffer(b, v, k, k + 1);
	}
	body->buffers[body->n_buffers++] = go;
	struct argument_layouts l = ir_program_layouts(b->program, ir_call(in)->callee);
	for (uint32_t k = 0; k < s.n_carried; k++)
		body->buffers[body->n_buffers++] = argument_updates(l, k + 1) == k
							   ? body->buffers[k]
							   : buffer_new(b, BUFFER_TEMP, 0, &b->fn->buffers[body->buffers[k]].type);
	s.initial = initial;
	stmt_new(b, STMT_LOOP, v)->u.loop = s;
}

static void build_emit_effect(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	struct loop_effect *s = &stmt_new(b, STMT_EFFECT, v)->u.effect;
	s->text = in->op == OP_PRINT ? ir_text(in)->text : ir_claim(in)->text;
	s->where = in->op == OP_PRINT ? NULL : ir_claim(in)->where;
	s->n_buffers = in->n_operands;
	s->buffers = ARENA_ARRAY(b->unit, uint32_t, in->n_operands + 1);
	s->kinds = ARENA_ARRAY(b->unit, uint8_t, in->n_operands + 1);
	s->dims = ARENA_ARRAY(b->unit, dim, HIR_MAX_RANK * in->n_operands + 1);
	for (uint32_t k = 0; k < in->n_operands; k++) {
		ir_ref o = ir_operand(b->ir, v, k);
		const struct hir_type *t = &ir_at(b->ir, o)->type;
		s->buffers[k] = b->buffer[ir_below_reshapes(b->ir, o)];
		s->kinds[k] = (uint8_t)(t->elem << 4 | t->rank);
		for (uint32_t i = 0; i < t->rank; i++)
			s->dims[s->n_dims++] = t->dims[i];
	}
}

static void emit_nest(struct builder *b, uint32_t group)
{
	struct loop_stmt *s = nest_new(b);
	loops_build_nest(b, group, s);
}

/* Buffers are what the kernel reads, workspace, and the result. */
static void build_emit_kernel(struct builder *b, ir_ref v, const struct kernel_match *m)
{
	const struct hir_type *type = &ir_at(b->ir, v)->type;
	struct loop_kernel *s = &stmt_new(b, STMT_KERNEL, v)->u.kernel;
	uint32_t n = kernel_buffer_count(m->kernel), read = 0;
	s->kernel = m->kernel;
	s->buffers = ARENA_ARRAY(b->unit, uint32_t, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct kernel_operand *o = kernel_operand(m->kernel, k);
		s->buffers[s->n_buffers++] = o->workspace ? loops_add_temp(b, type)
					     : o->written ? (b->buffer[v] = output_or_temp(b, v, type))
							  : b->buffer[m->operands[read++]];
	}
	s->dims = loops_kernel_dims(b, v, m);
}

static bool is_stored_by(const struct group *g, ir_ref v) { return g->root == v && (g->kind == GROUP_VALUE || g->kind == GROUP_PART); }

static void emit_stored(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	struct kernel_match m;
	if (kernel_for(b->target, b->ir, v, &m)) {
		build_emit_kernel(b, v, &m);
		return;
	}
	b->buffer[v] = output_or_temp(b, v, &in->type);
	uint32_t there = b->grown[v] != IR_NONE;
	if (there)
		b->fn->buffers[b->buffer[v]].grows = b->buffer[b->grown[v]];
	for (uint32_t g = b->values[v].first_group + there; g < b->n_groups && is_stored_by(&b->groups[g], v); g++)
		emit_nest(b, g);
}

static void build_emit(struct builder *b, ir_ref v)
{
	enum ir_op op = ir_at(b->ir, v)->op;
	if (b->values[v].use == USE_NONE)
		return;
	if (op == OP_INPUT)
		b->buffer[v] = ir_number(ir_at(b->ir, v))->number;
	else if (op == OP_WEIGHT)
		weight_buffer(b, v);
	else if (op == OP_CONST)
		const_buffer(b, v);
	else if (op == OP_CALL)
		build_emit_call(b, v);
	else if (op == OP_IF)
		build_emit_branch(b, v);
	else if (op == OP_LOOP)
		build_emit_loop(b, v);
	else if (ir_op_traits(op) & EFFECT)
		build_emit_effect(b, v);
	else if (b->values[v].stored)
		emit_stored(b, v);
	if (b->values[v].range_group != LOOP_NONE)
		emit_nest(b, b->values[v].range_group);
}

/* Allocates arrays of the largest possible size, so that they never move: an instruction, operand or output makes at most one element of
 * each. */
static void build_reserve(struct builder *b)
{
	uint32_t results = 0;
	for (uint32_t v = 0; v < b->ir->n_insts; v++)
		if (ir_calls(ir_at(b->ir, v)->op))
			results += 4 * ir_call(ir_at(b->ir, v))->callee->n_outputs;
		else
			results += ir_at(b->ir, v)->op == OP_SORT;
	b->fn->buffers =
		ARENA_ARRAY(b->unit, struct loop_buffer, b->ir->n_inputs + b->ir->n_outputs + b->ir->n_insts + results + b->n_groups + 1);
	b->fn->stmts = ARENA_ARRAY(b->unit, struct loop_stmt, b->ir->n_insts + results + b->n_groups);
}

uint32_t loop_pass_build(struct loop_fn *f, struct loop_pass_context *c)
{
	const struct ir_fn *ir = c->source->fn;
	struct builder b = {.unit = f->unit,
			    .ir = ir,
			    .slots = c->source->slots,
			    .target = c->options->target,
			    .program = c->options->program,
			    .own = c->source->arguments,
			    .dims = c->dims,
			    .zero = dim_const(c->dims, 0),
			    .one = dim_const(c->dims, 1),
			    .fn = f};
	f->n_inputs = ir->n_inputs;
	f->n_outputs = ir->n_outputs;
	f->n_slots = c->source->n_slots;
	b.buffer = ARENA_ARRAY(f->unit, uint32_t, ir->n_insts);
	memset(b.buffer, 0xff, ir->n_insts * sizeof *b.buffer);
	loops_add_checks(&b);
	loops_find_growth(&b);
	loops_fuse(&b);
	build_reserve(&b);
	add_interface_buffers(&b);
	chain_results(&b);
	for (ir_ref v = 0; v < ir->n_insts; v++)
		build_emit(&b, v);
	for (uint32_t g = 0; g < b.n_groups; g++)
		if (b.groups[g].kind == GROUP_COPY)
			emit_nest(&b, g);
	return f->n_stmts;
}

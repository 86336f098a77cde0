/* Fusion: decides which values get a buffer and which are computed in the nest of their user.
 *
 * Values are visited from the last to the first, so all users of a value come before it. A use is a nest and the coordinates at which it
 * needs the value. A value with one use is computed there, unless that repeats expensive work. A value with several uses is computed at
 * each if it is cheap, else stored. A reduction is computed in the nest of its user if the loops of that nest are exactly the dimensions
 * of the reduction's result. */
#include "backend/loops/build/build.h"
#include <string.h>
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/bug.h"

enum { CHEAP = 6, SIZE_LIMIT = 160 };

bool loops_is_external(const struct ir_fn *f, ir_ref v)
{
	enum ir_op op = ir_at(f, v)->op;
	return op == OP_INPUT || op == OP_WEIGHT || op == OP_CONST || ir_calls(op) || op == OP_RESULT || (ir_op_traits(op) & EFFECT);
}

static bool is_reduction(enum ir_op op) { return op == OP_MATMUL || (ir_op_traits(op) & REDUCES); }

static bool is_view(enum ir_op op) { return ir_op_traits(op) & VIEW; }

/* True if a nest for each operand writes a part of the result. */
static bool is_joined(enum ir_op op) { return op == OP_CONCAT || op == OP_PAD; }

/* True if operand k is read at computed indices, so that it needs a buffer. */
static bool is_table(const struct ir_inst *in, uint32_t k) { return k == 0 && ir_gathers(in->op); }

static uint32_t add_capped(uint32_t a, uint32_t b) { return a + b > 1u << 20 ? 1u << 20 : a + b; }

/* Sets upper bounds of cost and size, as if everything were fused. A tree that is too large gets a buffer. */
static void estimate_cost(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	struct fused *f = &b->values[v];
	f->cost = ir_op_work(in->op);
	f->size = 1;
	if (loops_is_external(b->ir, v) || is_joined(in->op) || is_reduction(in->op) || kernel_for(b->target, b->ir, v, NULL))
		return;
	for (uint32_t k = 0; k < in->n_operands; k++) {
		const struct fused *o = &b->values[ir_operand(b->ir, v, k)];
		f->cost = add_capped(f->cost, o->forced ? 1 : o->cost);
		f->size = add_capped(f->size, o->forced ? 1 : o->size);
	}
	if (f->size > SIZE_LIMIT)
		f->forced = true;
}

static void force_buffer(struct builder *b, ir_ref v)
{
	v = ir_below_reshapes(b->ir, v);
	if (!loops_is_external(b->ir, v) || ir_at(b->ir, v)->op == OP_CONST)
		b->values[v].forced = true;
	if (b->values[v].use == USE_NONE)
		b->values[v].use = USE_MANY;
}

static void use_value(struct builder *b, ir_ref v, uint32_t group, const struct coords *c)
{
	struct fused *f = &b->values[v];
	if (f->use == USE_ONE && group == f->group && coords_eq(c, f->coords))
		return;
	if (f->use != USE_NONE) {
		f->use = USE_MANY;
		return;
	}
	f->use = USE_ONE;
	f->group = group;
	f->coords = ARENA_NEW(b->unit, struct coords);
	*f->coords = *c;
}

static uint32_t group_new(struct builder *b, enum group_kind kind, ir_ref root, uint32_t part, const struct hir_type *space)
{
	b->groups = arena_grow(b->unit, b->groups, b->n_groups, &b->cap_groups, b->n_groups + 1, sizeof *b->groups);
	struct group *g = &b->groups[b->n_groups];
	*g = (struct group){.kind = kind, .root = root, .part = part, .n_parallel = space->rank};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		g->extent[k] = k < space->rank ? space->dims[k] : b->zero;
	return b->n_groups++;
}

static void reduce_space(struct builder *b, ir_ref v, struct group *g)
{
	dim extents[LOOP_MAX];
	g->n_reduce = (uint8_t)coords_reduce_extents(b, v, extents);
	for (uint32_t k = 0; k < g->n_reduce; k++)
		g->extent[g->n_parallel + k] = extents[k];
}

static bool same_reduce_space(const struct builder *b, ir_ref v, const struct group *g)
{
	dim extents[LOOP_MAX];
	uint32_t n = coords_reduce_extents(b, v, extents);
	if (n != g->n_reduce)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (!dim_eq(extents[k], g->extent[g->n_parallel + k]))
			return false;
	return true;
}

/* The nest that computes v uses the operands of v. */
static void use_operands(struct builder *b, ir_ref v, uint32_t group, const struct coords *c)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	if (is_reduction(in->op) && b->groups[group].n_reduce == 0)
		reduce_space(b, v, &b->groups[group]);
	for (uint32_t k = 0; k < in->n_operands; k++) {
		ir_ref o = ir_operand(b->ir, v, k);
		struct coords oc;
		if (is_table(in, k))
			force_buffer(b, o);
		else if (coords_operand(b, v, k, c, b->groups[group].n_parallel, &oc))
			use_value(b, o, group, &oc);
		else
			force_buffer(b, o);
	}
}

static void use_operands_anywhere(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	struct coords c, oc;
	coords_identity(b, in->type.rank, &c);
	for (uint32_t k = 0; k < in->n_operands; k++) {
		ir_ref o = ir_operand(b->ir, v, k);
		if (is_table(in, k) || !coords_operand(b, v, k, &c, 0, &oc))
			force_buffer(b, o);
		else
			b->values[o].use = USE_MANY;
	}
}

static bool is_absorbed(const struct builder *b, ir_ref v)
{
	const struct fused *f = &b->values[v];
	if (f->use != USE_ONE || f->coords->in_reduction)
		return false;
	const struct group *g = &b->groups[f->group];
	return coords_cover(b, g, &ir_at(b->ir, v)->type, f->coords) && (g->n_reduce == 0 || same_reduce_space(b, v, g));
}

/* True if another use, and its cost, give the value a buffer in any case. All users behind this one are known. */
static bool will_have_buffer(const struct builder *b, ir_ref v)
{
	const struct fused *f = &b->values[v];
	return f->forced || (f->use != USE_NONE && f->cost > CHEAP && !is_view(ir_at(b->ir, v)->op));
}

/* What repeating the value costs: operands that have buffers are loaded. */
static uint32_t cost_of_repeating(const struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	uint32_t cost = ir_op_work(in->op);
	for (uint32_t k = 0; k < in->n_operands; k++) {
		ir_ref o = ir_operand(b->ir, v, k);
		cost = add_capped(cost, will_have_buffer(b, o) ? 1 : b->values[o].cost);
	}
	return cost;
}

static bool needs_buffer(const struct builder *b, ir_ref v)
{
	const struct fused *f = &b->values[v];
	enum ir_op op = ir_at(b->ir, v)->op;
	if (f->forced || is_joined(op))
		return true;
	if (is_reduction(op))
		return !is_absorbed(b, v);
	if (is_view(op) || cost_of_repeating(b, v) <= CHEAP)
		return false;
	return f->use == USE_MANY || !coords_outer(b, &b->groups[f->group], f->coords);
}

/* Returns the group of a part, which an operand is used in. */
static uint32_t store_part(struct builder *b, ir_ref v, uint32_t part, uint32_t operand, const struct hir_type *t)
{
	ir_ref o = ir_operand(b->ir, v, operand);
	struct coords c;
	coords_identity(b, ir_at(b->ir, o)->type.rank, &c);
	uint32_t g = group_new(b, GROUP_PART, v, part, t);
	use_value(b, o, g, &c);
	return g;
}

static void store_concat(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	b->values[v].first_group = b->n_groups;
	for (uint32_t k = 0; k < in->n_operands; k++)
		store_part(b, v, k, k, &ir_at(b->ir, ir_operand(b->ir, v, k))->type);
}

/* True if a PAD has as much after each dimension as before it. */
static bool is_even(const struct builder *b, const struct ir_inst *pad, const struct hir_type *inside)
{
	for (uint32_t k = 0; k < inside->rank; k++) {
		dim after = dim_sub(b->dims, dim_sub(b->dims, pad->type.dims[k], inside->dims[k]), ir_pad(pad)->before[k]);
		if (!dim_eq(after, ir_pad(pad)->before[k]))
			return false;
	}
	return true;
}

/* Stores the padding value in the border, then operand 0 inside. A border that is even has a nest for each dimension, with a loop over both
 * ends, of the inner size in the dimensions before; a device would start a kernel for each. Otherwise the value is stored everywhere. */
static void store_pad(struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	const struct hir_type *inside = &ir_at(b->ir, ir_operand(b->ir, v, 0))->type;
	struct hir_type t = in->type;
	bool even = !b->target->group_size && is_even(b, in, inside);
	b->values[v].first_group = b->n_groups;
	if (!even)
		store_part(b, v, PART_WHOLE, 1, &t);
	for (uint32_t k = 0; even && k < t.rank; k++) {
		t.dims[k] = ir_pad(in)->before[k];
		if (!dim_eq(t.dims[k], b->zero)) {
			uint32_t at = store_part(b, v, PART_BORDER + k, 1, &t); /* may move the groups */
			struct group *g = &b->groups[at];
			g->extent[g->n_parallel++] = dim_const(b->dims, 2);
		}
		t.dims[k] = inside->dims[k];
	}
	store_part(b, v, 0, 0, inside);
}

static void store_value(struct builder *b, ir_ref v)
{
	const struct hir_type *t = &ir_at(b->ir, v)->type;
	struct coords c;
	coords_identity(b, t->rank, &c);
	uint32_t g = group_new(b, GROUP_VALUE, v, 0, t);
	b->values[v].first_group = g;
	use_operands(b, v, g, &c);
}

static void check_range(struct builder *b, ir_ref v)
{
	struct hir_type space;
	struct coords c;
	if (!loops_needs_range_nest(b, v, &space))
		return;
	b->values[v].range_group = group_new(b, GROUP_RANGE, v, 0, &space);
	coords_identity(b, ir_at(b->ir, ir_operand(b->ir, v, 1))->type.rank, &c);
	for (uint32_t k = 1; k < ir_at(b->ir, v)->n_operands; k++)
		use_value(b, ir_operand(b->ir, v, k), b->values[v].range_group, &c);
}

static void decide_storage(struct builder *b, ir_ref v)
{
	struct fused *f = &b->values[v];
	const struct ir_inst *in = ir_at(b->ir, v);
	struct kernel_match m;
	if (f->use == USE_NONE)
		return;
	if (loops_is_external(b->ir, v)) {
		for (uint32_t k = 0; k < in->n_operands; k++)
			force_buffer(b, ir_operand(b->ir, v, k));
		return;
	}
	if (kernel_for(b->target, b->ir, v, &m)) {
		f->stored = true;
		for (uint32_t k = 0; k < m.n_operands; k++)
			force_buffer(b, m.operands[k]);
		return;
	}
	f->stored = needs_buffer(b, v);
	if (f->stored && in->op == OP_CONCAT)
		store_concat(b, v);
	else if (f->stored && in->op == OP_PAD)
		store_pad(b, v);
	else if (f->stored)
		store_value(b, v);
	else if (f->use == USE_ONE)
		use_operands(b, v, f->group, f->coords);
	else
		use_operands_anywhere(b, v);
	check_range(b, v);
}

static bool try_output(struct builder *b, uint32_t o)
{
	ir_ref v = ir_below_reshapes(b->ir, b->ir->outputs[o]);
	enum ir_op op = ir_at(b->ir, v)->op;
	struct fused *f = &b->values[v];
	bool elsewhere = b->grown[v] != IR_NONE && !b->output_grows[o]; /* in the memory that it grows */
	if (op == OP_INPUT || op == OP_WEIGHT || op == OP_CONST || f->output != LOOP_NONE || elsewhere)
		return false;
	f->output = o;
	force_buffer(b, v);
	return true;
}

/* The value of an output is stored in the output's buffer, first those that grow inputs. If the value has another buffer already, it is copied. */
static void assign_outputs(struct builder *b)
{
	for (uint32_t o = 0; o < b->ir->n_outputs; o++)
		if (b->output_grows[o])
			try_output(b, o);
	for (uint32_t o = 0; o < b->ir->n_outputs; o++) {
		ir_ref v = ir_below_reshapes(b->ir, b->ir->outputs[o]);
		if (b->output_grows[o] || try_output(b, o))
			continue;
		const struct hir_type *t = &ir_at(b->ir, v)->type;
		struct coords c;
		coords_identity(b, t->rank, &c);
		use_value(b, v, group_new(b, GROUP_COPY, v, o, t), &c);
		force_buffer(b, v);
	}
}

void loops_fuse(struct builder *b)
{
	uint32_t n = b->ir->n_insts;
	b->values = ARENA_ARRAY(b->unit, struct fused, n);
	for (uint32_t v = 0; v < n; v++) {
		b->values[v].output = b->values[v].first_group = b->values[v].range_group = LOOP_NONE;
		b->values[v].use = ir_has_effect(ir_at(b->ir, v)) ? USE_MANY : USE_NONE;
		estimate_cost(b, v);
	}
	assign_outputs(b);
	for (uint32_t v = n; v-- > 0;)
		decide_storage(b, v);
}

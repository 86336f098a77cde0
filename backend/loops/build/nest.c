/* Builds one nest: the scalar body of a group, from its root to the loads. */
#include "backend/loops/build/nest.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"

bool loops_is_splat(const struct builder *b, const struct ir_inst *in)
{
	int64_t count = ir_type_count(b->dims, &in->type);
	size_t size = dtype_size(in->type.elem);
	const char *data = ir_data(in)->data;
	for (int64_t k = 1; k < count; k++)
		if (memcmp(data, data + (size_t)k * size, size) != 0)
			return false;
	return count > 0;
}

static uint32_t nest_load(struct nest_builder *n, ir_ref base, ir_ref v, const struct coords *c)
{
	const struct hir_type *t = &ir_at(n->b->ir, v)->type;
	struct loop_expr e = nest_expr(n->b, LOOP_LOAD, t->elem, c->in_reduction);
	nest_access_at(n->b, t, ir_at(n->b->ir, v)->layout, c, &e.access);
	e.access.buffer = n->b->buffer[base];
	return nest_put(n, e);
}

/* Adds x·w in the element type. A trit adds a float, subtracts it or skips it; it never multiplies, so 0 times infinity is 0. */
static uint32_t put_product(struct nest_builder *n, uint32_t x, uint32_t w, dtype elem)
{
	bool xt = n->exprs.at[x].elem == DT_TRIT, wt = n->exprs.at[w].elem == DT_TRIT;
	if (dtype_class(elem) != DTC_FLOAT || xt == wt)
		return nest_put_op(n, OP_MUL, elem, true, (uint32_t[]){nest_put_cast(n, x, elem), nest_put_cast(n, w, elem)}, 2);
	uint32_t trit = xt ? x : w, value = nest_put_cast(n, xt ? w : x, elem), none = nest_put_int(n, DT_TRIT, 0, true);
	uint32_t zero = nest_put(n, nest_expr(n->b, LOOP_CONST, elem, true));
	uint32_t less = nest_put_op(n, OP_NEG, elem, true, &value, 1);
	uint32_t negative = nest_put_op(n, OP_LT, DT_BOOL, true, (uint32_t[]){trit, none}, 2);
	uint32_t absent = nest_put_op(n, OP_EQ, DT_BOOL, true, (uint32_t[]){trit, none}, 2);
	uint32_t term = nest_put_op(n, OP_SELECT, elem, true, (uint32_t[]){negative, less, value}, 3);
	return nest_put_op(n, OP_SELECT, elem, true, (uint32_t[]){absent, zero, term}, 3);
}

static uint32_t eval_reduction(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	const struct ir_inst *in = ir_at(b->ir, v);
	struct coords oc;
	struct loop_reduction r = {.op = in->op, .elem = in->type.elem};
	if (r.elem == DT_FLOAT16 || r.elem == DT_BFLOAT16)
		r.elem = DT_FLOAT32;
	coords_operand(b, v, 0, c, n->group->n_parallel, &oc);
	r.value = nest_eval(n, ir_operand(b->ir, v, 0), &oc);
	if (in->op == OP_MATMUL) {
		r.op = OP_REDUCE_SUM;
		coords_operand(b, v, 1, c, n->group->n_parallel, &oc);
		r.value = put_product(n, r.value, nest_eval(n, ir_operand(b->ir, v, 1), &oc), r.elem);
	} else if (in->op != OP_ARGMAX && in->op != OP_ARGMIN) {
		r.value = nest_put_cast(n, r.value, r.elem);
	}
	vec_push(&n->reductions, r);
	struct loop_expr e = nest_expr(b, LOOP_ACC, r.elem, false);
	e.var = n->reductions.len - 1;
	return nest_put_cast(n, nest_put(n, e), in->type.elem);
}

/* Notes that the nest computes v. The value of a reduction is the main one. */
static void note_value(struct nest_builder *n, ir_ref v, bool reduction)
{
	uint32_t k = 0;
	while (k < n->values.len && n->values.at[k] != v)
		k++;
	if (k == n->values.len && k < MOST_VALUES)
		vec_push(&n->values, v);
	if (reduction && k < n->values.len) {
		n->values.at[k] = n->values.at[0];
		n->values.at[0] = v;
	}
}

static uint32_t eval_inline(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	const struct ir_inst *in = ir_at(b->ir, v);
	struct coords oc;
	uint32_t args[3];
	if (in->op != OP_BROADCAST && in->op != OP_RESHAPE) /* shared by unrelated values */
		note_value(n, v, in->op == OP_MATMUL || (ir_op_traits(in->op) & REDUCES));
	switch (in->op) {
	case OP_DIM: return nest_put_extent(n, ir_extent(in)->extent, c->in_reduction);
	case OP_IOTA: return nest_put_cast(n, nest_put_coord(n, &c->at[ir_axis(in)->axis], c->in_reduction), in->type.elem);
	case OP_CONVERT_LAYOUT:
	case OP_BROADCAST:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SLICE:
	case OP_WINDOW: BUG_ON(!coords_operand(b, v, 0, c, 0, &oc)); return nest_eval(n, ir_operand(b->ir, v, 0), &oc);
	case OP_GATHER:
	case OP_GATHER_DIM: return nest_gather(n, v, c);
	case OP_REDUCE_SUM:
	case OP_REDUCE_PROD:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_ARGMAX:
	case OP_ARGMIN:
	case OP_MATMUL: return eval_reduction(n, v, c);
	default:
		BUG_ON(!(ir_op_traits(in->op) & EWISE));
		for (uint32_t k = 0; k < in->n_operands; k++) {
			coords_operand(b, v, k, c, 0, &oc);
			args[k] = nest_eval(n, ir_operand(b->ir, v, k), &oc);
		}
		return nest_put_op(n, in->op, in->type.elem, c->in_reduction, args, in->n_operands);
	}
}

static uint32_t eval_new(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	ir_ref base = ir_below_reshapes(b->ir, v);
	const struct ir_inst *in = ir_at(b->ir, base);
	if (in->op == OP_CONST && loops_is_splat(b, in)) {
		struct loop_expr e = nest_expr(b, LOOP_CONST, in->type.elem, c->in_reduction);
		if (dtype_class(in->type.elem) == DTC_FLOAT)
			e.f = elem_float(in->type.elem, ir_data(in)->data, 0);
		else
			e.i = elem_int(in->type.elem, ir_data(in)->data, 0);
		return nest_put(n, e);
	}
	bool is_root = n->group->kind == GROUP_VALUE && base == n->group->root;
	if (loops_is_external(b->ir, base) || (b->values[base].stored && !is_root))
		return nest_load(n, base, v, c);
	return eval_inline(n, v, c);
}

uint32_t nest_eval(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	for (uint32_t k = 0; k < n->memo.len; k++)
		if (n->memo.at[k].value == v && coords_eq(n->memo.at[k].coords, c))
			return n->memo.at[k].expr;
	struct coords *key = ARENA_NEW(n->b->unit, struct coords);
	*key = *c;
	struct memo m = {.value = v, .coords = key, .expr = eval_new(n, v, c)};
	vec_push(&n->memo, m);
	return m.expr;
}

/* Returns the start of operand `part` along the axis. */
static dim concat_start(const struct builder *b, ir_ref concat, uint32_t part)
{
	const struct ir_inst *in = ir_at(b->ir, concat);
	dim at = b->zero;
	for (uint32_t k = 0; k < part; k++)
		at = dim_add(b->dims, at, ir_at(b->ir, ir_operand(b->ir, concat, k))->type.dims[ir_axis(in)->axis]);
	return at;
}

/* Sets where a part of a PAD begins. A border has a loop over both ends after those over the dimensions. */
static void place_in_pad(const struct builder *b, const struct group *g, struct coords *c)
{
	const struct ir_inst *pad = ir_at(b->ir, g->root);
	uint32_t border = g->part < PART_BORDER ? 0 : g->part - PART_BORDER, rank = pad->type.rank;
	for (uint32_t k = 0; k < rank && g->part != PART_WHOLE; k++) {
		dim before = ir_pad(pad)->before[k];
		if (g->part == 0 || k < border)
			c->at[k].base = before;
		else if (k == border)
			c->at[k].coef[rank] = dim_add(b->dims, before, ir_at(b->ir, ir_operand(b->ir, g->root, 0))->type.dims[k]);
	}
}

static uint32_t group_store(struct nest_builder *n, struct loop_access *a)
{
	struct builder *b = n->b;
	const struct group *g = n->group;
	const struct ir_inst *root = ir_at(b->ir, g->root);
	struct coords c;
	coords_identity(b, root->type.rank, &c);
	if (g->kind == GROUP_PART && root->op == OP_CONCAT)
		c.at[ir_axis(root)->axis].base = concat_start(b, g->root, g->part);
	if (g->kind == GROUP_PART && root->op == OP_PAD)
		place_in_pad(b, g, &c);
	nest_access_at(b, &root->type, root->layout, &c, a);
	a->buffer = g->kind == GROUP_COPY ? b->ir->n_inputs + g->part : b->buffer[g->root];
	uint32_t part = root->op == OP_PAD && g->part ? 1 : g->part;
	ir_ref value = g->kind == GROUP_PART ? ir_operand(b->ir, g->root, part) : g->root;
	coords_identity(b, ir_at(b->ir, value)->type.rank, &c);
	return nest_eval(n, value, &c);
}

/* The nest exists for its checks; what it stores is not read. */
static uint32_t range_store(struct nest_builder *n, struct loop_access *a)
{
	struct coords c;
	struct hir_type space = {.elem = DT_INT8, .rank = n->group->n_parallel};
	memcpy(space.dims, n->group->extent, space.rank * sizeof space.dims[0]);
	coords_identity(n->b, space.rank, &c);
	nest_access_at(n->b, &space, LAYOUT_PLAIN, &c, a);
	a->buffer = loops_add_temp(n->b, &space);
	return nest_range(n, n->group->root);
}

#define COPY_VEC(arena, T, v) ((v).len ? memcpy(ARENA_ARRAY(arena, T, (v).len), (v).at, (v).len * sizeof(T)) : NULL)

void loops_build_nest(struct builder *b, uint32_t group, struct loop_stmt *s)
{
	struct nest_builder n = {.b = b, .group = &b->groups[group]};
	struct loop_nest *out = &s->u.nest;
	struct loop_store *store = ARENA_NEW(b->unit, struct loop_store);
	store->value = n.group->kind == GROUP_RANGE ? range_store(&n, &store->access) : group_store(&n, &store->access);
	*out = (struct loop_nest){.n_parallel = n.group->n_parallel, .n_reduce = n.group->n_reduce};
	memcpy(out->extent, n.group->extent, sizeof out->extent);
	out->exprs = COPY_VEC(b->unit, struct loop_expr, n.exprs);
	out->n_exprs = n.exprs.len;
	out->reductions = COPY_VEC(b->unit, struct loop_reduction, n.reductions);
	out->n_reductions = n.reductions.len;
	out->stores = store;
	out->n_stores = 1;
	note_value(&n, n.group->root, false); /* a copy computes nothing else */
	s->values = COPY_VEC(b->unit, uint32_t, n.values);
	s->n_values = n.values.len;
	vec_free(&n.exprs);
	vec_free(&n.reductions);
	vec_free(&n.memo);
	vec_free(&n.values);
}

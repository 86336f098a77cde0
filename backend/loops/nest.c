/* Builds one nest: the scalar body of a group, from its root to the loads. */
#include "backend/loops/build.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"

struct memo {
	ir_ref value;
	const struct coords *coords;
	uint32_t expr;
};
struct nest_builder {
	struct builder *b;
	const struct group *group;
	VEC(struct loop_expr) exprs;
	VEC(struct loop_reduction) reductions;
	VEC(struct memo) memo;
	VEC(uint32_t) values; /* computed by the nest */
};

static uint32_t eval(struct nest_builder *n, ir_ref v, const struct coords *c);

static void access_clear(const struct builder *b, struct loop_access *a)
{
	memset(a, 0, sizeof *a);
	a->base = a->scale = a->bound = b->zero;
	a->index = LOOP_NONE;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		a->stride[k] = b->zero;
}

static void access_add(const struct builder *b, struct loop_access *a, const struct coord *c, dim scale)
{
	a->base = dim_add(b->dims, a->base, dim_mul(b->dims, c->base, scale));
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		if (!dim_eq(c->coef[k], b->zero))
			a->stride[k] = dim_add(b->dims, a->stride[k], dim_mul(b->dims, c->coef[k], scale));
}

static void access_at(const struct builder *b, const struct hir_type *t, enum layout layout, const struct coords *c, struct loop_access *a)
{
	dim strides[HIR_MAX_RANK];
	access_clear(b, a);
	coords_strides(b, t, layout, strides);
	for (uint32_t k = 0; k < t->rank; k++)
		access_add(b, a, &c->at[k], strides[k]);
}

/* Returns an expression whose dims are all 0. */
static struct loop_expr expr_new(const struct builder *b, enum loop_expr_kind kind, dtype elem, bool in_reduction)
{
	struct loop_expr e;
	memset(&e, 0, sizeof e);
	e.kind = kind;
	e.elem = elem;
	e.in_reduction = in_reduction;
	e.args[0] = e.args[1] = e.args[2] = LOOP_NONE;
	e.extent = b->zero;
	access_clear(b, &e.access);
	return e;
}

static bool expr_same(const struct loop_expr *x, const struct loop_expr *y)
{
	return x->kind == y->kind && x->op == y->op && x->elem == y->elem && x->in_reduction == y->in_reduction && x->var == y->var &&
	       x->i == y->i && memcmp(&x->f, &y->f, sizeof x->f) == 0 && dim_eq(x->extent, y->extent) &&
	       memcmp(x->args, y->args, sizeof x->args) == 0 && x->access.buffer == y->access.buffer &&
	       x->access.index == y->access.index && dim_eq(x->access.base, y->access.base) && dim_eq(x->access.scale, y->access.scale) &&
	       dim_eq(x->access.bound, y->access.bound) && memcmp(x->access.stride, y->access.stride, sizeof x->access.stride) == 0;
}

static uint32_t put(struct nest_builder *n, struct loop_expr e)
{
	for (uint32_t i = 0; i < n->exprs.len; i++)
		if (expr_same(&n->exprs.at[i], &e))
			return i;
	vec_push(&n->exprs, e);
	return n->exprs.len - 1;
}

static uint32_t put_int(struct nest_builder *n, dtype elem, int64_t i, bool in_reduction)
{
	struct loop_expr e = expr_new(n->b, LOOP_CONST, elem, in_reduction);
	e.i = i;
	return put(n, e);
}

static uint32_t put_op(struct nest_builder *n, enum ir_op op, dtype elem, bool in_reduction, const uint32_t *args, uint32_t n_args)
{
	struct loop_expr e = expr_new(n->b, LOOP_OP, elem, in_reduction);
	e.op = op;
	for (uint32_t k = 0; k < n_args; k++)
		e.args[k] = args[k];
	return put(n, e);
}

static uint32_t put_cast(struct nest_builder *n, uint32_t value, dtype elem)
{
	if (n->exprs.at[value].elem == elem)
		return value;
	return put_op(n, OP_CAST, elem, n->exprs.at[value].in_reduction, &value, 1);
}

static uint32_t put_extent(struct nest_builder *n, dim x, bool in_reduction)
{
	int64_t v;
	if (dim_is_const(n->b->dims, x, &v))
		return put_int(n, DT_INT64, v, in_reduction);
	struct loop_expr e = expr_new(n->b, LOOP_EXTENT, DT_INT64, in_reduction);
	e.extent = x;
	return put(n, e);
}

/* Adds the value of a coordinate as an int64. */
static uint32_t put_coord(struct nest_builder *n, const struct coord *c, bool in_reduction)
{
	const struct builder *b = n->b;
	uint32_t sum = LOOP_NONE;
	for (uint32_t k = 0; k < LOOP_MAX; k++) {
		if (dim_eq(c->coef[k], b->zero))
			continue;
		struct loop_expr e = expr_new(b, LOOP_INDEX, DT_INT64, in_reduction);
		e.var = k;
		uint32_t term = put(n, e);
		if (!dim_eq(c->coef[k], b->one))
			term = put_op(n, OP_MUL, DT_INT64, in_reduction, (uint32_t[]){term, put_extent(n, c->coef[k], in_reduction)}, 2);
		sum = sum == LOOP_NONE ? term : put_op(n, OP_ADD, DT_INT64, in_reduction, (uint32_t[]){sum, term}, 2);
	}
	if (sum == LOOP_NONE)
		return put_extent(n, c->base, in_reduction);
	if (dim_eq(c->base, b->zero))
		return sum;
	return put_op(n, OP_ADD, DT_INT64, in_reduction, (uint32_t[]){sum, put_extent(n, c->base, in_reduction)}, 2);
}

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

static uint32_t load(struct nest_builder *n, ir_ref base, ir_ref v, const struct coords *c)
{
	const struct hir_type *t = &ir_at(n->b->ir, v)->type;
	struct loop_expr e = expr_new(n->b, LOOP_LOAD, t->elem, c->in_reduction);
	access_at(n->b, t, ir_at(n->b->ir, v)->layout, c, &e.access);
	e.access.buffer = n->b->buffer[base];
	return put(n, e);
}

static void set_bound(const struct builder *b, dim bound, struct loop_access *a)
{
	a->bound = bound;
	if (!dim_is_const(b->dims, bound, &a->limit))
		a->limit = -1;
}

/* The table of GATHER has its rows in dimension 0, followed by the other dimensions of the result. That of GATHER_DIM has every
 * dimension of the result. */
static uint32_t eval_gather(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	const struct ir_inst *in = ir_at(b->ir, v);
	ir_ref table = ir_operand(b->ir, v, 0), indices = ir_operand(b->ir, v, 1);
	const struct hir_type *t = &ir_at(b->ir, table)->type;
	uint32_t axis = in->op == OP_GATHER ? 0 : ir_axis(in)->axis;
	uint32_t shift = in->op == OP_GATHER ? ir_at(b->ir, indices)->type.rank - 1 : 0;
	struct coords ic;
	dim strides[HIR_MAX_RANK];
	coords_operand(b, v, 1, c, 0, &ic);
	uint32_t index = put_cast(n, eval(n, indices, &ic), DT_INT64);
	struct loop_expr e = expr_new(b, LOOP_LOAD, t->elem, c->in_reduction);
	coords_strides(b, t, LAYOUT_PLAIN, strides);
	for (uint32_t k = 0; k < t->rank; k++)
		if (k != axis)
			access_add(b, &e.access, &c->at[k + shift], strides[k]);
	e.access.buffer = b->buffer[ir_below_reshapes(b->ir, table)];
	e.access.index = index;
	e.access.scale = strides[axis];
	set_bound(b, t->dims[axis], &e.access);
	return put(n, e);
}

/* Checks the index of gather v by a load whose value is not used. */
static uint32_t eval_range(struct nest_builder *n, ir_ref v)
{
	struct builder *b = n->b;
	const struct ir_inst *in = ir_at(b->ir, v);
	ir_ref indices = ir_operand(b->ir, v, 1);
	struct coords c;
	coords_identity(b, ir_at(b->ir, indices)->type.rank, &c);
	uint32_t index = put_cast(n, eval(n, indices, &c), DT_INT64);
	struct loop_expr e = expr_new(b, LOOP_LOAD, DT_INT8, false);
	e.access.buffer = loops_range_table(b);
	e.access.index = index;
	set_bound(b, ir_at(b->ir, ir_operand(b->ir, v, 0))->type.dims[in->op == OP_GATHER ? 0 : ir_axis(in)->axis], &e.access);
	return put(n, e);
}

/* Adds x·w in the element type. A trit adds a float, subtracts it or skips it; it never multiplies, so 0 times infinity is 0. */
static uint32_t put_product(struct nest_builder *n, uint32_t x, uint32_t w, dtype elem)
{
	bool xt = n->exprs.at[x].elem == DT_TRIT, wt = n->exprs.at[w].elem == DT_TRIT;
	if (dtype_class(elem) != DTC_FLOAT || xt == wt)
		return put_op(n, OP_MUL, elem, true, (uint32_t[]){put_cast(n, x, elem), put_cast(n, w, elem)}, 2);
	uint32_t trit = xt ? x : w, value = put_cast(n, xt ? w : x, elem), none = put_int(n, DT_TRIT, 0, true);
	uint32_t zero = put(n, expr_new(n->b, LOOP_CONST, elem, true));
	uint32_t less = put_op(n, OP_NEG, elem, true, &value, 1);
	uint32_t negative = put_op(n, OP_LT, DT_BOOL, true, (uint32_t[]){trit, none}, 2);
	uint32_t absent = put_op(n, OP_EQ, DT_BOOL, true, (uint32_t[]){trit, none}, 2);
	uint32_t term = put_op(n, OP_SELECT, elem, true, (uint32_t[]){negative, less, value}, 3);
	return put_op(n, OP_SELECT, elem, true, (uint32_t[]){absent, zero, term}, 3);
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
	r.value = eval(n, ir_operand(b->ir, v, 0), &oc);
	if (in->op == OP_MATMUL) {
		r.op = OP_REDUCE_SUM;
		coords_operand(b, v, 1, c, n->group->n_parallel, &oc);
		r.value = put_product(n, r.value, eval(n, ir_operand(b->ir, v, 1), &oc), r.elem);
	} else if (in->op != OP_ARGMAX && in->op != OP_ARGMIN) {
		r.value = put_cast(n, r.value, r.elem);
	}
	vec_push(&n->reductions, r);
	struct loop_expr e = expr_new(b, LOOP_ACC, r.elem, false);
	e.var = n->reductions.len - 1;
	return put_cast(n, put(n, e), in->type.elem);
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
	case OP_DIM: return put_extent(n, ir_extent(in)->extent, c->in_reduction);
	case OP_IOTA: return put_cast(n, put_coord(n, &c->at[ir_axis(in)->axis], c->in_reduction), in->type.elem);
	case OP_CONVERT_LAYOUT:
	case OP_BROADCAST:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SLICE:
	case OP_WINDOW: BUG_ON(!coords_operand(b, v, 0, c, 0, &oc)); return eval(n, ir_operand(b->ir, v, 0), &oc);
	case OP_GATHER:
	case OP_GATHER_DIM: return eval_gather(n, v, c);
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
			args[k] = eval(n, ir_operand(b->ir, v, k), &oc);
		}
		return put_op(n, in->op, in->type.elem, c->in_reduction, args, in->n_operands);
	}
}

static uint32_t eval_new(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	ir_ref base = ir_below_reshapes(b->ir, v);
	const struct ir_inst *in = ir_at(b->ir, base);
	if (in->op == OP_CONST && loops_is_splat(b, in)) {
		struct loop_expr e = expr_new(b, LOOP_CONST, in->type.elem, c->in_reduction);
		if (dtype_class(in->type.elem) == DTC_FLOAT)
			e.f = elem_float(in->type.elem, ir_data(in)->data, 0);
		else
			e.i = elem_int(in->type.elem, ir_data(in)->data, 0);
		return put(n, e);
	}
	bool is_root = n->group->kind == GROUP_VALUE && base == n->group->root;
	if (loops_is_external(b->ir, base) || (b->values[base].stored && !is_root))
		return load(n, base, v, c);
	return eval_inline(n, v, c);
}

static uint32_t eval(struct nest_builder *n, ir_ref v, const struct coords *c)
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
	access_at(b, &root->type, root->layout, &c, a);
	a->buffer = g->kind == GROUP_COPY ? b->ir->n_inputs + g->part : b->buffer[g->root];
	uint32_t part = root->op == OP_PAD && g->part ? 1 : g->part;
	ir_ref value = g->kind == GROUP_PART ? ir_operand(b->ir, g->root, part) : g->root;
	coords_identity(b, ir_at(b->ir, value)->type.rank, &c);
	return eval(n, value, &c);
}

/* The nest exists for its checks; what it stores is not read. */
static uint32_t range_store(struct nest_builder *n, struct loop_access *a)
{
	struct coords c;
	struct hir_type space = {.elem = DT_INT8, .rank = n->group->n_parallel};
	memcpy(space.dims, n->group->extent, space.rank * sizeof space.dims[0]);
	coords_identity(n->b, space.rank, &c);
	access_at(n->b, &space, LAYOUT_PLAIN, &c, a);
	a->buffer = loops_add_temp(n->b, &space);
	return eval_range(n, n->group->root);
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

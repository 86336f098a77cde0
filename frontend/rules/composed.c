/* Builtins that are taken apart into others: arithmetic, norms, movements. */
#include "frontend/rules/composed.h"
#include <math.h>

struct value composed_call(struct emitter *e, struct bcall *c, enum builtin bi, const struct value *v, size_t n)
{
	struct arg at[BUILTIN_MAX_PARAMS];
	for (size_t k = 0; k < n; k++)
		at[k] = (struct arg){.v = v[k], .at = c->at};
	struct args args = {(uint32_t)n, at};
	return call_builtin(e, bi, &args, c->at);
}

struct value composed_floats(struct emitter *e, struct bcall *c, uint32_t i)
{
	hir_ref x = need_float(e, c, i);
	return x == HIR_NONE ? VALUE_POISON : value_tensor(x);
}

static bool is_tensor(struct value v) { return v.kind == V_TENSOR; }
static uint32_t rank_of(struct emitter *e, struct value v) { return type_of(e, v.u.t)->rank; }

struct value rule_masked_fill(struct emitter *e, struct bcall *c) { return COMPOSE(BI_WHERE, c->v[1], c->v[2], c->v[0]); }

struct value rule_lerp(struct emitter *e, struct bcall *c)
{
	return COMPOSE(BI_ADD, c->v[0], COMPOSE(BI_MUL, c->v[2], COMPOSE(BI_SUB, c->v[1], c->v[0])));
}

/* beta · x + alpha · (a @ b) */
struct value rule_addmm(struct emitter *e, struct bcall *c)
{
	struct value y = COMPOSE(BI_MATMUL, c->v[1], c->v[2]), x = c->v[0];
	if (c->given[4])
		y = COMPOSE(BI_MUL, y, c->v[4]);
	if (c->given[3])
		x = COMPOSE(BI_MUL, x, c->v[3]);
	return COMPOSE(BI_ADD, x, y);
}

struct value rule_linear(struct emitter *e, struct bcall *c)
{
	struct value y = COMPOSE(BI_MATMUL, c->v[0], COMPOSE(BI_TRANSPOSE, c->v[1]));
	return c->v[2].kind == V_NONE ? y : COMPOSE(BI_ADD, y, c->v[2]);
}

/* ---- norms ---- */

struct value composed_norm(struct emitter *e, struct bcall *c, struct value x, struct value p, struct value axis, bool keep)
{
	double power = p.kind == V_INT ? (double)p.u.i : p.u.f;
	struct value size = value_bool(keep);
	if (p.kind != V_INT && p.kind != V_FLOAT)
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "the order of a norm must be a number known at compile time");
	if (power == 2)
		return COMPOSE(BI_SQRT, COMPOSE(BI_SUM, COMPOSE(BI_MUL, x, x), axis, size));
	struct value a = COMPOSE(BI_ABS, x);
	if (power == 1)
		return COMPOSE(BI_SUM, a, axis, size);
	if (isinf(power))
		return COMPOSE(power > 0 ? BI_AMAX : BI_AMIN, a, axis, size);
	if (power == 0)
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "a norm of order 0 counts: write `sum(x != 0)`");
	struct value sum = COMPOSE(BI_SUM, COMPOSE(BI_POW, a, value_float(power)), axis, size);
	return COMPOSE(BI_POW, sum, value_float(1 / power));
}

struct value rule_normalize(struct emitter *e, struct bcall *c)
{
	struct value x = composed_floats(e, c, 0);
	if (!is_tensor(x))
		return x;
	return COMPOSE(BI_DIV, x, COMPOSE(BI_MAXIMUM, composed_norm(e, c, x, c->v[1], c->v[2], true), c->v[3]));
}

/* To the shape of another tensor. */
static struct value expanded(struct emitter *e, struct bcall *c, struct value x, struct value to)
{
	struct hir_type t = *type_of(e, to.u.t);
	struct value sizes = value_seq(e->f->arena, V_LIST, t.rank);
	for (uint32_t k = 0; k < t.rank; k++)
		sizes.u.seq->at[k] = value_dim(e->b->dims, t.dims[k]);
	return COMPOSE(BI_EXPAND, x, sizes);
}

struct value rule_cosine_similarity(struct emitter *e, struct bcall *c)
{
	struct value a = composed_floats(e, c, 0), b = composed_floats(e, c, 1), no = value_bool(false);
	if (!is_tensor(a) || !is_tensor(b))
		return VALUE_POISON;
	struct value both = COMPOSE(BI_MUL, a, b), ab = COMPOSE(BI_SUM, both, c->v[2], no);
	if (!is_tensor(both))
		return both;
	struct value one = composed_norm(e, c, expanded(e, c, a, both), value_int(2), c->v[2], false);
	struct value other = composed_norm(e, c, expanded(e, c, b, both), value_int(2), c->v[2], false);
	return COMPOSE(BI_DIV, ab, COMPOSE(BI_MUL, COMPOSE(BI_MAXIMUM, one, c->v[3]), COMPOSE(BI_MAXIMUM, other, c->v[3])));
}

/* Of each row of the one and each of the other. */
struct value rule_cdist(struct emitter *e, struct bcall *c)
{
	struct value a = composed_floats(e, c, 0), b = composed_floats(e, c, 1);
	if (!is_tensor(a) || !is_tensor(b))
		return VALUE_POISON;
	struct value away = COMPOSE(BI_SUB, COMPOSE(BI_UNSQUEEZE, a, value_int(-2)), COMPOSE(BI_UNSQUEEZE, b, value_int(-3)));
	return composed_norm(e, c, away, c->v[2], value_int(-1), false);
}

/* std_mean, var_mean */
struct value rule_moments(struct emitter *e, struct bcall *c)
{
	struct value v = value_seq(e->f->arena, V_TUPLE, 2);
	v.u.seq->at[0] = COMPOSE(c->bi == BI_STD_MEAN ? BI_STD : BI_VAR, c->v[0], c->v[1], c->v[2], c->v[3]);
	v.u.seq->at[1] = COMPOSE(BI_MEAN, c->v[0], c->v[1], c->v[3]);
	return value_contains(v, V_POISON) ? VALUE_POISON : v;
}

/* ---- movements ---- */

static struct value slice_of(struct emitter *e, struct bcall *c, struct value x, int64_t axis, struct value from, struct value to)
{
	return COMPOSE(BI_SLICE, x, value_int(axis), from, to);
}

struct value rule_flip(struct emitter *e, struct bcall *c)
{
	struct value x = c->v[0], dims = c->v[1];
	uint32_t n = value_is_seq(dims) ? dims.u.seq->n : 1;
	for (uint32_t k = 0; k < n; k++)
		x = COMPOSE(BI_SLICE, x, value_is_seq(dims) ? dims.u.seq->at[k] : dims, VALUE_NONE, VALUE_NONE, value_int(-1));
	return x;
}

static struct value roll_one(struct emitter *e, struct bcall *c, struct value x, struct value shift, struct value along)
{
	uint32_t axis;
	int64_t n;
	if (shift.kind != V_INT || along.kind != V_INT)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->at, "shifts and dimensions are integers known at compile time");
	if (!is_tensor(x) || !axis_of(e, c, along.u.i, rank_of(e, x), c->at, &axis))
		return VALUE_POISON;
	int64_t by = shift.u.i;
	if (dim_is_const(e->b->dims, type_of(e, x.u.t)->dims[axis], &n))
		by = n ? by % n : 0;
	if (!by)
		return x;
	struct value both = value_seq(e->f->arena, V_LIST, 2);
	both.u.seq->at[0] = slice_of(e, c, x, axis, value_int(-by), VALUE_NONE);
	both.u.seq->at[1] = slice_of(e, c, x, axis, VALUE_NONE, value_int(-by));
	return COMPOSE(BI_CONCAT, both, value_int(axis));
}

/* Without dims: of all elements in a row. */
struct value rule_roll(struct emitter *e, struct bcall *c)
{
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	struct value x = value_tensor(r), shifts = c->v[1], dims = c->v[2];
	struct hir_type t = *type_of(e, r);
	if (dims.kind == V_NONE) {
		x = roll_one(e, c, COMPOSE(BI_FLATTEN, x), shifts, value_int(0));
		return is_tensor(x) ? emit_reshape(e, x.u.t, &t, c->at) : x;
	}
	uint32_t n = value_is_seq(dims) ? dims.u.seq->n : 1;
	if ((value_is_seq(shifts) ? shifts.u.seq->n : 1) != n)
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "there is one shift for each dimension");
	for (uint32_t k = 0; k < n; k++)
		x = roll_one(e, c, x, value_is_seq(shifts) ? shifts.u.seq->at[k] : shifts, value_is_seq(dims) ? dims.u.seq->at[k] : dims);
	return x;
}

struct value rule_narrow(struct emitter *e, struct bcall *c)
{
	dim from, n;
	if (!size_value(e, c->v[2], &from) || !size_value(e, c->v[3], &n))
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->at,
				   "the start and the length are integers known at compile time, or sizes");
	return COMPOSE(BI_SLICE, c->v[0], c->v[1], c->v[2], value_dim(e->b->dims, dim_add(e->b->dims, from, n)));
}

struct value rule_unbind(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	int64_t n;
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE || !need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	if (!dim_is_const(e->b->dims, type_of(e, x)->dims[axis], &n) || n > 4096) {
		if (e->checking)
			return VALUE_POISON;
		return shape_error(e, c, DIAG_UNSUPPORTED, c->at, "the dimension's size is not known at compile time, or above 4096");
	}
	struct value all = value_seq(e->f->arena, V_TUPLE, (uint32_t)n);
	for (int64_t k = 0; k < n; k++)
		all.u.seq->at[k] = COMPOSE(BI_SELECT, value_tensor(x), value_int(axis), value_int(k));
	return all;
}

struct value rule_one_hot(struct emitter *e, struct bcall *c)
{
	int64_t classes;
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE || !need_int(e, c, 1, &classes))
		return VALUE_POISON;
	if (dtype_class(type_of(e, x)->elem) != DTC_INT || classes < 1)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->at, "needs integers and the number of classes, at least 1");
	struct value hot = COMPOSE(BI_EQ, COMPOSE(BI_UNSQUEEZE, value_tensor(x), value_int(-1)), COMPOSE(BI_ARANGE, c->v[1]));
	return is_tensor(hot) ? value_tensor(emit_cast(e, hot.u.t, DT_INT64, c->at)) : hot;
}

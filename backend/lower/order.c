/* Sorting, medians and quantiles, running sums and products, scattering. */
#include "backend/lower/state.h"

/* Returns the element type of SORT, SCAN and SCATTER for this type. It holds all its values and orders them equally. */
static dtype ordered_type(dtype t)
{
	if (t == DT_FLOAT64 || t == DT_INT32 || t == DT_INT64)
		return t == DT_FLOAT64 ? t : DT_INT64;
	return DT_FLOAT32;
}

struct sorted {
	ir_ref x, order; /* x with the axis last; int64 positions */
	uint32_t axis;
};

static void move_last(uint32_t axis, uint32_t rank, int64_t *perm)
{
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k < axis ? k : k + 1 < rank ? k + 1 : axis;
}

static void move_back(uint32_t axis, uint32_t rank, int64_t *perm)
{
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
}

static struct sorted sort_along(struct lower *l, ir_ref x, uint32_t axis, bool descending)
{
	struct sorted s = {.axis = axis};
	int64_t perm[HIR_MAX_RANK];
	move_last(axis, ir_type_of(l->f, x)->rank, perm);
	s.x = ir_build_permute(l->b, x, perm);
	struct hir_type t = *ir_type_of(l->f, s.x);
	ir_ref key = ir_build_cast(l->b, s.x, ordered_type(t.elem));
	t.elem = DT_INT64;
	s.order = ir_build(l->b, OP_SORT, &t, &key, 1);
	ir_set_order(l->f, s.order, (struct ir_order){descending});
	return s;
}

static uint32_t last_axis(struct lower *l, ir_ref x) { return ir_type_of(l->f, x)->rank - 1u; }

/* Takes `count` positions, from index `from` on. */
static ir_ref take_positions(struct lower *l, const struct sorted *s, dim from, dim count)
{
	uint32_t last = last_axis(l, s->order);
	return dim_eq(ir_type_of(l->f, s->order)->dims[last], count) ? s->order : ir_build_slice(l->b, s->order, last, from, 1, count);
}

static ir_ref values_at(struct lower *l, const struct sorted *s, ir_ref at)
{
	return ir_build_gather_dim(l->b, s->x, at, last_axis(l, s->x));
}

static ir_ref move_axis_back(struct lower *l, const struct sorted *s, ir_ref x)
{
	int64_t perm[HIR_MAX_RANK];
	move_back(s->axis, ir_type_of(l->f, x)->rank, perm);
	return ir_build_permute(l->b, x, perm);
}

static void store_values_and_positions(struct lower *l, const struct sorted *s, ir_ref at, ir_ref *r)
{
	r[0] = move_axis_back(l, s, values_at(l, s, at));
	r[1] = move_axis_back(l, s, at);
}

void lower_bi_sort(struct lower *l, ir_ref *r)
{
	struct sorted s = sort_along(l, lower_tensor(l, 0), (uint32_t)lower_int(l, 1), lower_int(l, 2) != 0);
	store_values_and_positions(l, &s, s.order, r);
}

void lower_bi_argsort(struct lower *l, ir_ref *r)
{
	struct sorted s = sort_along(l, lower_tensor(l, 0), (uint32_t)lower_int(l, 1), lower_int(l, 2) != 0);
	r[0] = move_axis_back(l, &s, s.order);
}

void lower_bi_topk(struct lower *l, ir_ref *r)
{
	struct sorted s = sort_along(l, lower_tensor(l, 0), (uint32_t)lower_int(l, 2), lower_int(l, 3) != 0);
	store_values_and_positions(l, &s, take_positions(l, &s, dim_const(l->f->dims, 0), dim_const(l->f->dims, lower_int(l, 1))), r);
}

/* Reshapes a result whose axis has one element to the node's type, which may lack the axis. */
static void store_one_element(struct lower *l, const struct sorted *s, ir_ref at, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	store_values_and_positions(l, s, at, r);
	r[0] = ir_build_reshape(l->b, r[0], t.dims, t.rank);
	r[1] = ir_build_reshape(l->b, r[1], t.dims, t.rank);
}

void lower_bi_kthvalue(struct lower *l, ir_ref *r)
{
	struct sorted s = sort_along(l, lower_tensor(l, 0), (uint32_t)lower_int(l, 2), false);
	store_one_element(l, &s, take_positions(l, &s, dim_const(l->f->dims, lower_int(l, 1) - 1), dim_const(l->f->dims, 1)), r);
}

/* The last position, which is that of a NaN if there is one. */
static ir_ref last_position(struct lower *l, const struct sorted *s)
{
	struct dims *d = l->f->dims;
	return take_positions(l, s, dim_sub(d, ir_type_of(l->f, s->order)->dims[last_axis(l, s->order)], dim_const(d, 1)), dim_const(d, 1));
}

void lower_bi_median(struct lower *l, ir_ref *r)
{
	struct dims *d = l->f->dims;
	ir_ref x = lower_tensor(l, 0), results[2];
	bool whole = !lower_has(l, 1);
	struct sorted s = sort_along(l, whole ? ir_build_flatten(l->b, x) : x, whole ? 0 : (uint32_t)lower_int(l, 1), false);
	dim n = ir_type_of(l->f, s.order)->dims[last_axis(l, s.order)], one = dim_const(d, 1);
	ir_ref at = take_positions(l, &s, dim_floordiv(d, dim_sub(d, n, one), dim_const(d, 2)), one);
	if (dtype_class(ir_type_of(l->f, x)->elem) == DTC_FLOAT) {
		ir_ref last = last_position(l, &s), value = values_at(l, &s, last);
		at = ir_build_select(l->b, ir_build_op2(l->b, OP_EQ, value, value), at, last);
	}
	store_one_element(l, &s, at, results);
	r[0] = results[0];
	if (!whole)
		r[1] = results[1];
}

/* ---- quantile ---- */

/* Interpolates between the values below and above, by the fraction between them. */
static ir_ref interpolate(struct lower *l, ir_ref low, ir_ref high, ir_ref part)
{
	if (lower_str_is(l, 4, "midpoint"))
		part = ir_build_const_float(l->b, ir_type_of(l->f, low)->elem, 0.5);
	ir_ref way = ir_build_op2(l->b, OP_SUB, high, low), half = ir_build_const_float(l->b, ir_type_of(l->f, low)->elem, 0.5);
	ir_ref up = ir_build_op2(l->b, OP_ADD, low, ir_build_op2(l->b, OP_MUL, part, way));
	ir_ref rest = ir_build_op2(l->b, OP_SUB, ir_build_const_float(l->b, ir_type_of(l->f, low)->elem, 1), part);
	ir_ref down = ir_build_op2(l->b, OP_SUB, high, ir_build_op2(l->b, OP_MUL, way, rest));
	return ir_build_select(l->b, ir_build_op2(l->b, OP_LT, part, half), up, down);
}

static enum ir_op rounding_op(struct lower *l)
{
	if (lower_str_is(l, 4, "higher"))
		return OP_CEIL;
	return lower_str_is(l, 4, "nearest") ? OP_ROUND : OP_FLOOR;
}

/* Takes the values at `at`, a vector of integral floats. */
static ir_ref order_values_of(struct lower *l, const struct sorted *s, ir_ref at)
{
	uint32_t last = last_axis(l, s->order);
	return values_at(l, s, ir_build_take(l->b, s->order, ir_build_cast(l->b, at, DT_INT64), last));
}

/* Moves Q of [.., Q] to the front, or removes it. */
void lower_bi_quantile(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), q = lower_tensor(l, 1);
	bool whole = !lower_has(l, 2), linear = lower_str_is(l, 4, "linear") || lower_str_is(l, 4, "midpoint");
	struct sorted s = sort_along(l, whole ? ir_build_flatten(l->b, x) : x, whole ? 0 : (uint32_t)lower_int(l, 2), false);
	uint32_t rank = ir_type_of(l->f, s.x)->rank, last = rank - 1;
	dtype elem = ir_type_of(l->f, x)->elem;
	dim one = dim_const(l->f->dims, 1);
	q = ir_build_cast(l->b, q, elem);
	if (!ir_type_of(l->f, q)->rank)
		q = ir_build_reshape(l->b, q, &one, 1);
	ir_ref end = ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, ir_type_of(l->f, s.x)->dims[last], elem), 1);
	ir_ref place = ir_build_op2(l->b, OP_MUL, q, end), low = ir_build_op1(l->b, rounding_op(l), place);
	ir_ref y = order_values_of(l, &s, low);
	if (linear) {
		ir_ref part = ir_build_along(l->b, ir_build_op2(l->b, OP_SUB, place, low), last, rank);
		y = interpolate(l, y, order_values_of(l, &s, ir_build_op1(l->b, OP_CEIL, place)), part);
	}
	ir_ref greatest = values_at(l, &s, last_position(l, &s));
	y = ir_build_select(l->b, ir_build_op2(l->b, OP_EQ, greatest, greatest), y, greatest);
	int64_t perm[HIR_MAX_RANK];
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k ? k - 1 : last;
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_reshape(l->b, ir_build_permute(l->b, y, perm), t.dims, t.rank);
}

/* ---- running totals, scattering ---- */

void lower_bi_cumulate(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	t.elem = dtype_class(t.elem) == DTC_FLOAT ? ordered_type(t.elem) : DT_INT64;
	ir_ref x = ir_build_cast(l->b, lower_tensor(l, 0), t.elem);
	r[0] = ir_build(l->b, l->how->op, &t, &x, 1);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 1)});
}

void lower_bi_scatter(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	t.elem = dtype_class(t.elem) == DTC_FLOAT ? ordered_type(t.elem) : DT_INT64;
	ir_ref operands[3] = {ir_build_cast(l->b, lower_tensor(l, 0), t.elem), ir_build_cast(l->b, lower_tensor(l, 2), DT_INT64),
			      ir_build_cast(l->b, lower_tensor(l, 3), t.elem)};
	operands[2] = ir_build_broadcast(l->b, operands[2], ir_type_of(l->f, operands[1]));
	r[0] = ir_build(l->b, l->how->op, &t, operands, 3);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 1)});
}

void lower_bi_select_scatter(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref operands[3] = {lower_tensor(l, 0), lower_tensor(l, 1), lower_tensor(l, 3)};
	r[0] = ir_build(l->b, OP_PUT, &t, operands, 3);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 2)});
}

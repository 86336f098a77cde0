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
	move_last(axis, lower_of(l, x)->rank, perm);
	s.x = lower_permute(l, x, perm);
	struct hir_type t = *lower_of(l, s.x);
	ir_ref key = lower_cast(l, s.x, ordered_type(t.elem));
	t.elem = DT_INT64;
	s.order = lower_emit(l, OP_SORT, &t, &key, 1);
	ir_set_order(l->f, s.order, (struct ir_order){descending});
	return s;
}

static uint32_t last_axis(struct lower *l, ir_ref x) { return lower_of(l, x)->rank - 1u; }

/* Takes `count` positions, from index `from` on. */
static ir_ref take_positions(struct lower *l, const struct sorted *s, dim from, dim count)
{
	uint32_t last = last_axis(l, s->order);
	return dim_eq(lower_of(l, s->order)->dims[last], count) ? s->order : lower_slice(l, s->order, last, from, 1, count);
}

static ir_ref values_at(struct lower *l, const struct sorted *s, ir_ref at) { return lower_gather_dim(l, s->x, at, last_axis(l, s->x)); }

static ir_ref move_axis_back(struct lower *l, const struct sorted *s, ir_ref x)
{
	int64_t perm[HIR_MAX_RANK];
	move_back(s->axis, lower_of(l, x)->rank, perm);
	return lower_permute(l, x, perm);
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
	r[0] = lower_reshape(l, r[0], t.dims, t.rank);
	r[1] = lower_reshape(l, r[1], t.dims, t.rank);
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
	return take_positions(l, s, dim_sub(d, lower_of(l, s->order)->dims[last_axis(l, s->order)], dim_const(d, 1)), dim_const(d, 1));
}

void lower_bi_median(struct lower *l, ir_ref *r)
{
	struct dims *d = l->f->dims;
	ir_ref x = lower_tensor(l, 0), results[2];
	bool whole = !lower_has(l, 1);
	struct sorted s = sort_along(l, whole ? lower_flatten(l, x) : x, whole ? 0 : (uint32_t)lower_int(l, 1), false);
	dim n = lower_of(l, s.order)->dims[last_axis(l, s.order)], one = dim_const(d, 1);
	ir_ref at = take_positions(l, &s, dim_floordiv(d, dim_sub(d, n, one), dim_const(d, 2)), one);
	if (dtype_class(lower_of(l, x)->elem) == DTC_FLOAT) {
		ir_ref last = last_position(l, &s), value = values_at(l, &s, last);
		at = lower_select(l, lower_op2(l, OP_EQ, value, value), at, last);
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
		part = lower_const_float(l, lower_of(l, low)->elem, 0.5);
	ir_ref way = lower_op2(l, OP_SUB, high, low), half = lower_const_float(l, lower_of(l, low)->elem, 0.5);
	ir_ref up = lower_op2(l, OP_ADD, low, lower_op2(l, OP_MUL, part, way));
	ir_ref rest = lower_op2(l, OP_SUB, lower_const_float(l, lower_of(l, low)->elem, 1), part);
	ir_ref down = lower_op2(l, OP_SUB, high, lower_op2(l, OP_MUL, way, rest));
	return lower_select(l, lower_op2(l, OP_LT, part, half), up, down);
}

static enum ir_op rounding_op(struct lower *l)
{
	if (lower_str_is(l, 4, "higher"))
		return OP_CEIL;
	return lower_str_is(l, 4, "nearest") ? OP_ROUND : OP_FLOOR;
}

/* Takes the values at `at`, a vector of integral floats. */
static ir_ref values_of(struct lower *l, const struct sorted *s, ir_ref at)
{
	uint32_t last = last_axis(l, s->order);
	return values_at(l, s, lower_take(l, s->order, lower_cast(l, at, DT_INT64), last));
}

/* Moves Q of [.., Q] to the front, or removes it. */
void lower_bi_quantile(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), q = lower_tensor(l, 1);
	bool whole = !lower_has(l, 2), linear = lower_str_is(l, 4, "linear") || lower_str_is(l, 4, "midpoint");
	struct sorted s = sort_along(l, whole ? lower_flatten(l, x) : x, whole ? 0 : (uint32_t)lower_int(l, 2), false);
	uint32_t rank = lower_of(l, s.x)->rank, last = rank - 1;
	dtype elem = lower_of(l, x)->elem;
	dim one = dim_const(l->f->dims, 1);
	q = lower_cast(l, q, elem);
	if (!lower_of(l, q)->rank)
		q = lower_reshape(l, q, &one, 1);
	ir_ref end = lower_op2c(l, OP_SUB, lower_extent(l, lower_of(l, s.x)->dims[last], elem), 1);
	ir_ref place = lower_op2(l, OP_MUL, q, end), low = lower_op1(l, rounding_op(l), place);
	ir_ref y = values_of(l, &s, low);
	if (linear) {
		ir_ref part = lower_along(l, lower_op2(l, OP_SUB, place, low), last, rank);
		y = interpolate(l, y, values_of(l, &s, lower_op1(l, OP_CEIL, place)), part);
	}
	ir_ref greatest = values_at(l, &s, last_position(l, &s));
	y = lower_select(l, lower_op2(l, OP_EQ, greatest, greatest), y, greatest);
	int64_t perm[HIR_MAX_RANK];
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k ? k - 1 : last;
	struct hir_type t = lower_node_type(l);
	r[0] = lower_reshape(l, lower_permute(l, y, perm), t.dims, t.rank);
}

/* ---- running totals, scattering ---- */

void lower_bi_cumulate(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	t.elem = dtype_class(t.elem) == DTC_FLOAT ? ordered_type(t.elem) : DT_INT64;
	ir_ref x = lower_cast(l, lower_tensor(l, 0), t.elem);
	r[0] = lower_emit(l, l->how->op, &t, &x, 1);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 1)});
}

void lower_bi_scatter(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	t.elem = dtype_class(t.elem) == DTC_FLOAT ? ordered_type(t.elem) : DT_INT64;
	ir_ref operands[3] = {lower_cast(l, lower_tensor(l, 0), t.elem), lower_cast(l, lower_tensor(l, 2), DT_INT64),
			      lower_cast(l, lower_tensor(l, 3), t.elem)};
	operands[2] = lower_broadcast(l, operands[2], lower_of(l, operands[1]));
	r[0] = lower_emit(l, l->how->op, &t, operands, 3);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 1)});
}

void lower_bi_select_scatter(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref operands[3] = {lower_tensor(l, 0), lower_tensor(l, 1), lower_tensor(l, 3)};
	r[0] = lower_emit(l, OP_PUT, &t, operands, 3);
	ir_set_axis(l->f, r[0], (struct ir_axis){(uint32_t)lower_int(l, 2)});
}

/* Rules of the builtins that return parts of a tensor: split, slice, select. */
#include "frontend/rules/builtin.h"

static struct value emit_slice(struct emitter *e, hir_ref x, uint32_t axis, dim from, dim to, span at)
{
	struct hir_type t = *type_of(e, x);
	t.dims[axis] = dim_sub(e->b->dims, to, from);
	return EMIT_AT(at, BI_SLICE, &t, arg_tensor(x), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(1));
}

static struct value emit_slices(struct emitter *e, hir_ref x, uint32_t axis, int64_t total, const int64_t *ends, uint32_t n, span at)
{
	struct value out = value_seq(e->f->arena, V_TUPLE, n);
	int64_t from = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t to = ends[i] < total ? ends[i] : total;
		out.u.seq->at[i] = emit_slice(e, x, axis, dim_const(e->b->dims, from), dim_const(e->b->dims, to), at);
		from = to;
	}
	return out;
}

static struct value split_evenly(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t axis, int64_t total, int64_t size)
{
	int64_t n = total ? (total - 1) / size + 1 : 1;
	if (n > 4096)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "the result would have more than 4096 parts");
	int64_t *ends = ARENA_ARRAY(e->f->arena, int64_t, n);
	for (int64_t i = 0; i < n; i++)
		ends[i] = i == n - 1 ? total : (i + 1) * size;
	return emit_slices(e, x, axis, total, ends, (uint32_t)n, c->at);
}

static struct value split_by_sizes(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t axis, int64_t total)
{
	uint32_t n = c->v[1].u.seq->n;
	int64_t *ends = ARENA_ARRAY(e->f->arena, int64_t, n + 1), sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct value v = c->v[1].u.seq->at[i];
		if (v.kind != V_INT || v.u.i < 0 || __builtin_add_overflow(sum, v.u.i, &sum))
			return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`split_size` must be integers known at compile time");
		ends[i] = sum;
	}
	if (sum != total)
		return rule_error(e, c, DIAG_SHAPE, c->ats[1], "the sizes add up to %lld, but the dimension has %lld elements",
				  (long long)sum, (long long)total);
	return emit_slices(e, x, axis, total, ends, n, c->at);
}

/* split, chunk */
struct value rule_split(struct emitter *e, struct builtin_call *c)
{
	bool chunk = c->bi == BI_CHUNK;
	uint32_t axis;
	int64_t total, n;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x);
	if (!need_axis(e, c, 2, t.rank, &axis))
		return VALUE_POISON;
	if (!need_const_size(e, c, c->at, t.dims[axis], "the size of the dimension", &total))
		return VALUE_POISON;
	if (!chunk && value_is_seq(c->v[1]))
		return split_by_sizes(e, c, x, axis, total);
	if (!need_int(e, c, 1, &n))
		return VALUE_POISON;
	if (n < 1)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`%s` must be at least 1", arg_name(e, c, 1));
	if (chunk)
		n = total ? (total - 1) / n + 1 : 1;
	return split_evenly(e, c, x, axis, total, n);
}

/* Returns a slice bound as in NumPy: a negative one counts from the end; clamped if sizes are known at compile time. */
static dim slice_bound(struct emitter *e, struct value v, dim size, dim standard, int64_t step)
{
	dim d;
	int64_t x, n;
	if (!size_value(e, v, &d))
		return standard;
	if (v.kind == V_INT && v.u.i < 0)
		d = dim_add(e->b->dims, size, d);
	if (!const_sizes(e, d, size, &x, &n))
		return d;
	int64_t least = step < 0 ? -1 : 0, most = step < 0 ? n - 1 : n; /* downwards, -1 is the place before the first element */
	return dim_const(e->b->dims, x < least ? least : x > most ? most : x);
}

static struct value slice_backwards(struct emitter *e, struct builtin_call *c, hir_ref r, uint32_t axis, int64_t step)
{
	struct dims *d = e->b->dims;
	struct hir_type t = *type_of(e, r);
	int64_t x, y;
	dim size = t.dims[axis], last = dim_sub(d, size, dim_const(d, 1));
	dim from = slice_bound(e, c->v[2], size, last, step), to = slice_bound(e, c->v[3], size, dim_const(d, -1), step);
	if (const_sizes(e, from, to, &x, &y) && y > x)
		to = from;
	dim len = dim_add(d, dim_sub(d, from, to), dim_const(d, -step - 1));
	t.dims[axis] = step == -1 ? dim_sub(d, from, to) : dim_floordiv(d, len, dim_const(d, -step));
	return EMIT(BI_SLICE, &t, arg_tensor(r), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(step));
}

static struct value report_bound(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	struct value v = c->v[i];
	if (v.kind != V_TENSOR || type_of(e, v.u.t)->rank || dtype_class(type_of(e, v.u.t)->elem) != DTC_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[i], "a bound must be an integer, not %s", value_text(e, v));
	struct diag *g =
		report_error(e, DIAG_TYPE_MISMATCH, c->ats[i],
			     "a bound of the slice is known only at run time (%s), so the size of the slice is unknown", value_text(e, v));
	diag_help(e->report.out, g,
		  "pass it as a compile-time argument `n: int`; or keep all elements and mask the rest, "
		  "`where(arange(x.shape[0]) < n, x, 0.0)`; or read a window of a constant size: `x[n:n + 4]`");
	return VALUE_POISON;
}

struct value rule_slice(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t step = 1, x, y;
	hir_ref r = c->operand[0];
	if (!need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	struct dims *d = e->b->dims;
	dim size = t.dims[axis];
	for (uint32_t i = 2; i <= 4; i++)
		if (c->v[i].kind != V_INT && c->v[i].kind != V_DIM && c->v[i].kind != V_NONE)
			return report_bound(e, c, i);
	if (c->v[4].kind != V_NONE && !need_int(e, c, 4, &step))
		return VALUE_POISON;
	if (!step || step == INT64_MIN)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[4], "the step must not be 0");
	if (step < 0)
		return slice_backwards(e, c, r, axis, step);
	dim from = slice_bound(e, c->v[2], size, dim_const(d, 0), step), to = slice_bound(e, c->v[3], size, size, step);
	if (const_sizes(e, from, to, &x, &y) && y < x)
		to = from;
	if (dim_eq(from, dim_const(d, 0)) && dim_eq(to, size) && step == 1)
		return value_tensor(r);
	dim len = dim_sub(d, to, from);
	if (step > 1)
		len = dim_floordiv(d, dim_add(d, len, dim_const(d, step - 1)), dim_const(d, step));
	t.dims[axis] = len;
	return EMIT(BI_SLICE, &t, arg_tensor(r), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(step));
}

struct value rule_select(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	dim index;
	int64_t i, n;
	hir_ref r = c->operand[0];
	if (!need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	if (!size_value(e, c->v[2], &index))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "the index must be an integer, not %s", value_text(e, c->v[2]));
	bool negative = c->v[2].kind == V_INT && c->v[2].u.i < 0;
	if (negative)
		index = dim_add(e->b->dims, t.dims[axis], index);
	if (const_sizes(e, index, t.dims[axis], &i, &n) && (i < 0 || i >= n)) {
		struct diag *g =
			report_error(e, DIAG_INDEX_RANGE, c->ats[2], "index %lld is out of range", (long long)(negative ? i - n : i));
		diag_label_primary(e->report.out, g, "dimension %u of %s has %lld elements", axis, shape_text(e, &t), (long long)n);
		return VALUE_POISON;
	}
	t = reduce_dims(e, &t, 1u << axis, false);
	return EMIT(BI_SELECT, &t, arg_tensor(r), arg_int(axis), arg_dim(index));
}

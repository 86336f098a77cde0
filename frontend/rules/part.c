/* Rules of the builtins that take parts of a tensor: split, slice, select, gather. */
#include "frontend/rules/builtin.h"

static struct value emit_slice(struct emitter *e, hir_ref x, uint32_t axis, dim from, dim to, span at)
{
	struct hir_type t = *type_of(e, x);
	t.dims[axis] = dim_sub(e->b->dims, to, from);
	struct hir_arg a[5] = {arg_tensor(x), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(1)};
	return value_tensor(emit_builtin(e, BI_SLICE, &t, a, 5, at));
}

static struct value slices(struct emitter *e, hir_ref x, uint32_t axis, int64_t total, const int64_t *ends, uint32_t n, span at)
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

static struct value even_parts(struct emitter *e, struct bcall *c, hir_ref x, uint32_t axis, int64_t total, int64_t size)
{
	int64_t n = total ? (total - 1) / size + 1 : 1;
	if (n > 4096)
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "more than 4096 parts");
	int64_t *ends = ARENA_ARRAY(e->f->arena, int64_t, n);
	for (int64_t i = 0; i < n; i++)
		ends[i] = i == n - 1 ? total : (i + 1) * size;
	return slices(e, x, axis, total, ends, (uint32_t)n, c->at);
}

static struct value listed_parts(struct emitter *e, struct bcall *c, hir_ref x, uint32_t axis, int64_t total)
{
	uint32_t n = c->v[1].u.seq->n;
	int64_t *ends = ARENA_ARRAY(e->f->arena, int64_t, n + 1), sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct value v = c->v[1].u.seq->at[i];
		if (v.kind != V_INT || v.u.i < 0 || __builtin_add_overflow(sum, v.u.i, &sum))
			return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "the sizes must be integers known at compile time");
		ends[i] = sum;
	}
	if (sum != total)
		return shape_error(e, c, DIAG_SHAPE, c->ats[1], "the sizes add up to %lld, the dimension is %lld", (long long)sum,
				   (long long)total);
	return slices(e, x, axis, total, ends, n, c->at);
}

static struct value parts(struct emitter *e, struct bcall *c, bool chunk)
{
	uint32_t axis;
	int64_t total, n;
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_axis(e, c, 2, t.rank, &axis))
		return VALUE_POISON;
	if (!dim_is_const(e->b->dims, t.dims[axis], &total)) {
		if (e->checking)
			return VALUE_POISON;
		return shape_error(e, c, DIAG_UNSUPPORTED, c->at, "the dimension's size is not known at compile time");
	}
	if (!chunk && value_is_seq(c->v[1]))
		return listed_parts(e, c, x, axis, total);
	if (!need_int(e, c, 1, &n))
		return VALUE_POISON;
	if (n < 1)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "must be at least 1");
	if (chunk)
		n = total ? (total - 1) / n + 1 : 1;
	return even_parts(e, c, x, axis, total, n);
}

struct value rule_split(struct emitter *e, struct bcall *c) { return parts(e, c, false); }
struct value rule_chunk(struct emitter *e, struct bcall *c) { return parts(e, c, true); }

static bool const_pair(struct emitter *e, dim a, dim b, int64_t *x, int64_t *y)
{
	return dim_is_const(e->b->dims, a, x) && dim_is_const(e->b->dims, b, y);
}

/* A bound as NumPy reads it: from the end where negative, clamped where everything is known. */
static dim slice_bound(struct emitter *e, struct value v, dim size, dim standard, int64_t step)
{
	dim d;
	int64_t x, n;
	if (!size_value(e, v, &d))
		return standard;
	if (v.kind == V_INT && v.u.i < 0)
		d = dim_add(e->b->dims, size, d);
	if (!const_pair(e, d, size, &x, &n))
		return d;
	int64_t least = step < 0 ? -1 : 0, most = step < 0 ? n - 1 : n; /* downwards, -1 stands for the place before the first element */
	return dim_const(e->b->dims, x < least ? least : x > most ? most : x);
}

static struct value slice_down(struct emitter *e, struct bcall *c, hir_ref r, uint32_t axis, int64_t step)
{
	struct dims *d = e->b->dims;
	struct hir_type t = *type_of(e, r);
	int64_t x, y;
	dim size = t.dims[axis], last = dim_sub(d, size, dim_const(d, 1));
	dim from = slice_bound(e, c->v[2], size, last, step), to = slice_bound(e, c->v[3], size, dim_const(d, -1), step);
	if (const_pair(e, from, to, &x, &y) && y > x)
		to = from;
	dim len = dim_add(d, dim_sub(d, from, to), dim_const(d, -step - 1));
	t.dims[axis] = step == -1 ? dim_sub(d, from, to) : dim_floordiv(d, len, dim_const(d, -step));
	struct hir_arg a[5] = {arg_tensor(r), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(step)};
	return value_tensor(emit_builtin(e, BI_SLICE, &t, a, 5, c->at));
}

static struct value bad_bound(struct emitter *e, struct bcall *c, uint32_t i)
{
	struct value v = c->v[i];
	if (v.kind != V_TENSOR || type_of(e, v.u.t)->rank || dtype_class(type_of(e, v.u.t)->elem) != DTC_INT)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[i], "a bound must be an integer, not %s", value_text(e, v));
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[i], "a slice by %s, which only the run knows, has no known size",
				      value_text(e, v));
	diag_help(e->report.out, g,
		  "give it as an argument `n: int`, which is known at compile time; else keep all elements and mask those behind it, "
		  "`where(arange(x.shape[0]) < n, x, 0.0)`, or take a window of a known size: `x[arange(4) + n]`");
	return VALUE_POISON;
}

struct value rule_slice(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	int64_t step = 1, x, y;
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE || !need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	struct dims *d = e->b->dims;
	dim size = t.dims[axis];
	for (uint32_t i = 2; i <= 4; i++)
		if (c->v[i].kind != V_INT && c->v[i].kind != V_DIM && c->v[i].kind != V_NONE)
			return bad_bound(e, c, i);
	if (c->v[4].kind != V_NONE && !need_int(e, c, 4, &step))
		return VALUE_POISON;
	if (!step || step == INT64_MIN)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[4], "the step must not be 0");
	if (step < 0)
		return slice_down(e, c, r, axis, step);
	dim from = slice_bound(e, c->v[2], size, dim_const(d, 0), step), to = slice_bound(e, c->v[3], size, size, step);
	if (const_pair(e, from, to, &x, &y) && y < x)
		to = from;
	if (dim_eq(from, dim_const(d, 0)) && dim_eq(to, size) && step == 1)
		return value_tensor(r);
	dim len = dim_sub(d, to, from);
	if (step > 1)
		len = dim_floordiv(d, dim_add(d, len, dim_const(d, step - 1)), dim_const(d, step));
	t.dims[axis] = len;
	struct hir_arg a[5] = {arg_tensor(r), arg_int(axis), arg_dim(from), arg_dim(to), arg_int(step)};
	return value_tensor(emit_builtin(e, BI_SLICE, &t, a, 5, c->at));
}

static void drop_axis(struct hir_type *t, uint32_t axis)
{
	for (uint32_t i = axis; i + 1 < t->rank; i++)
		t->dims[i] = t->dims[i + 1];
	t->rank--;
}

struct value rule_select(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	dim index;
	int64_t i, n;
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE || !need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	if (!size_value(e, c->v[2], &index))
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "an index must be an integer, not %s", value_text(e, c->v[2]));
	bool negative = c->v[2].kind == V_INT && c->v[2].u.i < 0;
	if (negative)
		index = dim_add(e->b->dims, t.dims[axis], index);
	if (const_pair(e, index, t.dims[axis], &i, &n) && (i < 0 || i >= n)) {
		struct diag *g =
			report_error(e, DIAG_INDEX_RANGE, c->ats[2], "index %lld is out of range", (long long)(negative ? i - n : i));
		diag_label_primary(e->report.out, g, "dimension %u of %s has %lld elements", axis, shape_text(e, &t), (long long)n);
		return VALUE_POISON;
	}
	drop_axis(&t, axis);
	struct hir_arg a[3] = {arg_tensor(r), arg_int(axis), arg_dim(index)};
	return value_tensor(emit_builtin(e, BI_SELECT, &t, a, 3, c->at));
}

struct value rule_index_select(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	hir_ref r = need_tensor(e, c, 0), index = need_tensor(e, c, 2);
	if (r == HIR_NONE || index == HIR_NONE || !need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r), ti = *type_of(e, index);
	if (dtype_class(ti.elem) != DTC_INT || ti.rank > 1) {
		struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[2],
					      "`index_select`: an index must be a tensor of integers with at most one dimension, not %s",
					      type_text(e, index));
		if (ti.elem == DT_BOOL)
			diag_help(e->report.out, g, "a shape does not depend on values: write `where(mask, x, 0)`");
		else if (dtype_class(ti.elem) == DTC_INT && t.rank == 2 && !axis)
			diag_help(e->report.out, g, "write `embedding(index, x)`, which takes indices of any shape");
		else if (dtype_class(ti.elem) == DTC_INT)
			diag_help(e->report.out, g, "flatten the index, and reshape what it gives");
		return VALUE_POISON;
	}
	if (ti.rank)
		t.dims[axis] = ti.dims[0];
	else
		drop_axis(&t, axis);
	struct hir_arg a[3] = {arg_tensor(r), arg_int(axis), arg_tensor(index)};
	return value_tensor(emit_builtin(e, BI_INDEX_SELECT, &t, a, 3, c->at));
}

struct value rule_gather(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	int64_t n, most;
	hir_ref r = need_tensor(e, c, 0), index = need_tensor(e, c, 2);
	if (r == HIR_NONE || index == HIR_NONE || !need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r), ti = *type_of(e, index);
	if (dtype_class(ti.elem) != DTC_INT)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "the index must be a tensor of integers, not %s",
				   type_text(e, index));
	if (ti.rank != t.rank)
		return shape_error(e, c, DIAG_RANK, c->ats[2], "the index needs as many dimensions as %s, but it is %s", type_text(e, r),
				   type_text(e, index));
	for (uint32_t k = 0; k < t.rank; k++) {
		bool fits =
			k == axis || dims_agree(e, ti.dims[k], t.dims[k]) || (const_pair(e, ti.dims[k], t.dims[k], &n, &most) && n <= most);
		if (!fits)
			return shape_error(e, c, DIAG_SHAPE, c->ats[2], "the index's shape %s %s %s in dimension %u", shape_text(e, &ti),
					   const_pair(e, ti.dims[k], t.dims[k], &n, &most) ? "goes beyond" : "is not known to stay within",
					   shape_text(e, &t), k);
	}
	ti.elem = t.elem;
	struct hir_arg a[3] = {arg_tensor(r), arg_int(axis), arg_tensor(index)};
	return value_tensor(emit_builtin(e, BI_GATHER, &ti, a, 3, c->at));
}

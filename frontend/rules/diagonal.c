/* Rules of diagonals and triangles. */
#include "frontend/rules/builtin.h"

static struct value reshape_value(struct emitter *e, struct value x, struct hir_type t, span at)
{
	return is_poison(x) ? x : emit_reshape(e, x.u.t, &t, at);
}

/* Computes the length of the diagonal that begins at (row, column). False: it is known only at run time. */
static bool diagonal_length(struct emitter *e, dim rows, dim columns, int64_t row, int64_t column, dim *out)
{
	struct dims *d = e->b->dims;
	int64_t a, b;
	rows = dim_sub(d, rows, dim_const(d, row));
	columns = dim_sub(d, columns, dim_const(d, column));
	if (dim_is_const(d, rows, &a) && dim_is_const(d, columns, &b)) {
		a = a < b ? a : b;
		*out = dim_const(d, a > 0 ? a : 0);
		return true;
	}
	int order = dim_eq(rows, columns) ? 1 : 0;
	int64_t apart;
	if (!order && dim_is_const(d, dim_sub(d, rows, columns), &apart)) {
		*out = apart < 0 ? rows : columns;
		return true;
	}
	*out = rows;
	return order;
}

/* x[.., from:from + n, ..] */
static struct value diagonal_slice_part(struct emitter *e, struct value x, int64_t axis, int64_t from, dim n, span at)
{
	struct dims *d = e->b->dims;
	if (is_poison(x))
		return x;
	return COMPOSE_AT(at, BI_SLICE, x, value_int(axis), value_int(from), value_dim(d, dim_add(d, n, dim_const(d, from))));
}

/* Returns the diagonal of an n by n square in the last dimensions: followed by n zeros it is n rows of n + 1, whose first column is the
 * diagonal. */
static struct value square_diagonal(struct emitter *e, struct value x, dim n, span at)
{
	struct dims *d = e->b->dims;
	if (is_poison(x))
		return x;
	struct hir_type t = *type_of(e, x.u.t), fill;
	uint32_t last = --t.rank - 1u;
	t.dims[last] = dim_mul(d, n, n);
	x = reshape_value(e, x, t, at);
	fill = t;
	fill.dims[last] = n;
	struct hir_arg a[2] = {arg_sizes(e, &fill), arg_none()};
	struct value zeros = value_tensor(emit_builtin(e, BI_ZEROS, &fill, a, 2, at));
	x = COMPOSE_AT(at, BI_CONCAT, LIST(x, zeros), value_int(last));
	t.dims[last] = n;
	t.dims[t.rank++] = dim_add(d, n, dim_const(d, 1));
	return COMPOSE_AT(at, BI_SELECT, reshape_value(e, x, t, at), value_int(-1), value_int(0));
}

struct value rule_diagonal(struct emitter *e, struct builtin_call *c)
{
	int64_t offset, order[HIR_MAX_RANK];
	uint32_t a, b, n = 0;
	hir_ref r = c->operand[0];
	if (!need_int(e, c, 1, &offset))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	if (t.rank < 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs at least two dimensions, not %s", type_text(e, r));
	if (!need_axis(e, c, 2, t.rank, &a) || !need_axis(e, c, 3, t.rank, &b))
		return VALUE_POISON;
	if (a == b)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[3], "dimension %u is named twice", a);
	struct value list = value_seq(e->f->arena, V_LIST, t.rank);
	for (uint32_t k = 0; k < t.rank; k++)
		if (k != a && k != b)
			order[n++] = k;
	order[n++] = a;
	order[n++] = b;
	for (uint32_t k = 0; k < n; k++)
		list.u.seq->at[k] = value_int(order[k]);
	dim length;
	int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
	if (offset == INT64_MIN)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`offset` is out of range");
	if (!diagonal_length(e, t.dims[a], t.dims[b], row, column, &length)) {
		if (!e->checking)
			rule_report(e, c, DIAG_SHAPE, c->at, "dimensions %u and %u of %s must be equal or known at compile time", a, b,
				    shape_text(e, &t));
		return VALUE_POISON;
	}
	int64_t none;
	if (dim_is_const(e->b->dims, length, &none) && !none)
		row = column = 0;
	struct value x = COMPOSE(BI_PERMUTE, value_tensor(r), list);
	x = diagonal_slice_part(e, diagonal_slice_part(e, x, -2, row, length, c->at), -1, column, length, c->at);
	return square_diagonal(e, x, length, c->at);
}

struct value rule_trace(struct emitter *e, struct builtin_call *c)
{
	hir_ref r = c->operand[0];
	if (type_of(e, r)->rank != 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a matrix, not %s", type_text(e, r));
	return COMPOSE(BI_SUM, COMPOSE(BI_DIAGONAL, value_tensor(r)));
}

/* Returns 0, 1, 2, …, n - 1. */
static struct value count_up_to(struct emitter *e, dim n, span at) { return COMPOSE_AT(at, BI_ARANGE, value_dim(e->b->dims, n)); }

/* tril keeps column <= row + k, triu keeps row + k <= column. */
struct value rule_triangle(struct emitter *e, struct builtin_call *c)
{
	int64_t k;
	hir_ref r = c->operand[0];
	if (!need_int(e, c, 1, &k))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	if (t.rank < 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs at least two dimensions, not %s", type_text(e, r));
	struct value row = COMPOSE(BI_UNSQUEEZE, count_up_to(e, t.dims[t.rank - 2], c->at), value_int(1));
	struct value column = count_up_to(e, t.dims[t.rank - 1], c->at), zero = {.kind = V_TRIT};
	row = COMPOSE(BI_ADD, row, value_int(k));
	if (t.elem != DT_TRIT)
		zero = t.elem == DT_BOOL ? value_bool(false) : value_int(0);
	return COMPOSE(BI_WHERE, COMPOSE(c->bi == BI_TRIL ? BI_GE : BI_LE, row, column), value_tensor(r), zero);
}

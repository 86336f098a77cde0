/* Matrix products. Vectors become matrices for the product. A batch times one matrix becomes rows, so that a constant right operand
 * keeps rank 2. */
#include "backend/lower/state.h"

static ir_ref product(struct lower *l, ir_ref a, ir_ref b, const dim *batch, uint32_t n_batch, dtype elem)
{
	const struct hir_type x = *lower_of(l, a), w = *lower_of(l, b);
	struct hir_type t = {.elem = elem, .rank = (uint8_t)(n_batch + 2)};
	for (uint32_t k = 0; k < n_batch; k++)
		t.dims[k] = batch[k];
	t.dims[n_batch] = x.dims[x.rank - 2];
	t.dims[n_batch + 1] = w.dims[w.rank - 1];
	ir_ref operands[2] = {a, b};
	return lower_emit(l, OP_MATMUL, &t, operands, 2);
}

/* Reshapes [.., M, K] @ [K, N] to [.. * M, K] @ [K, N]. */
static ir_ref rows_product(struct lower *l, ir_ref a, ir_ref b, dtype elem)
{
	struct hir_type x = *lower_of(l, a);
	dim rows[2] = {dim_product(l->f->dims, x.dims, x.rank - 1u), x.dims[x.rank - 1]};
	ir_ref y = product(l, lower_reshape(l, a, rows, 2), b, NULL, 0, elem);
	x.dims[x.rank - 1] = lower_of(l, y)->dims[1];
	return lower_reshape(l, y, x.dims, x.rank);
}

static bool is_one(struct lower *l, dim d) { return dim_eq(d, dim_const(l->f->dims, 1)); }

static ir_ref batched_product(struct lower *l, ir_ref a, ir_ref b, dtype elem)
{
	struct hir_type x = *lower_of(l, a), w = *lower_of(l, b);
	uint32_t rank = x.rank > w.rank ? x.rank : w.rank, n = rank - 2;
	struct hir_type xt = {.elem = x.elem, .rank = (uint8_t)rank}, wt = {.elem = w.elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < n; k++) {
		bool in_x = k + x.rank >= rank, in_w = k + w.rank >= rank;
		dim dx = in_x ? x.dims[k + x.rank - rank] : dim_const(l->f->dims, 1),
		    dw = in_w ? w.dims[k + w.rank - rank] : dim_const(l->f->dims, 1);
		xt.dims[k] = wt.dims[k] = is_one(l, dx) ? dw : dx;
	}
	for (uint32_t k = 0; k < 2; k++) {
		xt.dims[n + k] = x.dims[x.rank - 2 + k];
		wt.dims[n + k] = w.dims[w.rank - 2 + k];
	}
	return product(l, lower_broadcast(l, a, &xt), lower_broadcast(l, b, &wt), xt.dims, n, elem);
}

/* True for pairs of element types that MATMUL takes. Others are converted to the type of the result. */
static bool matmul_takes(dtype a, dtype b, dtype elem)
{
	if (dtype_class(elem) == DTC_FLOAT)
		return (a == elem || a == DT_TRIT) && (b == elem || b == DT_TRIT) && (a == elem || b == elem);
	bool small = (a == DT_INT8 || a == DT_TRIT) && (b == DT_INT8 || b == DT_TRIT);
	return small ? elem == DT_INT32 : a == elem && b == elem;
}

ir_ref lower_matmul(struct lower *l, ir_ref a, ir_ref b, dtype elem)
{
	if (!matmul_takes(lower_of(l, a)->elem, lower_of(l, b)->elem, elem)) {
		a = lower_cast(l, a, elem);
		b = lower_cast(l, b, elem);
	}
	bool row = lower_of(l, a)->rank == 1, column = lower_of(l, b)->rank == 1;
	dim one = dim_const(l->f->dims, 1);
	dim as_row[2] = {one, lower_of(l, a)->dims[0]}, as_column[2] = {lower_of(l, b)->dims[0], one};
	if (row)
		a = lower_reshape(l, a, as_row, 2);
	if (column)
		b = lower_reshape(l, b, as_column, 2);
	bool flat = lower_of(l, b)->rank == 2;
	ir_ref y = flat ? rows_product(l, a, b, elem) : batched_product(l, a, b, elem);
	struct hir_type t = *lower_of(l, y);
	if (column)
		t.rank--;
	if (row) {
		if (!column)
			t.dims[t.rank - 2] = t.dims[t.rank - 1];
		t.rank--;
	}
	return lower_reshape(l, y, t.dims, t.rank);
}

void lower_bi_matmul(struct lower *l, ir_ref *r) { r[0] = lower_matmul(l, lower_tensor(l, 0), lower_tensor(l, 1), l->n->type.elem); }

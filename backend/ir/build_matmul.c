/* Emits matrix products. Vectors become matrices for the product. A batch times one matrix becomes rows, so that a constant right operand
 * keeps rank 2. */
#include "backend/ir/build.h"

static ir_ref build_matmul_product(struct ir_builder *b, ir_ref left, ir_ref right)
{
	return ir_build_as(b, OP_MATMUL, NULL, (ir_ref[]){left, right}, 2);
}

/* Reshapes [.., M, K] @ [K, N] to [.. * M, K] @ [K, N]. */
static ir_ref rows_product(struct ir_builder *b, ir_ref left, ir_ref right)
{
	struct hir_type x = *ir_type_of(b->f, left);
	dim rows[2] = {dim_product(b->f->dims, x.dims, x.rank - 1u), x.dims[x.rank - 1]};
	ir_ref y = build_matmul_product(b, ir_build_reshape(b, left, rows, 2), right);
	x.dims[x.rank - 1] = ir_type_of(b->f, y)->dims[1];
	return ir_build_reshape(b, y, x.dims, x.rank);
}

static bool build_matmul_is_one(struct ir_builder *b, dim d) { return dim_eq(d, dim_const(b->f->dims, 1)); }

static ir_ref batched_product(struct ir_builder *b, ir_ref left, ir_ref right)
{
	struct hir_type x = *ir_type_of(b->f, left), w = *ir_type_of(b->f, right);
	uint32_t rank = x.rank > w.rank ? x.rank : w.rank, n = rank - 2;
	struct hir_type xt = {.elem = x.elem, .rank = (uint8_t)rank}, wt = {.elem = w.elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < n; k++) {
		bool in_x = k + x.rank >= rank, in_w = k + w.rank >= rank;
		dim dx = in_x ? x.dims[k + x.rank - rank] : dim_const(b->f->dims, 1),
		    dw = in_w ? w.dims[k + w.rank - rank] : dim_const(b->f->dims, 1);
		xt.dims[k] = wt.dims[k] = build_matmul_is_one(b, dx) ? dw : dx;
	}
	for (uint32_t k = 0; k < 2; k++) {
		xt.dims[n + k] = x.dims[x.rank - 2 + k];
		wt.dims[n + k] = w.dims[w.rank - 2 + k];
	}
	return build_matmul_product(b, ir_build_broadcast(b, left, &xt), ir_build_broadcast(b, right, &wt));
}

/* True for pairs of element types that MATMUL takes. Others are converted to the type of the result. */
static bool matmul_takes(dtype left, dtype right, dtype elem)
{
	if (dtype_class(elem) == DTC_FLOAT)
		return (left == elem || left == DT_TRIT) && (right == elem || right == DT_TRIT) && (left == elem || right == elem);
	bool small = (left == DT_INT8 || left == DT_TRIT) && (right == DT_INT8 || right == DT_TRIT);
	return small ? elem == DT_INT32 : left == elem && right == elem;
}

ir_ref ir_build_matmul(struct ir_builder *b, ir_ref left, ir_ref right, dtype elem)
{
	if (!matmul_takes(ir_type_of(b->f, left)->elem, ir_type_of(b->f, right)->elem, elem)) {
		left = ir_build_cast(b, left, elem);
		right = ir_build_cast(b, right, elem);
	}
	bool row = ir_type_of(b->f, left)->rank == 1, column = ir_type_of(b->f, right)->rank == 1;
	dim one = dim_const(b->f->dims, 1);
	dim as_row[2] = {one, ir_type_of(b->f, left)->dims[0]}, as_column[2] = {ir_type_of(b->f, right)->dims[0], one};
	if (row)
		left = ir_build_reshape(b, left, as_row, 2);
	if (column)
		right = ir_build_reshape(b, right, as_column, 2);
	bool flat = ir_type_of(b->f, right)->rank == 2;
	ir_ref y = flat ? rows_product(b, left, right) : batched_product(b, left, right);
	struct hir_type t = *ir_type_of(b->f, y);
	if (column)
		t.rank--;
	if (row) {
		if (!column)
			t.dims[t.rank - 2] = t.dims[t.rank - 1];
		t.rank--;
	}
	return ir_build_reshape(b, y, t.dims, t.rank);
}

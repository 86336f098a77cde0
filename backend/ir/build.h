/* Emits operations with the constants, broadcasts and casts that they need. For lowering and for passes. */
#ifndef TRIB_BACKEND_IR_BUILD_H
#define TRIB_BACKEND_IR_BUILD_H
#include "backend/ir/ir.h"

struct ir_builder {
	struct ir_fn *f;
	origin_set origin; /* of the instructions that are emitted */
};
ir_ref ir_build(struct ir_builder *b, enum ir_op op, const struct hir_type *t, const ir_ref *operands, uint32_t n);
/* The result has the type that the rules of ops.def compute. `attributes` is the record of the operation; NULL: it has none. */
ir_ref ir_build_as(struct ir_builder *b, enum ir_op op, const void *attributes, const ir_ref *operands, uint32_t n);
ir_ref ir_build_const_float(struct ir_builder *b, dtype elem, double v); /* rank 0; truncated if elem is an integer type */
ir_ref ir_build_const_int(struct ir_builder *b, dtype elem, int64_t v);
ir_ref ir_build_cast(struct ir_builder *b, ir_ref x, dtype elem);
ir_ref ir_build_broadcast(struct ir_builder *b, ir_ref x, const struct hir_type *shape);
/* NumPy's rule. If two sizes are not known to be equal, the result has the constant one; other sizes are an error at run time. */
struct hir_type ir_common_shape(struct ir_builder *b, const struct hir_type *x, const struct hir_type *y);
ir_ref ir_build_reshape(struct ir_builder *b, ir_ref x, const dim *dims, uint32_t rank);
ir_ref ir_build_flatten(struct ir_builder *b, ir_ref x); /* to rank 1 */
ir_ref ir_build_permute(struct ir_builder *b, ir_ref x, const int64_t *perm);
ir_ref ir_build_op1(struct ir_builder *b, enum ir_op op, ir_ref x);
/* Broadcasts both operands to their common shape. The result of a comparison is bool. */
ir_ref ir_build_op2(struct ir_builder *b, enum ir_op op, ir_ref x, ir_ref y);
/* The second operand is a constant, converted to the element type of x. */
ir_ref ir_build_op2c(struct ir_builder *b, enum ir_op op, ir_ref x, double c);
ir_ref ir_build_select(struct ir_builder *b, ir_ref c, ir_ref x, ir_ref y);
/* keep: reduced dims become 1; otherwise they are removed. */
ir_ref ir_build_reduce(struct ir_builder *b, enum ir_op op, ir_ref x, uint32_t mask, bool keep);
/* Returns the number of elements in the dims of the mask, as a scalar of type elem. */
ir_ref ir_build_count(struct ir_builder *b, ir_ref x, uint32_t mask, dtype elem);
/* Returns the value of a dim as a scalar of type elem. */
ir_ref ir_build_extent(struct ir_builder *b, dim d, dtype elem);
ir_ref ir_build_iota(struct ir_builder *b, const struct hir_type *shape, dtype elem, uint32_t axis);
/* Takes `size` elements along `axis`, from `start` on, `step` apart. */
ir_ref ir_build_slice(struct ir_builder *b, ir_ref x, uint32_t axis, dim start, int64_t step, dim size);
ir_ref ir_build_concat(struct ir_builder *b, const ir_ref *parts, uint32_t n, uint32_t axis);
/* An index for each dim of the mask; without windows. */
ir_ref ir_build_gather(struct ir_builder *b, ir_ref x, const ir_ref *indices, struct ir_gather g);
ir_ref ir_build_gather_dim(struct ir_builder *b, ir_ref x, ir_ref index, uint32_t axis);
/* Adds `before` and `after` copies of a scalar around each dim. */
ir_ref ir_build_pad(struct ir_builder *b, ir_ref x, const dim *before, const dim *after, ir_ref value);
struct ir_window_axis {
	uint32_t axis;
	dim kernel, count; /* number of elements of a window, number of windows */
	int64_t stride, dilation;
};
/* Windows of x along n dims in ascending order. The elements of a window are new last dims. */
ir_ref ir_build_windows(struct ir_builder *b, ir_ref x, const struct ir_window_axis *w, uint32_t n);
/* Takes elements of x along `axis` at the positions in `index`, a vector of int64. */
ir_ref ir_build_take(struct ir_builder *b, ir_ref x, ir_ref index, uint32_t axis);
/* Reshapes a vector so that it broadcasts along dim `axis` of a tensor of the rank. */
ir_ref ir_build_along(struct ir_builder *b, ir_ref v, uint32_t axis, uint32_t rank);
ir_ref ir_build_mean(struct ir_builder *b, ir_ref x, uint32_t mask, bool keep);
/* Converts float16 and bfloat16 to float32, in which compound builtins compute. */
ir_ref ir_build_widen(struct ir_builder *b, ir_ref x);
ir_ref ir_build_matmul(struct ir_builder *b, ir_ref x, ir_ref y, dtype elem);
#endif

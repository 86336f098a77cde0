/* Pooling: reductions over windows of the last two dims. */
#include <math.h>
#include "backend/expand/state.h"

enum { HEIGHT = 2, WIDTH, INSIDE_HEIGHT, INSIDE_WIDTH };

struct pool {
	const struct ir_pool *a;
	ir_ref x;
	dim size[2], count[2]; /* of the input, of the result */
};

static struct pool pooling_describe(struct ir_builder *b, const struct ir_inst *i, ir_ref x)
{
	struct pool p = {.a = ir_pool(i), .x = x};
	for (uint32_t k = 0; k < 2; k++) {
		p.size[k] = ir_type_of(b->f, x)->dims[HEIGHT + k];
		p.count[k] = i->type.dims[HEIGHT + k];
	}
	return p;
}

/* Windows [N, C, H, W, KH, KW]; elements outside of x are `outside`. A window that ceil_mode adds ends less than a stride after the
 * padding. */
static ir_ref pooling_windows(struct ir_builder *b, const struct pool *p, double outside)
{
	struct dims *d = b->f->dims;
	dim zero = dim_const(d, 0), before[4] = {zero, zero}, after[4] = {zero, zero};
	struct ir_window_axis w[2];
	for (uint32_t k = 0; k < 2; k++) {
		before[HEIGHT + k] = dim_const(d, p->a->pad[k]);
		after[HEIGHT + k] = dim_const(d, p->a->pad[k] + (p->a->ceil ? p->a->stride[k] - 1 : 0));
		w[k] = (struct ir_window_axis){HEIGHT + k, dim_const(d, p->a->kernel[k]), p->count[k], p->a->stride[k], p->a->dilation[k]};
	}
	ir_ref x = ir_build_pad(b, p->x, before, after, ir_build_const_float(b, ir_type_of(b->f, p->x)->elem, outside));
	return ir_build_windows(b, x, w, 2);
}

static const uint32_t insides = 1u << INSIDE_HEIGHT | 1u << INSIDE_WIDTH;

static ir_ref pooling_greatest(struct ir_builder *b, const struct pool *p)
{
	return ir_build_reduce(b, OP_REDUCE_MAX, pooling_windows(b, p, -INFINITY), insides, false);
}

/* Returns the number of elements of each window along one dim, as a vector: of the input, and with `padding` also of the padding. */
static ir_ref pooling_count_elements(struct ir_builder *b, const struct pool *p, uint32_t k, bool padding)
{
	struct hir_type t = {.elem = DT_INT64, .rank = 1, .dims = {p->count[k]}};
	ir_ref from = ir_build_op2c(b, OP_MUL, ir_build_iota(b, &t, DT_INT64, 0), (double)p->a->stride[k]);
	from = ir_build_op2c(b, OP_SUB, from, (double)p->a->pad[k]);
	dim end = dim_add(b->f->dims, p->size[k], dim_const(b->f->dims, padding ? p->a->pad[k] : 0));
	ir_ref to = ir_build_op2(b, OP_MIN, ir_build_op2c(b, OP_ADD, from, (double)p->a->kernel[k]), ir_build_extent(b, end, DT_INT64));
	return ir_build_op2(b, OP_SUB, to, padding ? from : ir_build_op2c(b, OP_MAX, from, 0));
}

static ir_ref divisor(struct ir_builder *b, const struct pool *p, dtype elem)
{
	const struct ir_pool *a = p->a;
	bool whole = !a->ceil && (a->count_pad || (!a->pad[0] && !a->pad[1]));
	if (a->divisor || whole)
		return ir_build_const_float(b, elem, (double)(a->divisor ? a->divisor : a->kernel[0] * a->kernel[1]));
	ir_ref height = ir_build_along(b, pooling_count_elements(b, p, 0, a->count_pad), 0, 2),
	       width = pooling_count_elements(b, p, 1, a->count_pad);
	return ir_build_cast(b, ir_build_op2(b, OP_MUL, height, width), elem);
}

static ir_ref average(struct ir_builder *b, const struct pool *p)
{
	ir_ref sum = ir_build_reduce(b, OP_REDUCE_SUM, pooling_windows(b, p, 0), insides, false);
	return ir_build_op2(b, OP_DIV, sum, divisor(b, p, ir_type_of(b->f, sum)->elem));
}

/* ---- adaptive ---- */

/* Replaces dim `axis` by n windows of `each` elements. */
static ir_ref split_axis(struct ir_builder *b, ir_ref x, uint32_t axis, dim n, dim each)
{
	struct hir_type t = *ir_type_of(b->f, x);
	for (uint32_t k = t.rank++; k > axis + 1; k--)
		t.dims[k] = t.dims[k - 1];
	t.dims[axis] = n;
	t.dims[axis + 1] = each;
	return ir_build_reshape(b, x, t.dims, t.rank);
}

/* Window i is floor(i*size / n) … ceil((i+1)*size / n). At most size/n + 2 elements are taken; a mask removes the rest from the mean. */
static ir_ref uneven_means(struct ir_builder *b, ir_ref x, uint32_t axis, dim n, dim most)
{
	const struct hir_type t = *ir_type_of(b->f, x);
	struct hir_type windows = {.elem = DT_INT64, .rank = 1, .dims = {n}};
	struct hir_type both = {.elem = DT_INT64, .rank = 2, .dims = {n, most}};
	ir_ref size = ir_build_extent(b, t.dims[axis], DT_INT64), parts = ir_build_extent(b, n, DT_INT64),
	       i = ir_build_iota(b, &windows, DT_INT64, 0);
	ir_ref from = ir_build_op2(b, OP_FLOORDIV, ir_build_op2(b, OP_MUL, i, size), parts);
	ir_ref past = ir_build_op2(b, OP_MUL, ir_build_op2c(b, OP_ADD, i, 1), size);
	ir_ref to = ir_build_op2(b, OP_FLOORDIV, ir_build_op2c(b, OP_SUB, ir_build_op2(b, OP_ADD, past, parts), 1), parts);
	ir_ref at = ir_build_op2(b, OP_ADD, ir_build_along(b, from, 0, 2), ir_build_iota(b, &both, DT_INT64, 1));
	ir_ref counts = ir_build_op2(b, OP_LT, at, ir_build_along(b, to, 0, 2));
	dim flat = dim_mul(b->f->dims, n, most);
	ir_ref index = ir_build_reshape(b, ir_build_op2(b, OP_MIN, at, ir_build_op2c(b, OP_SUB, size, 1)), &flat, 1);
	ir_ref taken = split_axis(b, ir_build_take(b, x, index, axis), axis, n, most);
	counts = split_axis(b, ir_build_along(b, ir_build_reshape(b, counts, &flat, 1), axis, t.rank), axis, n, most);
	taken = ir_build_select(b, counts, taken, ir_build_const_float(b, t.elem, 0));
	ir_ref sum = ir_build_reduce(b, OP_REDUCE_SUM, taken, 1u << (axis + 1), false);
	ir_ref length = ir_build_cast(b, ir_build_op2(b, OP_SUB, to, from), t.elem);
	return ir_build_op2(b, OP_DIV, sum, ir_build_along(b, length, axis, t.rank));
}

static ir_ref adaptive_mean(struct ir_builder *b, ir_ref x, uint32_t axis, dim n)
{
	struct dims *d = b->f->dims;
	dim size = ir_type_of(b->f, x)->dims[axis], each = dim_floordiv(d, size, n);
	if (dim_eq(size, n))
		return x;
	if (dim_eq(dim_mul(d, each, n), size))
		return ir_build_mean(b, split_axis(b, x, axis, n, each), 1u << (axis + 1), false);
	return uneven_means(b, x, axis, n, dim_add(d, each, dim_const(d, 2)));
}

void expand_pool(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	struct pool p = pooling_describe(b, i, x[0]);
	switch (p.a->kind) {
	case POOL_MAX: results[0] = pooling_greatest(b, &p); return;
	case POOL_AVERAGE: results[0] = average(b, &p); return;
	case POOL_ADAPTIVE_AVERAGE: results[0] = adaptive_mean(b, adaptive_mean(b, x[0], WIDTH, p.count[1]), HEIGHT, p.count[0]); return;
	}
}

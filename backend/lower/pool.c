/* Pooling: reductions over windows of the last two dims. */
#include <math.h>
#include "backend/lower/state.h"

enum { HEIGHT = 2, WIDTH, INSIDE_HEIGHT, INSIDE_WIDTH };

struct pool {
	ir_ref x;
	dim size[2], count[2]; /* of the input, of the result */
	int64_t kernel[2], stride[2], pad[2], dilation[2];
	bool ceil;
};

static int64_t int_at(struct lower *l, uint32_t arg, uint32_t k)
{
	const struct hir_arg *items = NULL;
	lower_list(l, arg, &items);
	return items[k].u.i;
}

static struct pool read_pool(struct lower *l, ir_ref x, bool ceil)
{
	struct pool p = {.x = x, .ceil = ceil};
	struct hir_type t = lower_node_type(l);
	for (uint32_t k = 0; k < 2; k++) {
		p.size[k] = ir_type_of(l->f, x)->dims[HEIGHT + k];
		p.count[k] = t.dims[HEIGHT + k];
		p.kernel[k] = int_at(l, 1, k);
		p.stride[k] = int_at(l, 2, k);
		p.pad[k] = int_at(l, 3, k);
		p.dilation[k] = 1;
	}
	return p;
}

/* Windows [N, C, H, W, KH, KW]; elements outside of x are `outside`. A window that ceil_mode adds ends less than a stride after the
 * padding. */
static ir_ref windows(struct lower *l, const struct pool *p, double outside)
{
	struct dims *d = l->f->dims;
	dim zero = dim_const(d, 0), before[4] = {zero, zero}, after[4] = {zero, zero};
	struct ir_window_axis w[2];
	for (uint32_t k = 0; k < 2; k++) {
		before[HEIGHT + k] = dim_const(d, p->pad[k]);
		after[HEIGHT + k] = dim_const(d, p->pad[k] + (p->ceil ? p->stride[k] - 1 : 0));
		w[k] = (struct ir_window_axis){HEIGHT + k, dim_const(d, p->kernel[k]), p->count[k], p->stride[k], p->dilation[k]};
	}
	ir_ref x = ir_build_pad(l->b, p->x, before, after, ir_build_const_float(l->b, ir_type_of(l->f, p->x)->elem, outside));
	return ir_build_windows(l->b, x, w, 2);
}

static const uint32_t insides = 1u << INSIDE_HEIGHT | 1u << INSIDE_WIDTH;

void lower_bi_maxpool2d(struct lower *l, ir_ref *r)
{
	struct pool p = read_pool(l, lower_tensor(l, 0), lower_int(l, 5) != 0);
	for (uint32_t k = 0; k < 2; k++)
		p.dilation[k] = int_at(l, 4, k);
	r[0] = ir_build_reduce(l->b, OP_REDUCE_MAX, windows(l, &p, -INFINITY), insides, false);
}

/* Returns the number of elements of each window along one dim, as a vector: of the input, and with `padding` also of the padding. */
static ir_ref count_elements(struct lower *l, const struct pool *p, uint32_t k, bool padding)
{
	struct hir_type t = {.elem = DT_INT64, .rank = 1, .dims = {p->count[k]}};
	ir_ref from = ir_build_op2c(l->b, OP_MUL, ir_build_iota(l->b, &t, DT_INT64, 0), (double)p->stride[k]);
	from = ir_build_op2c(l->b, OP_SUB, from, (double)p->pad[k]);
	dim end = dim_add(l->f->dims, p->size[k], dim_const(l->f->dims, padding ? p->pad[k] : 0));
	ir_ref to =
		ir_build_op2(l->b, OP_MIN, ir_build_op2c(l->b, OP_ADD, from, (double)p->kernel[k]), ir_build_extent(l->b, end, DT_INT64));
	return ir_build_op2(l->b, OP_SUB, to, padding ? from : ir_build_op2c(l->b, OP_MAX, from, 0));
}

static ir_ref divisor(struct lower *l, const struct pool *p, dtype elem)
{
	bool padding = lower_int(l, 5) != 0, whole = !p->ceil && (padding || (!p->pad[0] && !p->pad[1]));
	if (lower_has(l, 6))
		return ir_build_const_float(l->b, elem, (double)lower_int(l, 6));
	if (whole)
		return ir_build_const_float(l->b, elem, (double)(p->kernel[0] * p->kernel[1]));
	ir_ref height = ir_build_along(l->b, count_elements(l, p, 0, padding), 0, 2), width = count_elements(l, p, 1, padding);
	return ir_build_cast(l->b, ir_build_op2(l->b, OP_MUL, height, width), elem);
}

void lower_bi_avgpool2d(struct lower *l, ir_ref *r)
{
	struct pool p = read_pool(l, ir_build_widen(l->b, lower_tensor(l, 0)), lower_int(l, 4) != 0);
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, windows(l, &p, 0), insides, false);
	r[0] = ir_build_op2(l->b, OP_DIV, sum, divisor(l, &p, ir_type_of(l->f, sum)->elem));
}

/* ---- adaptive ---- */

/* Replaces dim `axis` by n windows of `each` elements. */
static ir_ref split_axis(struct lower *l, ir_ref x, uint32_t axis, dim n, dim each)
{
	struct hir_type t = *ir_type_of(l->f, x);
	for (uint32_t k = t.rank++; k > axis + 1; k--)
		t.dims[k] = t.dims[k - 1];
	t.dims[axis] = n;
	t.dims[axis + 1] = each;
	return ir_build_reshape(l->b, x, t.dims, t.rank);
}

/* Window i is floor(i*size / n) … ceil((i+1)*size / n). At most size/n + 2 elements are taken; a mask removes the rest from the mean. */
static ir_ref uneven_means(struct lower *l, ir_ref x, uint32_t axis, dim n, dim most)
{
	const struct hir_type t = *ir_type_of(l->f, x);
	struct hir_type windows = {.elem = DT_INT64, .rank = 1, .dims = {n}};
	struct hir_type both = {.elem = DT_INT64, .rank = 2, .dims = {n, most}};
	ir_ref size = ir_build_extent(l->b, t.dims[axis], DT_INT64), parts = ir_build_extent(l->b, n, DT_INT64),
	       i = ir_build_iota(l->b, &windows, DT_INT64, 0);
	ir_ref from = ir_build_op2(l->b, OP_FLOORDIV, ir_build_op2(l->b, OP_MUL, i, size), parts);
	ir_ref past = ir_build_op2(l->b, OP_MUL, ir_build_op2c(l->b, OP_ADD, i, 1), size);
	ir_ref to = ir_build_op2(l->b, OP_FLOORDIV, ir_build_op2c(l->b, OP_SUB, ir_build_op2(l->b, OP_ADD, past, parts), 1), parts);
	ir_ref at = ir_build_op2(l->b, OP_ADD, ir_build_along(l->b, from, 0, 2), ir_build_iota(l->b, &both, DT_INT64, 1));
	ir_ref counts = ir_build_op2(l->b, OP_LT, at, ir_build_along(l->b, to, 0, 2));
	dim flat = dim_mul(l->f->dims, n, most);
	ir_ref index = ir_build_reshape(l->b, ir_build_op2(l->b, OP_MIN, at, ir_build_op2c(l->b, OP_SUB, size, 1)), &flat, 1);
	ir_ref taken = split_axis(l, ir_build_take(l->b, x, index, axis), axis, n, most);
	counts = split_axis(l, ir_build_along(l->b, ir_build_reshape(l->b, counts, &flat, 1), axis, t.rank), axis, n, most);
	taken = ir_build_select(l->b, counts, taken, ir_build_const_float(l->b, t.elem, 0));
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, taken, 1u << (axis + 1), false);
	ir_ref length = ir_build_cast(l->b, ir_build_op2(l->b, OP_SUB, to, from), t.elem);
	return ir_build_op2(l->b, OP_DIV, sum, ir_build_along(l->b, length, axis, t.rank));
}

static ir_ref adaptive_mean(struct lower *l, ir_ref x, uint32_t axis, dim n)
{
	struct dims *d = l->f->dims;
	dim size = ir_type_of(l->f, x)->dims[axis], each = dim_floordiv(d, size, n);
	if (dim_eq(size, n))
		return x;
	if (dim_eq(dim_mul(d, each, n), size))
		return ir_build_mean(l->b, split_axis(l, x, axis, n, each), 1u << (axis + 1), false);
	return uneven_means(l, x, axis, n, dim_add(d, each, dim_const(d, 2)));
}

void lower_bi_adaptive_avgpool2d(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = adaptive_mean(l, adaptive_mean(l, x, WIDTH, t.dims[WIDTH]), HEIGHT, t.dims[HEIGHT]);
}

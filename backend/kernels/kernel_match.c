#include "backend/kernels/kernel.h"
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/kernels/conv.h"
#include "backend/target/target.h"
#include "base/bug.h"

ir_ref ir_below_reshapes(const struct ir_fn *f, ir_ref v)
{
	while (ir_at(f, v)->op == OP_RESHAPE)
		v = ir_operand(f, v, 0);
	return v;
}

/* Returns the matrix below broadcasts that only add leading dimensions. */
static ir_ref below_broadcasts(const struct ir_fn *f, ir_ref v)
{
	while (ir_at(f, v)->op == OP_BROADCAST) {
		ir_ref o = ir_operand(f, v, 0);
		const struct hir_type *t = &ir_at(f, v)->type, *from = &ir_at(f, o)->type;
		if (from->rank < 2 || !dim_eq(from->dims[from->rank - 1], t->dims[t->rank - 1]) ||
		    !dim_eq(from->dims[from->rank - 2], t->dims[t->rank - 2]))
			break;
		v = o;
	}
	return v;
}

/* Returns the value below a cast of 16-bit floats to float32, which is exact. */
static ir_ref below_widening(const struct ir_fn *f, ir_ref v)
{
	const struct ir_inst *i = ir_at(f, v);
	dtype from = i->op == OP_CAST ? ir_at(f, ir_operand(f, v, 0))->type.elem : DT_COUNT;
	return i->type.elem == DT_FLOAT32 && (from == DT_FLOAT16 || from == DT_BFLOAT16) ? ir_operand(f, v, 0) : v;
}

/* If v is int8 codes [.., S, E] times float32 scales [.., S, 1], stores both and returns true. */
static bool kernel_match_find_codes(const struct ir_fn *f, ir_ref v, ir_ref *codes, ir_ref *scales)
{
	const struct hir_type *t = &ir_at(f, v)->type, *s;
	int64_t one;
	if (ir_at(f, v)->op != OP_MUL || t->elem != DT_FLOAT32 || t->rank < 2)
		return false;
	for (uint32_t k = 0; k < 2; k++) {
		ir_ref cast = ir_operand(f, v, k), wide = ir_operand(f, v, 1 - k);
		if (ir_at(f, cast)->op != OP_CAST || ir_at(f, wide)->op != OP_BROADCAST)
			continue;
		*codes = ir_operand(f, cast, 0);
		*scales = ir_operand(f, wide, 0);
		s = &ir_at(f, *scales)->type;
		bool rows = s->rank == t->rank && dim_is_const(f->dims, s->dims[t->rank - 1], &one) && one == 1;
		for (uint32_t d = 0; rows && d + 1 < t->rank; d++)
			rows = dim_eq(s->dims[d], t->dims[d]);
		if (rows && ir_at(f, *codes)->type.elem == DT_INT8)
			return true;
	}
	return false;
}

/* ---- which operations a kernel fits ---- */

static bool fits_any(const struct ir_fn *f, ir_ref r, enum kernel k)
{
	(void)f, (void)r, (void)k;
	return true;
}
static bool fits_nothing(const struct ir_fn *f, ir_ref r, enum kernel k)
{
	(void)f, (void)r, (void)k;
	return false;
}

/* One matrix on the right, whatever is on the left. */
static bool fits_product(const struct ir_fn *f, ir_ref r, enum kernel k)
{
	(void)k;
	return ir_at(f, below_broadcasts(f, ir_operand(f, r, 1)))->type.rank == 2;
}

/* True if trits can be packed for a kernel that reads so many channels at a time, and what a position reads fits into its buffers. */
static bool packs_windows(const int64_t *size, int64_t groups, int64_t dilation)
{
	int64_t copied;
	return !__builtin_mul_overflow(size[1], groups, &copied) && tri_conv_fits(size[1], size[2], size[3]) &&
	       tri_conv_copies(copied, size[2], size[3], dilation);
}

/* A convolution in groups that the kernel takes, with weights that can be packed. */
static bool is_conv(const struct ir_fn *f, ir_ref r, bool (*takes)(int64_t groups, const int64_t *size), enum kernel k)
{
	const struct ir_inst *w = ir_at(f, ir_operand(f, r, 1));
	const struct ir_conv *c = ir_conv(ir_at(f, r));
	int64_t size[4];
	for (uint32_t i = 0; i < 4; i++)
		if (!dim_is_const(f->dims, w->type.dims[i], &size[i]))
			return false;
	return w->build_time && takes(c->groups, size) &&
	       (kernel_info(k)->operands[1].elem != DT_TRIT || packs_windows(size, size[1] == 1 ? c->groups : 1, c->dilation[1]));
}

static bool takes_conv(int64_t groups, const int64_t *size)
{
	(void)groups, (void)size;
	return true;
}
static bool takes_dense(int64_t groups, const int64_t *size)
{
	(void)size;
	return groups == 1;
}
static bool takes_groups(int64_t groups, const int64_t *size) { return groups > 1 && size[1] > 1; }
static bool takes_depthwise(int64_t groups, const int64_t *size) { return size[1] == 1 && groups == size[0]; }

static bool fits_conv(const struct ir_fn *f, ir_ref r, enum kernel k) { return is_conv(f, r, takes_conv, k); }
static bool fits_dense(const struct ir_fn *f, ir_ref r, enum kernel k) { return is_conv(f, r, takes_dense, k); }
static bool fits_groups(const struct ir_fn *f, ir_ref r, enum kernel k) { return is_conv(f, r, takes_groups, k); }
static bool fits_depthwise(const struct ir_fn *f, ir_ref r, enum kernel k) { return is_conv(f, r, takes_depthwise, k); }

/* With more channels, or more results than a panel has columns, a convolution is about as fast. */
enum { FEW_CHANNELS = 48, FEW_RESULTS = 32 };

/* A window of one element at every position, with few channels. */
static bool fits_pointwise(const struct ir_fn *f, ir_ref r, enum kernel k)
{
	const struct ir_conv *c = ir_conv(ir_at(f, r));
	const struct hir_type *x = &ir_at(f, ir_operand(f, r, 0))->type, *w = &ir_at(f, ir_operand(f, r, 1))->type, *y = &ir_at(f, r)->type;
	int64_t size;
	bool fits = fits_dense(f, r, k) && dim_is_const(f->dims, w->dims[1], &size) && size <= FEW_CHANNELS &&
		    dim_is_const(f->dims, w->dims[0], &size) && size <= FEW_RESULTS;
	for (uint32_t i = 0; fits && i < 2; i++)
		fits = dim_is_const(f->dims, w->dims[2 + i], &size) && size == 1 && c->stride[i] == 1 && c->pad[2 * i] == 0 &&
		       dim_eq(x->dims[2 + i], y->dims[2 + i]);
	return fits;
}

/* True if the leading dims of x, without its heads, are those of the result. */
static bool kernel_match_has_batch(const struct hir_type *x, const struct hir_type *y)
{
	for (uint32_t k = 0; k + 3 < y->rank; k++)
		if (x->rank != y->rank || !dim_eq(x->dims[k], y->dims[k]))
			return false;
	return true;
}

static dim kernel_match_from_end(const struct hir_type *t, uint32_t k) { return t->dims[t->rank - k]; }

/* Keys and values have the same heads: one for each head of the queries, or for a group of them. */
static bool has_heads(const struct ir_fn *f, const struct hir_type *q, const struct hir_type *k, const struct hir_type *v)
{
	int64_t heads, own;
	if (q->rank < 3)
		return k->rank == 2 && v->rank == 2;
	if (k->rank != q->rank || v->rank != q->rank || !dim_eq(kernel_match_from_end(k, 3), kernel_match_from_end(v, 3)))
		return false;
	return dim_eq(kernel_match_from_end(q, 3), kernel_match_from_end(k, 3)) ||
	       (dim_is_const(f->dims, kernel_match_from_end(q, 3), &heads) && dim_is_const(f->dims, kernel_match_from_end(k, 3), &own) &&
		own > 0 && heads % own == 0);
}

static bool is_size_or_1(const struct ir_fn *f, dim x, dim size)
{
	int64_t n;
	return dim_eq(x, size) || (dim_is_const(f->dims, x, &n) && n == 1);
}

/* The mask has the dims of the scores or 1 in their place; all batch dims or none. */
static bool is_mask(const struct ir_fn *f, const struct hir_type *m, const struct hir_type *y, dim keys)
{
	int64_t n;
	bool batch = kernel_match_has_batch(m, y), shared = true;
	for (uint32_t k = 4; k <= m->rank; k++)
		shared = shared && dim_is_const(f->dims, kernel_match_from_end(m, k), &n) && n == 1;
	return (batch || shared) && m->rank >= 1 && is_size_or_1(f, kernel_match_from_end(m, 1), keys) &&
	       (m->rank < 2 || is_size_or_1(f, kernel_match_from_end(m, 2), kernel_match_from_end(y, 2))) &&
	       (m->rank < 3 || is_size_or_1(f, kernel_match_from_end(m, 3), kernel_match_from_end(y, 3)));
}

static bool is_attention(const struct ir_fn *f, ir_ref r, uint32_t n_operands)
{
	const struct ir_inst *in = ir_at(f, r);
	const struct hir_type *x[3];
	int64_t features, values;
	if (in->n_operands != n_operands || in->type.elem != DT_FLOAT32)
		return false;
	for (uint32_t k = 0; k < 3; k++)
		x[k] = &ir_at(f, ir_operand(f, r, k))->type;
	return x[0]->rank == in->type.rank && kernel_match_has_batch(x[0], &in->type) && kernel_match_has_batch(x[1], &in->type) &&
	       kernel_match_has_batch(x[2], &in->type) &&
	       (in->type.rank < 3 || dim_eq(kernel_match_from_end(x[0], 3), kernel_match_from_end(&in->type, 3))) &&
	       has_heads(f, x[0], x[1], x[2]) && dim_is_const(f->dims, kernel_match_from_end(x[0], 1), &features) &&
	       dim_is_const(f->dims, kernel_match_from_end(x[2], 1), &values) && features <= TRI_ATTENTION_MOST &&
	       values <= TRI_ATTENTION_MOST;
}

static bool has_codes(const struct ir_fn *f, ir_ref r)
{
	ir_ref codes, scales;
	return kernel_match_find_codes(f, ir_operand(f, r, 1), &codes, &scales) &&
	       kernel_match_find_codes(f, ir_operand(f, r, 2), &codes, &scales);
}

/* Of a mask and of scales only if the kernel takes them. */
static bool fits_attention(const struct ir_fn *f, ir_ref r, enum kernel k)
{
	const struct ir_inst *in = ir_at(f, r);
	bool mask = kernel_has(k, "mask");
	return is_attention(f, r, mask ? 4 : 3) && (!kernel_has(k, "k_scale") || has_codes(f, r)) &&
	       (!mask || is_mask(f, &ir_at(f, ir_operand(f, r, 3))->type, &in->type,
				 kernel_match_from_end(&ir_at(f, ir_operand(f, r, 1))->type, 2)));
}

static bool (*const fits_of[])(const struct ir_fn *f, ir_ref r, enum kernel k) = {
#define KERNEL(name, record, fits, ...) [KERNEL_##name] = fits_##fits,
#include "backend/runtime/kernels/kernels.def"
#undef KERNEL
};

/* Of the operands of r; dims choose those of some. */
static bool has_elems(const struct ir_fn *f, ir_ref r, enum kernel kernel)
{
	for (uint32_t k = 0; k < ir_at(f, r)->n_operands && k < KERNEL_OPERANDS; k++) {
		int want = kernel_info(kernel)->operands[k].elem;
		if (!kernel_record(kernel)->operands[k].elem && want < DT_COUNT && ir_at(f, ir_operand(f, r, k))->type.elem != (dtype)want)
			return false;
	}
	return true;
}

/* ---- the kernel of an operation ---- */

static bool has_layouts(const struct ir_fn *f, enum kernel kernel, const struct kernel_match *m)
{
	for (uint32_t k = 0; k < m->n_operands; k++) {
		const struct ir_inst *i = ir_at(f, m->operands[k]);
		if (!kernel_takes_layout(kernel, k, (enum layout)i->layout, i->type.rank))
			return false;
	}
	return true;
}

/* Keys and values are read where they are stored, and widened there; scales follow the operands. */
static void match_attention(const struct ir_fn *f, ir_ref r, bool codes, struct kernel_match *m)
{
	ir_ref scales;
	uint32_t n = m->n_operands;
	for (uint32_t k = 1; k < 3; k++) {
		ir_ref v = ir_operand(f, r, k);
		if (codes && kernel_match_find_codes(f, v, &v, &scales))
			m->operands[m->n_operands++] = scales;
		m->operands[k] = ir_below_reshapes(f, below_widening(f, v));
	}
	BUG_ON(codes && m->n_operands != n + 2);
}

static void match_operands(const struct ir_fn *f, ir_ref r, enum kernel kernel, struct kernel_match *m)
{
	enum ir_op op = ir_at(f, r)->op;
	m->n_operands = ir_at(f, r)->n_operands;
	for (uint32_t k = 0; k < m->n_operands; k++) {
		ir_ref o = ir_operand(f, r, k);
		m->operands[k] = ir_below_reshapes(f, op == OP_MATMUL && k == 1 ? below_broadcasts(f, o) : o);
	}
	if (op == OP_ATTENTION)
		match_attention(f, r, kernel_has(kernel, "k_scale"), m);
}

static bool kernel_match_find(const struct target *t, const struct ir_fn *f, ir_ref r, struct kernel_match *m, bool any_layout)
{
	const struct kernel_info *best = NULL;
	enum ir_op op = ir_at(f, r)->op;
	m->kernel = KERNEL_COUNT;
	for (enum kernel k = 0; k < KERNEL_COUNT; k++) {
		const struct kernel_info *i = kernel_info(k);
		if ((kernel_record(k)->op != op && kernel_record(k)->other_op != op) || !kernel_is_of(k, t) || !has_elems(f, r, k) ||
		    !fits_of[k](f, r, k) || (best && best->cost <= i->cost))
			continue;
		match_operands(f, r, k, m);
		if (!any_layout && !has_layouts(f, k, m))
			continue;
		best = i;
		m->kernel = k;
	}
	return best;
}

bool target_takes(const struct target *t, const struct ir_fn *f, ir_ref r, struct kernel_match *m)
{
	struct kernel_match own;
	return kernel_match_find(t, f, r, m ? m : &own, true);
}

bool target_multiplies(const struct target *t, dtype w, enum layout layout)
{
	for (enum kernel k = 0; k < KERNEL_COUNT; k++) {
		const struct kernel_stored *o = &kernel_info(k)->operands[1];
		if (kernel_record(k)->op == OP_MATMUL && kernel_is_of(k, t) && o->elem == (int)w && o->layout == (int)layout)
			return true;
	}
	return false;
}

bool kernel_for(const struct target *t, const struct ir_fn *f, ir_ref r, struct kernel_match *m)
{
	struct kernel_match own;
	return kernel_match_find(t, f, r, m ? m : &own, false);
}

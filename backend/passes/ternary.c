/* Rewrites matrix products with dequantised operands for the micro-kernels:
 *
 *   x @ (float(t) * s)             ->  (x @ t) * s           s: one number, or one for each column
 *   (float(q) * a) @ (float(t)*s)  ->  float(q @ t) * a * s  q: int8 or trit; a: one number, or one for each row; q @ t is exact in int32
 *
 * also if an operand is transposed; and convolutions in the same way, with s one number or one for each channel of the result, and a one number
 * or one for each image, if the target has a kernel for the result. This changes the order of float operations, which the section "Numeric meaning" of the language allows:
 * each product in the sum has one rounding less. */
#include "backend/passes/passes.h"
#include "backend/kernels/kernel.h"
#include "base/bug.h"

enum { SCALE_NONE, SCALE_SCALAR, SCALE_VECTOR }; /* SCALE_VECTOR: along `axis` */
struct quantised {
	ir_ref base; /* trits or int8 */
	int scale;
	ir_ref factor;
	uint32_t axis;
};

static bool ternary_is_one(struct ir_fn *f, dim d) { return dim_eq(d, dim_const(f->dims, 1)); }

static ir_ref reshape(struct ir_fn *f, ir_ref x, uint32_t rank, dim size)
{
	struct hir_type t = {.elem = ir_at(f, x)->type.elem, .rank = (uint8_t)rank, .dims = {size}};
	return ir_type_same(&t, &ir_at(f, x)->type) ? x : ir_emit(f, OP_RESHAPE, &t, &x, 1, ir_at(f, x)->origin);
}

/* If b is a broadcast scalar or vector, stores it as the factor of q and returns true. */
static bool match_factor(struct ir_fn *f, ir_ref b, struct quantised *q)
{
	if (ir_at(f, b)->op != OP_BROADCAST || !ir_shapes_proven(f, b))
		return false;
	ir_ref source = ir_operand(f, b, 0);
	const struct hir_type t = ir_at(f, source)->type;
	uint32_t wide = 0, axis = 0;
	for (uint32_t k = 0; k < t.rank; k++)
		if (!ternary_is_one(f, t.dims[k]))
			wide++, axis = k;
	if (wide > 1)
		return false;
	q->scale = wide ? SCALE_VECTOR : SCALE_SCALAR;
	q->axis = axis + ir_at(f, b)->type.rank - t.rank;
	q->factor = wide ? reshape(f, source, 1, t.dims[axis]) : reshape(f, source, 0, (dim){0});
	return true;
}

static bool match_quantised(struct ir_fn *f, ir_ref r, struct quantised *q);

static bool match_product(struct ir_fn *f, ir_ref a, ir_ref b, struct quantised *q)
{
	return match_quantised(f, a, q) && q->scale == SCALE_NONE && match_factor(f, b, q);
}

static bool match_transpose(struct ir_fn *f, ir_ref r, struct quantised *q)
{
	const struct ir_inst i = *ir_at(f, r);
	if (i.type.rank != 2 || ir_perm(&i)->perm[0] != 1 || !match_quantised(f, ir_operand(f, r, 0), q))
		return false;
	struct hir_type t = i.type;
	t.elem = ir_at(f, q->base)->type.elem;
	q->base = ir_emit(f, OP_TRANSPOSE, &t, &q->base, 1, i.origin);
	ir_set_perm(f, q->base, (struct ir_perm){{1, 0}});
	q->axis = 1 - q->axis;
	return true;
}

/* If float tensor r consists of quantised elements and a factor, stores them in q and returns true. Otherwise the instructions that were
 * emitted are dead. Recursion is shallow: one product, and transposes, of which simplify.c leaves at most one in a row. */
static bool match_quantised(struct ir_fn *f, ir_ref r, struct quantised *q)
{
	const struct ir_inst i = *ir_at(f, r);
	if (dtype_class(i.type.elem) != DTC_FLOAT || !ir_shapes_proven(f, r))
		return false;
	if (i.op == OP_CAST) {
		*q = (struct quantised){.base = ir_operand(f, r, 0)};
		dtype e = ir_at(f, q->base)->type.elem;
		return e == DT_TRIT || e == DT_INT8;
	}
	if (i.op == OP_TRANSPOSE)
		return match_transpose(f, r, q);
	if (i.op != OP_MUL)
		return false;
	ir_ref a = ir_operand(f, r, 0), b = ir_operand(f, r, 1);
	return match_product(f, a, b, q) || match_product(f, b, a, q);
}

/* Multiplies y by the factor of an operand, a vector of which is along `axis` of y. */
static ir_ref rescale(struct ir_fn *f, ir_ref y, const struct quantised *q, uint32_t axis)
{
	if (q->scale == SCALE_NONE)
		return y;
	const struct ir_inst i = *ir_at(f, y);
	ir_ref s = q->factor;
	if (q->scale == SCALE_VECTOR && axis + 1u < i.type.rank) {
		dim one = dim_const(f->dims, 1);
		struct hir_type column = {
			.elem = i.type.elem, .rank = (uint8_t)(i.type.rank - axis), .dims = {ir_at(f, s)->type.dims[0], one, one, one}};
		s = ir_emit(f, OP_RESHAPE, &column, &s, 1, i.origin);
	}
	ir_ref operands[2] = {y, ir_emit(f, OP_BROADCAST, &i.type, &s, 1, i.origin)};
	return ir_emit(f, OP_MUL, &i.type, operands, 2, i.origin);
}

static bool is_trit(const struct ir_fn *f, ir_ref r) { return ir_at(f, r)->type.elem == DT_TRIT; }

/* True if int32 holds any sum of K products of int8 and trit. */
static bool sums_fit(struct ir_fn *f, ir_ref a)
{
	int64_t k;
	return dim_is_const(f->dims, ir_at(f, a)->type.dims[1], &k) && k < 1 << 24; /* -128 * -1, 2^24 times, is 2^31 */
}

static bool scales_only(const struct quantised *q, uint32_t axis) { return q->scale != SCALE_VECTOR || q->axis == axis; }

/* (float(q) * a) @ w for trits w. The left operand may also be trits. */
static ir_ref integer_product(struct ir_fn *f, const struct ir_inst *i, ir_ref a, ir_ref w)
{
	struct quantised qa = {.base = a};
	if (!is_trit(f, a) && !match_quantised(f, a, &qa))
		return IR_NONE;
	if (!scales_only(&qa, 0) || !sums_fit(f, a))
		return IR_NONE;
	struct hir_type t = i->type;
	t.elem = DT_INT32;
	ir_ref operands[2] = {qa.base, w};
	ir_ref y = ir_emit(f, OP_MATMUL, &t, operands, 2, i->origin);
	return rescale(f, ir_emit(f, OP_CAST, &i->type, &y, 1, i->origin), &qa, 0);
}

static ir_ref float_product(struct ir_fn *f, const struct ir_inst *i, ir_ref a, ir_ref w)
{
	ir_ref y = integer_product(f, i, a, w), operands[2] = {a, w};
	return y != IR_NONE || is_trit(f, a) ? y : ir_emit(f, OP_MATMUL, &i->type, operands, 2, i->origin);
}

static ir_ref rewrite_product(struct rewrite *w, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	if (i.op != OP_MATMUL || i.type.rank != 2 || dtype_class(i.type.elem) != DTC_FLOAT)
		return IR_NONE;
	struct ir_fn *f = w->f;
	struct quantised q;
	ir_ref a = rewrite_operand(w, r, 0), b = rewrite_operand(w, r, 1), operands[2] = {a, b};
	if (match_quantised(f, b, &q) && is_trit(f, q.base) && scales_only(&q, 1)) {
		ir_ref y = float_product(f, &i, a, q.base);
		return y == IR_NONE ? y : rescale(f, y, &q, 1);
	}
	if (is_trit(f, b))
		return integer_product(f, &i, a, b);
	if (!match_quantised(f, a, &q) || !is_trit(f, q.base) || !scales_only(&q, 0))
		return IR_NONE;
	operands[0] = q.base;
	return rescale(f, ir_emit(f, OP_MATMUL, &i.type, operands, 2, i.origin), &q, 0);
}

/* ---- convolutions ---- */

static ir_ref ternary_emit_conv(struct ir_fn *f, const struct ir_inst *i, dtype elem, ir_ref x, ir_ref w)
{
	struct hir_type t = i->type;
	t.elem = elem;
	ir_ref operands[2] = {x, w}, y = ir_emit(f, OP_CONV, &t, operands, 2, i->origin);
	ir_set_conv(f, y, *ir_conv(i));
	return y;
}

/* True if int32 holds the sums of a window. */
static bool window_sums_fit(struct ir_fn *f, ir_ref w)
{
	const dim *d = ir_at(f, w)->type.dims;
	int64_t terms;
	return dim_is_const(f->dims, dim_product(f->dims, (dim[]){d[1], d[2], d[3]}, 3), &terms) && terms < 1 << 24;
}

/* Returns y, the last instruction, if the target has a kernel for it. Otherwise removes it, because after the pass `legalize` even a dead
 * convolution must be legal, and returns IR_NONE. */
static ir_ref keep_if_taken(struct ir_fn *f, const struct target *t, ir_ref y)
{
	if (target_takes(t, f, y, NULL))
		return y;
	f->n_operands -= ir_at(f, y)->n_operands;
	f->n_insts = y;
	return IR_NONE;
}

/* float(q) * a convolved with trits, or IR_NONE if the target has no kernel for it. */
static ir_ref integer_conv(struct ir_fn *f, const struct target *t, const struct ir_inst *i, ir_ref x, ir_ref trits)
{
	struct quantised q;
	if (!match_quantised(f, x, &q) || !scales_only(&q, 0) || !window_sums_fit(f, trits))
		return IR_NONE;
	ir_ref y = keep_if_taken(f, t, ternary_emit_conv(f, i, DT_INT32, q.base, trits));
	return y == IR_NONE ? y : rescale(f, ir_emit(f, OP_CAST, &i->type, &y, 1, i->origin), &q, 0);
}

static ir_ref rewrite_conv(struct rewrite *w, const struct target *t, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	if (dtype_class(i.type.elem) != DTC_FLOAT)
		return IR_NONE;
	struct ir_fn *f = w->f;
	ir_ref x = rewrite_operand(w, r, 0), trits = rewrite_operand(w, r, 1);
	struct quantised q = {.base = trits};
	if (!is_trit(f, trits) && (!match_quantised(f, trits, &q) || !is_trit(f, q.base) || !scales_only(&q, 0)))
		return IR_NONE;
	ir_ref y = integer_conv(f, t, &i, x, q.base);
	if (y == IR_NONE && !is_trit(f, trits))
		y = keep_if_taken(f, t, ternary_emit_conv(f, &i, i.type.elem, x, q.base));
	return y == IR_NONE ? y : rescale(f, y, &q, 1);
}

uint32_t pass_ternary(struct ir_fn *f, struct pass_context *c)
{
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		w.map[r] = ir_at(&w.old, r)->op == OP_CONV ? rewrite_conv(&w, c->target, r) : rewrite_product(&w, r);
		if (w.map[r] == IR_NONE)
			rewrite_copy(&w, r);
		else
			changes++;
	}
	rewrite_end(&w);
	return changes;
}

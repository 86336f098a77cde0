/* Products with dequantised operands, brought to the form that the micro-kernels take:
 *
 *   x @ (float(t) * s)             ->  (x @ t) * s          s one number, or one for each column
 *   (float(q) * a) @ (float(t)*s)  ->  float(q @ t) * a * s q int8 or trit, a one number, or one for each row: the product in int32 is exact
 *
 * through transposes of matrices. It changes the order of float operations, as section "Numeric meaning" of the language allows: each
 * product in the sum loses one rounding. */
#include "backend/passes/passes.h"
#include "base/bug.h"

enum { SCALE_NONE, SCALE_ONE, SCALE_ALONG }; /* no factor; a scalar; a vector along `axis` */
struct quantised {
	ir_ref base; /* the trits or int8 */
	int scale;
	ir_ref factor;
	uint32_t axis;
};

static bool is_one(struct ir_fn *f, dim d) { return dim_eq(d, dim_const(f->dims, 1)); }

static ir_ref reshaped(struct ir_fn *f, ir_ref x, uint32_t rank, dim size)
{
	struct hir_type t = {.elem = ir_at(f, x)->type.elem, .rank = (uint8_t)rank, .dims = {size}};
	return ir_type_same(&t, &ir_at(f, x)->type) ? x : ir_emit(f, OP_RESHAPE, &t, &x, 1, ir_at(f, x)->at);
}

/* Is `b`, of rank 2, a scalar or vector broadcast? Then into q. */
static bool factor_of(struct ir_fn *f, ir_ref b, struct quantised *q)
{
	if (ir_at(f, b)->op != OP_BROADCAST || !ir_shapes_proven(f, b))
		return false;
	ir_ref source = ir_operand(f, b, 0);
	const struct hir_type t = ir_at(f, source)->type;
	uint32_t wide = 0, axis = 0;
	for (uint32_t k = 0; k < t.rank; k++)
		if (!is_one(f, t.dims[k]))
			wide++, axis = k + 2 - t.rank;
	if (wide > 1)
		return false;
	q->scale = wide ? SCALE_ALONG : SCALE_ONE;
	q->axis = axis;
	q->factor = wide ? reshaped(f, source, 1, t.dims[axis + t.rank - 2]) : reshaped(f, source, 0, (dim){0});
	return true;
}

static bool quantised(struct ir_fn *f, ir_ref r, struct quantised *q);

static bool quantised_product(struct ir_fn *f, ir_ref a, ir_ref b, struct quantised *q)
{
	return quantised(f, a, q) && q->scale == SCALE_NONE && factor_of(f, b, q);
}

static bool quantised_transpose(struct ir_fn *f, ir_ref r, struct quantised *q)
{
	const struct ir_inst i = *ir_at(f, r);
	if (i.ints[0] != 1 || !quantised(f, ir_operand(f, r, 0), q))
		return false;
	struct hir_type t = i.type;
	t.elem = ir_at(f, q->base)->type.elem;
	q->base = ir_emit(f, OP_TRANSPOSE, &t, &q->base, 1, i.at);
	ir_at(f, q->base)->ints[0] = 1;
	q->axis = 1 - q->axis;
	return true;
}

/* Float matrix r as quantised elements and a factor. Nothing is lost when it is none: what was emitted is dead. Depth: one product, and
 * transposes, of which simplify.c leaves at most one in a row. */
static bool quantised(struct ir_fn *f, ir_ref r, struct quantised *q)
{
	const struct ir_inst i = *ir_at(f, r);
	if (i.type.rank != 2 || dtype_class(i.type.elem) != DTC_FLOAT || !ir_shapes_proven(f, r))
		return false;
	if (i.op == OP_CAST) {
		*q = (struct quantised){.base = ir_operand(f, r, 0)};
		dtype e = ir_at(f, q->base)->type.elem;
		return e == DT_TRIT || e == DT_INT8;
	}
	if (i.op == OP_TRANSPOSE)
		return quantised_transpose(f, r, q);
	if (i.op != OP_MUL)
		return false;
	ir_ref a = ir_operand(f, r, 0), b = ir_operand(f, r, 1);
	return quantised_product(f, a, b, q) || quantised_product(f, b, a, q);
}

/* y times the factor of an operand; along rows for the left operand, columns for the right. */
static ir_ref rescaled(struct ir_fn *f, ir_ref y, const struct quantised *q)
{
	if (q->scale == SCALE_NONE)
		return y;
	const struct ir_inst i = *ir_at(f, y);
	ir_ref s = q->factor;
	if (q->scale == SCALE_ALONG && q->axis == 0) {
		struct hir_type column = {.elem = i.type.elem, .rank = 2, .dims = {ir_at(f, s)->type.dims[0], dim_const(f->dims, 1)}};
		s = ir_emit(f, OP_RESHAPE, &column, &s, 1, i.at);
	}
	ir_ref operands[2] = {y, ir_emit(f, OP_BROADCAST, &i.type, &s, 1, i.at)};
	return ir_emit(f, OP_MUL, &i.type, operands, 2, i.at);
}

static bool is_trit(const struct ir_fn *f, ir_ref r) { return ir_at(f, r)->type.elem == DT_TRIT; }

/* May K products of these be summed in int32? */
static bool sums_fit(struct ir_fn *f, ir_ref a)
{
	int64_t k;
	return dim_is_const(f->dims, ir_at(f, a)->type.dims[1], &k) && k < 1 << 24; /* -128 * -1, 2^24 times, is 2^31 */
}

static bool rows_only(const struct quantised *q, uint32_t axis) { return q->scale != SCALE_ALONG || q->axis == axis; }

/* (float(q) * a) @ w, w trits already; q may stand there itself, when it was w that was dequantised */
static ir_ref integer_product(struct ir_fn *f, const struct ir_inst *i, ir_ref a, ir_ref w)
{
	struct quantised qa = {.base = a};
	if (!is_trit(f, a) && !quantised(f, a, &qa))
		return IR_NONE;
	if (!rows_only(&qa, 0) || !sums_fit(f, a))
		return IR_NONE;
	struct hir_type t = i->type;
	t.elem = DT_INT32;
	ir_ref operands[2] = {qa.base, w};
	ir_ref y = ir_emit(f, OP_MATMUL, &t, operands, 2, i->at);
	return rescaled(f, ir_emit(f, OP_CAST, &i->type, &y, 1, i->at), &qa);
}

static ir_ref float_product(struct ir_fn *f, const struct ir_inst *i, ir_ref a, ir_ref w)
{
	ir_ref y = integer_product(f, i, a, w), operands[2] = {a, w};
	return y != IR_NONE || is_trit(f, a) ? y : ir_emit(f, OP_MATMUL, &i->type, operands, 2, i->at);
}

static ir_ref fused(struct rewrite *w, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	if (i.op != OP_MATMUL || i.type.rank != 2 || dtype_class(i.type.elem) != DTC_FLOAT)
		return IR_NONE;
	struct ir_fn *f = w->f;
	struct quantised q;
	ir_ref a = rewrite_operand(w, r, 0), b = rewrite_operand(w, r, 1), operands[2] = {a, b};
	if (quantised(f, b, &q) && is_trit(f, q.base) && rows_only(&q, 1)) {
		ir_ref y = float_product(f, &i, a, q.base);
		return y == IR_NONE ? y : rescaled(f, y, &q);
	}
	if (is_trit(f, b))
		return integer_product(f, &i, a, b);
	if (!quantised(f, a, &q) || !is_trit(f, q.base) || !rows_only(&q, 0))
		return IR_NONE;
	operands[0] = q.base;
	return rescaled(f, ir_emit(f, OP_MATMUL, &i.type, operands, 2, i.at), &q);
}

bool pass_ternary(struct ir_fn *f, struct pass_context *c)
{
	(void)c;
	struct rewrite w;
	bool changed = false;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		w.map[r] = fused(&w, r);
		if (w.map[r] == IR_NONE)
			rewrite_copy(&w, r);
		else
			changed = true;
	}
	rewrite_end(&w);
	return changed;
}

/* Algebraic identities that are exact under IEEE 754. For example x + -0 is x, but x + 0 is not: for x = -0 it is 0. */
#include <math.h>
#include "backend/ir/tensor.h"
#include "backend/passes/passes.h"
#include "base/arena.h"
#include "base/bug.h"

/* ---- element-wise ---- */

static bool is_splat(const struct ir_fn *f, ir_ref r, double want)
{
	double v;
	return ir_splat_value(f, r, &v) && v == want && signbit(v) == signbit(want);
}

static bool is_lossless(dtype from, dtype to)
{
	if (from == DT_BOOL)
		return to != DT_TRIT;
	if (from == DT_INT64 || (from == DT_INT32 && to == DT_FLOAT32))
		return from == to;
	return dtype_widens(from, to);
}

static ir_ref simplify_cast(struct ir_fn *f, const struct ir_inst *i, ir_ref x)
{
	if (ir_at(f, x)->type.elem == i->type.elem)
		return x;
	if (ir_at(f, x)->op != OP_CAST)
		return IR_NONE;
	ir_ref inner = ir_operand(f, x, 0);
	dtype was = ir_at(f, inner)->type.elem;
	return was == i->type.elem && is_lossless(was, ir_at(f, x)->type.elem) ? inner : IR_NONE;
}

static bool simplify_is_float(const struct ir_inst *i) { return dtype_class(i->type.elem) == DTC_FLOAT; }

static ir_ref simplify_unary(struct ir_fn *f, const struct ir_inst *i, ir_ref x)
{
	const struct ir_inst *in = ir_at(f, x);
	if (i->op == OP_CAST)
		return simplify_cast(f, i, x);
	if (in->op != i->op)
		return IR_NONE;
	if (ir_op_traits(i->op) & INVOLUTION)
		return ir_operand(f, x, 0);
	return ir_op_traits(i->op) & IDEMPOTENT ? x : IR_NONE;
}

static ir_ref simplify_binary(struct ir_fn *f, const struct ir_inst *i, ir_ref a, ir_ref b)
{
	double none = simplify_is_float(i) ? -0.0 : 0;  /* the neutral element of addition */
	double ones = i->type.elem == DT_BOOL ? 1 : -1; /* all bits */
	if (a == b && (ir_op_traits(i->op) & IDEMPOTENT))
		return a;
	switch (i->op) {
	case OP_ADD: return is_splat(f, b, none) ? a : is_splat(f, a, none) ? b : IR_NONE;
	case OP_SUB: return is_splat(f, b, 0) ? a : IR_NONE;
	case OP_MUL:
		if (!simplify_is_float(i) && (is_splat(f, a, 0) || is_splat(f, b, 0)))
			return is_splat(f, a, 0) ? a : b;
		return is_splat(f, b, 1) ? a : is_splat(f, a, 1) ? b : IR_NONE;
	case OP_DIV:
	case OP_POW: return is_splat(f, b, 1) ? a : IR_NONE;
	case OP_FLOORDIV: return !simplify_is_float(i) && is_splat(f, b, 1) ? a : IR_NONE;
	case OP_AND: return is_splat(f, b, ones) || is_splat(f, a, 0) ? a : is_splat(f, a, ones) || is_splat(f, b, 0) ? b : IR_NONE;
	case OP_OR: return is_splat(f, b, 0) || is_splat(f, a, ones) ? a : is_splat(f, a, 0) || is_splat(f, b, ones) ? b : IR_NONE;
	case OP_XOR: return is_splat(f, b, 0) ? a : is_splat(f, a, 0) ? b : IR_NONE;
	case OP_SHL:
	case OP_SHR: return is_splat(f, b, 0) ? a : IR_NONE;
	default: return IR_NONE;
	}
}

static ir_ref simplify_select(struct ir_fn *f, ir_ref c, ir_ref a, ir_ref b)
{
	if (a == b || is_splat(f, c, 1))
		return a;
	return is_splat(f, c, 0) ? b : IR_NONE;
}

/* Returns x * (1/c) for x / c if c is a power of two and both c and 1/c are normal numbers, else IR_NONE. */
static ir_ref multiply_by_reciprocal(struct rewrite *w, const struct ir_inst *i, ir_ref a, ir_ref b)
{
	double v, low = i->type.elem == DT_FLOAT64 ? 0x1p-1000 : i->type.elem == DT_FLOAT16 ? 0x1p-13 : 0x1p-120;
	int e;
	if (!ir_splat_value(w->f, b, &v) || fabs(frexp(v, &e)) != 0.5 || fabs(v) < low || fabs(v) > 1 / low)
		return IR_NONE;
	struct hir_type t = {.elem = i->type.elem};
	void *data = arena_alloc(w->f->unit, 8, 8);
	elem_put_float(t.elem, data, 0, 1 / v);
	ir_ref c = ir_emit(w->f, OP_CONST, &t, NULL, 0, i->origin);
	ir_set_const(w->f, c, data);
	ir_ref operands[2] = {a, t.rank == i->type.rank ? c : ir_emit(w->f, OP_BROADCAST, &i->type, &c, 1, i->origin)};
	return ir_emit(w->f, OP_MUL, &i->type, operands, 2, i->origin);
}

/* ---- moves ---- */

static bool simplify_same_shape(const struct hir_type *a, const struct hir_type *b)
{
	struct hir_type t = *a;
	t.elem = b->elem;
	return ir_type_same(&t, b);
}

static ir_ref move_to_shape(struct rewrite *w, enum ir_op op, const struct ir_inst *i, ir_ref x)
{
	return simplify_same_shape(&ir_at(w->f, x)->type, &i->type) ? x : ir_emit(w->f, op, &i->type, &x, 1, i->origin);
}

/* Replaces broadcasts and reshapes of one element by one broadcast. */
static ir_ref simplify_splat(struct rewrite *w, const struct ir_inst *i, ir_ref x)
{
	ir_ref s = ir_splat(w->f, x);
	if (s == IR_NONE || ir_at(w->f, s)->type.rank || x == s)
		return IR_NONE;
	return move_to_shape(w, OP_BROADCAST, i, s);
}

static bool keeps_element_order(struct ir_fn *f, const struct ir_inst *i)
{
	int64_t last = -1, v;
	for (uint32_t k = 0; k < i->type.rank; k++) {
		if (dim_is_const(f->dims, i->type.dims[k], &v) && v == 1)
			continue;
		if (ir_perm(i)->perm[k] < last)
			return false;
		last = ir_perm(i)->perm[k];
	}
	return true;
}

static ir_ref simplify_transpose(struct rewrite *w, const struct ir_inst *i, ir_ref x, enum ir_op inner)
{
	if (keeps_element_order(w->f, i))
		return move_to_shape(w, OP_RESHAPE, i, x);
	const struct ir_inst in = *ir_at(w->f, x);
	if (inner != OP_TRANSPOSE)
		return IR_NONE;
	struct ir_perm perm = {0};
	bool same = true;
	for (uint32_t k = 0; k < i->type.rank; k++) {
		perm.perm[k] = ir_perm(&in)->perm[ir_perm(i)->perm[k]];
		same = same && perm.perm[k] == k;
	}
	ir_ref source = ir_operand(w->f, x, 0);
	if (same)
		return source;
	ir_ref r = ir_emit(w->f, OP_TRANSPOSE, &i->type, &source, 1, i->origin);
	ir_set_perm(w->f, r, perm);
	return r;
}

static ir_ref simplify_slice(struct rewrite *w, const struct ir_inst *i, ir_ref x)
{
	if (!simplify_same_shape(&ir_at(w->f, x)->type, &i->type))
		return IR_NONE;
	for (uint32_t k = 0; k < i->type.rank; k++)
		if (ir_slice(i)->step[k] != 1 || !dim_eq(ir_slice(i)->start[k], dim_const(w->f->dims, 0)))
			return IR_NONE;
	return x;
}

/* A reduction over dimensions of size 1 is a reshape. A float sum is not: it starts from 0 and makes 0 of -0. */
static ir_ref simplify_reduce(struct rewrite *w, const struct ir_inst *i, ir_ref x)
{
	const struct hir_type *t = &ir_at(w->f, x)->type;
	int64_t v;
	if (i->op == OP_ARGMAX || i->op == OP_ARGMIN || t->elem != i->type.elem)
		return IR_NONE;
	if (i->op == OP_REDUCE_SUM && simplify_is_float(i))
		return IR_NONE;
	for (uint32_t k = 0; k < t->rank; k++)
		if ((ir_axes(i)->mask >> k & 1) && (!dim_is_const(w->f->dims, t->dims[k], &v) || v != 1))
			return IR_NONE;
	return move_to_shape(w, OP_RESHAPE, i, x);
}

static ir_ref simplify_move(struct rewrite *w, ir_ref r, ir_ref x)
{
	const struct ir_inst copy = *ir_at(&w->old, r), *i = &copy;
	ir_ref splat = i->op == OP_BROADCAST || i->op == OP_RESHAPE || i->op == OP_TRANSPOSE || i->op == OP_SLICE ? simplify_splat(w, i, x)
														  : IR_NONE;
	if (splat != IR_NONE)
		return splat;
	enum ir_op inner = ir_shapes_proven(w->f, x) ? ir_at(w->f, x)->op : OP_COUNT;
	if (!ir_shapes_proven(&w->old, r))
		return IR_NONE;
	switch (i->op) {
	case OP_BROADCAST:
	case OP_RESHAPE:
		if (simplify_same_shape(&ir_at(w->f, x)->type, &i->type))
			return x;
		return inner == i->op ? move_to_shape(w, i->op, i, ir_operand(w->f, x, 0)) : IR_NONE;
	case OP_TRANSPOSE: return simplify_transpose(w, i, x, inner);
	case OP_SLICE: return simplify_slice(w, i, x);
	case OP_CONCAT: return i->n_operands == 1 && simplify_same_shape(&ir_at(w->f, x)->type, &i->type) ? x : IR_NONE;
	default: return ir_op_traits(i->op) & REDUCES ? simplify_reduce(w, i, x) : IR_NONE;
	}
}

/* Returns a value that may replace old instruction r, or IR_NONE. */
static ir_ref simplify(struct rewrite *w, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	if (!i.n_operands || ir_calls(i.op) || i.op == OP_RESULT)
		return IR_NONE;
	ir_ref a = rewrite_operand(w, r, 0);
	if (!(ir_op_traits(i.op) & EWISE))
		return simplify_move(w, r, a);
	if (i.n_operands == 1)
		return simplify_unary(w->f, &i, a);
	ir_ref b = rewrite_operand(w, r, 1);
	if (i.n_operands == 3)
		return simplify_select(w->f, a, b, rewrite_operand(w, r, 2));
	ir_ref s = simplify_binary(w->f, &i, a, b);
	return s == IR_NONE && i.op == OP_DIV ? multiply_by_reciprocal(w, &i, a, b) : s;
}

uint32_t pass_simplify(struct ir_fn *f, struct pass_context *c)
{
	(void)c;
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		ir_ref s = simplify(&w, r);
		if (s != IR_NONE && !ir_type_same(&ir_at(f, s)->type, &ir_at(&w.old, r)->type))
			s = IR_NONE; /* equal only at run time */
		if (s == IR_NONE) {
			rewrite_copy(&w, r);
			continue;
		}
		w.map[r] = s;
		changes++;
	}
	rewrite_end(&w);
	return changes;
}

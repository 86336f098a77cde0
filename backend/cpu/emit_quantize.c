/* Casts of bounded float32 to small integers, as clip(round(x)) of a quantizer: nothing needs to be clamped again, and one instruction
 * rounds and converts. It gives INT32_MIN for NaN, of which the lower half is 0, as a cast of NaN. */
#include "backend/cpu/emit_nest.h"
#include <math.h>

enum { CURRENT_ROUNDING = 4 };

struct bounds {
	uint32_t value; /* the expression that is clamped */
	double low, high;
	bool round;
};

static const struct loop_expr *operation(const struct loop_nest *n, uint32_t k, enum ir_op op)
{
	const struct loop_expr *x = &n->exprs[k];
	return x->kind == LOOP_OP && x->op == op && x->elem == DT_FLOAT32 ? x : NULL;
}

/* If expression *k is a minimum or maximum of something and a constant, returns that and sets *k to the other operand. */
static const struct loop_expr *clamp(const struct loop_nest *n, enum ir_op op, uint32_t *k)
{
	const struct loop_expr *x = operation(n, *k, op);
	for (int j = 0; x && j < 2; j++)
		if (n->exprs[x->args[j]].kind == LOOP_CONST) {
			*k = x->args[1 - j];
			return &n->exprs[x->args[j]];
		}
	return NULL;
}

static bool is_small_integer(dtype t) { return t != DT_BOOL && dtype_class(t) != DTC_FLOAT && dtype_size(t) <= 2; }

static bool is_whole(double v) { return v == floor(v); }

/* What the operand of a cast clamps, if its bounds fit `to`. Whole bounds clamp before rounding as after it. */
static bool find_bounds(const struct loop_nest *n, uint32_t operand, dtype to, struct bounds *b)
{
	double most = (double)dtype_largest_int(to), least = (double)dtype_least_int(to);
	uint32_t k = operand;
	const struct loop_expr *high = clamp(n, OP_MIN, &k), *low = clamp(n, OP_MAX, &k);
	if (!high)
		high = clamp(n, OP_MIN, &k);
	if (!low || !high || !(low->f <= high->f) || low->f < least || high->f > most)
		return false;
	const struct loop_expr *round = operation(n, k, OP_ROUND);
	*b = (struct bounds){round ? round->args[0] : k, low->f, high->f, round};
	return !round || (is_whole(low->f) && is_whole(high->f));
}

static LLVMValueRef convert_512(struct emit *e, LLVMValueRef v, bool round)
{
	LLVMValueRef args[] = {v, LLVMConstNull(type_lanes(e->i32, 16)), LLVMConstAllOnes(e->i16),
			       LLVMConstInt(e->i32, CURRENT_ROUNDING, 0)};
	return emit_intrinsic(e, round ? "llvm.x86.avx512.mask.cvtps2dq.512" : "llvm.x86.avx512.mask.cvttps2dq.512", args, 4, NULL, 0);
}

/* Returns v as int32. NULL: the target has no instruction for so many lanes. */
static LLVMValueRef convert(struct emit *e, LLVMValueRef v, bool round)
{
	uint32_t lanes = value_lanes(v), most = e->target->vector_bytes / 4;
	if (lanes == 16 && most >= 16)
		return convert_512(e, v, round);
	if (lanes == 8 && most >= 8)
		return emit_intrinsic(e, round ? "llvm.x86.avx.cvt.ps2dq.256" : "llvm.x86.avx.cvtt.ps2dq.256", &v, 1, NULL, 0);
	if (lanes == 4)
		return emit_intrinsic(e, round ? "llvm.x86.sse2.cvtps2dq" : "llvm.x86.sse2.cvttps2dq", &v, 1, NULL, 0);
	if (lanes != 1)
		return NULL;
	v = emit_set_lane(e, LLVMGetUndef(type_lanes(e->f32, 4)), v, 0);
	return emit_intrinsic(e, round ? "llvm.x86.sse.cvtss2si" : "llvm.x86.sse.cvttss2si", &v, 1, NULL, 0);
}

LLVMValueRef emit_bounded_cast(struct nest *s, uint32_t expr, uint32_t copy, uint32_t width)
{
	const struct loop_expr *x = &s->n->exprs[expr];
	struct emit *e = s->e;
	struct bounds b;
	if (x->kind != LOOP_OP || x->op != OP_CAST || !is_small_integer(x->elem) || !find_bounds(s->n, x->args[0], x->elem, &b))
		return NULL;
	LLVMValueRef v = body_value(s, b.value, copy, width);
	v = emit_max(e, DT_FLOAT32, v, emit_number(e, DT_FLOAT32, width, b.low, 0), true);
	v = emit_max(e, DT_FLOAT32, v, emit_number(e, DT_FLOAT32, width, b.high, 0), false);
	v = convert(e, v, b.round);
	return v ? LLVMBuildTrunc(e->builder, v, type_lanes(type_register(e, x->elem), width), "") : NULL;
}

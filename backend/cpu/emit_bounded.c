/* Bounded casts of float32 to small integers, as of a quantizer: one instruction rounds and converts. It gives INT32_MIN for NaN, of which the lower half is
 * 0, as a cast of NaN. */
#include "backend/cpu/emit.h"

enum { CURRENT_ROUNDING = 4 };

static LLVMValueRef convert_512(struct emit *e, LLVMValueRef v, bool nearest)
{
	LLVMValueRef args[] = {v, LLVMConstNull(type_lanes(e->i32, 16)), LLVMConstAllOnes(e->i16),
			       LLVMConstInt(e->i32, CURRENT_ROUNDING, 0)};
	return emit_intrinsic(e, nearest ? "llvm.x86.avx512.mask.cvtps2dq.512" : "llvm.x86.avx512.mask.cvttps2dq.512", args, 4, NULL, 0);
}

/* For so many lanes there is no instruction. */
static LLVMValueRef convert_lanes(struct emit *e, LLVMValueRef v, bool nearest)
{
	LLVMValueRef nan = LLVMBuildFCmp(e->builder, LLVMRealUNO, v, v, "");
	v = LLVMBuildSelect(e->builder, nan, LLVMConstNull(LLVMTypeOf(v)), v, "");
	if (nearest)
		v = emit_unary_intrinsic(e, "llvm.roundeven", v);
	return LLVMBuildFPToSI(e->builder, v, type_lanes(e->i32, value_lanes(v)), "");
}

static LLVMValueRef emit_bounded_convert(struct emit *e, LLVMValueRef v, bool nearest)
{
	uint32_t lanes = value_lanes(v), most = e->target->vector_bytes / 4;
	if (lanes == 16 && most >= 16)
		return convert_512(e, v, nearest);
	if (lanes == 8 && most >= 8)
		return emit_intrinsic(e, nearest ? "llvm.x86.avx.cvt.ps2dq.256" : "llvm.x86.avx.cvtt.ps2dq.256", &v, 1, NULL, 0);
	if (lanes == 4)
		return emit_intrinsic(e, nearest ? "llvm.x86.sse2.cvtps2dq" : "llvm.x86.sse2.cvttps2dq", &v, 1, NULL, 0);
	if (lanes != 1)
		return convert_lanes(e, v, nearest);
	v = emit_set_lane(e, LLVMGetUndef(type_lanes(e->f32, 4)), v, 0);
	return emit_intrinsic(e, nearest ? "llvm.x86.sse.cvtss2si" : "llvm.x86.sse.cvttss2si", &v, 1, NULL, 0);
}

LLVMValueRef emit_bounded_cast(struct emit *e, const struct loop_expr *x, LLVMValueRef v)
{
	uint32_t width = value_lanes(v);
	v = emit_max(e, DT_FLOAT32, v, emit_number(e, DT_FLOAT32, width, x->low, 0), true);
	v = emit_max(e, DT_FLOAT32, v, emit_number(e, DT_FLOAT32, width, x->high, 0), false);
	return LLVMBuildTrunc(e->builder, emit_bounded_convert(e, v, x->nearest), type_lanes(type_register(e, x->elem), width), "");
}

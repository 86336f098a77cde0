/* 16-bit floats. F16C converts float16 in one instruction. Otherwise integer arithmetic after Fabian Giesen's float/half
 * conversions does: it rounds to nearest even and preserves NaN, infinity and denormals. */
#include "backend/cpu/emit.h"

struct bits { /* builds integer expressions of one width */
	struct emit *e;
	uint32_t width;
};

static LLVMValueRef emit_half_num(const struct bits *b, uint32_t v) { return emit_splat(b->e, LLVMConstInt(b->e->i32, v, 0), b->width); }

static LLVMValueRef and (const struct bits *b, LLVMValueRef x, uint32_t v)
{
	return LLVMBuildAnd(b->e->builder, x, emit_half_num(b, v), "");
}
static LLVMValueRef emit_half_add(const struct bits *b, LLVMValueRef x, uint32_t v)
{
	return LLVMBuildAdd(b->e->builder, x, emit_half_num(b, v), "");
}
static LLVMValueRef shl(const struct bits *b, LLVMValueRef x, uint32_t v)
{
	return LLVMBuildShl(b->e->builder, x, emit_half_num(b, v), "");
}
static LLVMValueRef shr(const struct bits *b, LLVMValueRef x, uint32_t v)
{
	return LLVMBuildLShr(b->e->builder, x, emit_half_num(b, v), "");
}
static LLVMValueRef or (const struct bits *b, LLVMValueRef x, LLVMValueRef y) { return LLVMBuildOr(b->e->builder, x, y, ""); }

static LLVMValueRef emit_half_pick(const struct bits *b, LLVMIntPredicate p, LLVMValueRef x, uint32_t v, LLVMValueRef yes, LLVMValueRef no)
{
	return LLVMBuildSelect(b->e->builder, LLVMBuildICmp(b->e->builder, p, x, emit_half_num(b, v), ""), yes, no, "");
}

static LLVMValueRef emit_half_as_float(const struct bits *b, LLVMValueRef x)
{
	return LLVMBuildBitCast(b->e->builder, x, type_lanes(b->e->f32, b->width), "");
}

static LLVMValueRef as_bits(const struct bits *b, LLVMValueRef x)
{
	return LLVMBuildBitCast(b->e->builder, x, type_lanes(b->e->i32, b->width), "");
}

static LLVMValueRef half_to_float(const struct bits *b, LLVMValueRef h)
{
	LLVMValueRef o = shl(b, and(b, h, 0x7fff), 13), exponent = and(b, o, 0x7c00u << 13);
	LLVMValueRef normal = emit_half_add(b, o, (127 - 15) << 23), special = emit_half_add(b, normal, (128 - 16) << 23);
	LLVMValueRef magic = emit_half_as_float(b, emit_half_num(b, 113u << 23));
	LLVMValueRef small = as_bits(b, LLVMBuildFSub(b->e->builder, emit_half_as_float(b, emit_half_add(b, normal, 1u << 23)), magic, ""));
	o = emit_half_pick(b, LLVMIntEQ, exponent, 0x7c00u << 13, special, emit_half_pick(b, LLVMIntEQ, exponent, 0, small, normal));
	return emit_half_as_float(b, or (b, o, shl(b, and(b, h, 0x8000), 16)));
}

static LLVMValueRef float_to_half(const struct bits *b, LLVMValueRef f)
{
	LLVMValueRef sign = and(b, f, 0x80000000u), x = and(b, f, 0x7fffffffu);
	LLVMValueRef special = emit_half_pick(b, LLVMIntUGT, x, 0x7f800000u, emit_half_num(b, 0x7e00), emit_half_num(b, 0x7c00));
	uint32_t denorm = ((127 - 15) + (23 - 10) + 1) << 23;
	LLVMValueRef sum = LLVMBuildFAdd(b->e->builder, emit_half_as_float(b, x), emit_half_as_float(b, emit_half_num(b, denorm)), "");
	LLVMValueRef small = emit_half_add(b, as_bits(b, sum), 0u - denorm);
	LLVMValueRef odd = and(b, shr(b, x, 13), 1);
	LLVMValueRef normal = shr(b, LLVMBuildAdd(b->e->builder, emit_half_add(b, x, ((uint32_t)(15 - 127) << 23) + 0xfff), odd, ""), 13);
	LLVMValueRef o =
		emit_half_pick(b, LLVMIntUGE, x, (127u + 16) << 23, special, emit_half_pick(b, LLVMIntULT, x, 113u << 23, small, normal));
	return or (b, o, shr(b, sign, 16));
}

static LLVMValueRef float_to_bfloat(const struct bits *b, LLVMValueRef f)
{
	LLVMValueRef odd = and(b, shr(b, f, 16), 1);
	LLVMValueRef rounded = shr(b, LLVMBuildAdd(b->e->builder, emit_half_add(b, f, 0x7fff), odd, ""), 16);
	LLVMValueRef nan = or (b, shr(b, f, 16), emit_half_num(b, 0x40));
	return emit_half_pick(b, LLVMIntUGT, and(b, f, 0x7fffffffu), 0x7f800000u, nan, rounded);
}

LLVMValueRef emit_from_half(struct emit *e, dtype elem, LLVMValueRef v)
{
	struct bits b = {e, value_lanes(v)};
	if (elem == DT_FLOAT16 && e->f16c) {
		LLVMTypeRef half = type_lanes(LLVMHalfTypeInContext(e->context), b.width);
		return LLVMBuildFPExt(e->builder, LLVMBuildBitCast(e->builder, v, half, ""), type_lanes(e->f32, b.width), "");
	}
	LLVMValueRef wide = LLVMBuildZExt(e->builder, v, type_lanes(e->i32, b.width), "");
	return elem == DT_FLOAT16 ? half_to_float(&b, wide) : emit_half_as_float(&b, shl(&b, wide, 16));
}

LLVMValueRef emit_to_half(struct emit *e, dtype elem, LLVMValueRef v)
{
	struct bits b = {e, value_lanes(v)};
	LLVMTypeRef i16 = type_lanes(e->i16, b.width);
	if (elem == DT_FLOAT16 && e->f16c) {
		LLVMTypeRef half = type_lanes(LLVMHalfTypeInContext(e->context), b.width);
		return LLVMBuildBitCast(e->builder, LLVMBuildFPTrunc(e->builder, v, half, ""), i16, "");
	}
	LLVMValueRef f = as_bits(&b, v);
	return LLVMBuildTrunc(e->builder, elem == DT_FLOAT16 ? float_to_half(&b, f) : float_to_bfloat(&b, f), i16, "");
}

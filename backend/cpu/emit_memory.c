/* Elements in memory and in registers. A bool is a byte in memory and i1 in a register; 16-bit floats are float32 in registers. */
#include "backend/cpu/emit.h"
#include "base/bug.h"

LLVMTypeRef type_memory(const struct emit *e, dtype elem)
{
	switch (elem) {
	case DT_BOOL:
	case DT_TRIT:
	case DT_UINT8:
	case DT_INT8: return e->i8;
	case DT_INT16:
	case DT_FLOAT16:
	case DT_BFLOAT16: return e->i16;
	case DT_INT32: return e->i32;
	case DT_INT64: return e->i64;
	case DT_FLOAT32: return e->f32;
	case DT_FLOAT64: return e->f64;
	default: BUG("element type");
	}
}

LLVMTypeRef type_register(const struct emit *e, dtype elem)
{
	if (elem == DT_BOOL)
		return e->i1;
	if (elem == DT_FLOAT16 || elem == DT_BFLOAT16)
		return e->f32;
	return type_memory(e, elem);
}

LLVMTypeRef type_lanes(LLVMTypeRef scalar, uint32_t width) { return width == 1 ? scalar : LLVMVectorType(scalar, width); }

uint32_t value_lanes(LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

LLVMValueRef emit_lane(struct emit *e, LLVMValueRef v, uint32_t lane)
{
	if (value_lanes(v) == 1)
		return v;
	return LLVMBuildExtractElement(e->builder, v, LLVMConstInt(e->i32, lane, 0), "");
}

LLVMValueRef emit_set_lane(struct emit *e, LLVMValueRef v, LLVMValueRef x, uint32_t lane)
{
	if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind)
		return x;
	return LLVMBuildInsertElement(e->builder, v, x, LLVMConstInt(e->i32, lane, 0), "");
}

LLVMValueRef emit_splat(struct emit *e, LLVMValueRef scalar, uint32_t width)
{
	if (width == 1 || value_lanes(scalar) == width)
		return scalar;
	LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), width);
	LLVMValueRef lanes[256];
	BUG_ON(width > 256);
	if (LLVMIsConstant(scalar)) {
		for (uint32_t k = 0; k < width; k++)
			lanes[k] = scalar;
		return LLVMConstVector(lanes, width);
	}
	LLVMValueRef one = LLVMBuildInsertElement(e->builder, LLVMGetPoison(type), scalar, LLVMConstInt(e->i32, 0, 0), "");
	return LLVMBuildShuffleVector(e->builder, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(e->i32, width)), "");
}

LLVMValueRef emit_offset(struct emit *e, dtype elem, LLVMValueRef ptr, LLVMValueRef elements)
{
	if (LLVMIsAConstantInt(elements) && LLVMConstIntGetSExtValue(elements) == 0)
		return ptr;
	return LLVMBuildInBoundsGEP2(e->builder, type_memory(e, elem), ptr, &elements, 1, "");
}

static LLVMValueRef from_memory(struct emit *e, dtype elem, LLVMValueRef v)
{
	if (elem == DT_BOOL)
		return LLVMBuildICmp(e->builder, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
	if (elem == DT_FLOAT16 || elem == DT_BFLOAT16)
		return emit_from_half(e, elem, v);
	return v;
}

static LLVMValueRef to_memory(struct emit *e, dtype elem, LLVMValueRef v)
{
	if (elem == DT_BOOL)
		return LLVMBuildZExt(e->builder, v, type_lanes(e->i8, value_lanes(v)), "");
	if (elem == DT_FLOAT16 || elem == DT_BFLOAT16)
		return emit_to_half(e, elem, v);
	return v;
}

static LLVMValueRef load_raw(struct emit *e, dtype elem, LLVMValueRef ptr, uint32_t width)
{
	LLVMValueRef v = LLVMBuildLoad2(e->builder, type_lanes(type_memory(e, elem), width), ptr, "");
	LLVMSetAlignment(v, (unsigned)dtype_size(elem));
	return v;
}

static LLVMValueRef lane_ptr(struct emit *e, dtype elem, LLVMValueRef ptr, LLVMValueRef stride, uint32_t lane)
{
	if (!stride)
		stride = emit_i64(e, 1);
	return emit_offset(e, elem, ptr, LLVMBuildMul(e->builder, stride, emit_i64(e, lane), ""));
}

LLVMValueRef emit_load(struct emit *e, dtype elem, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride)
{
	if (!stride || width == 1)
		return from_memory(e, elem, load_raw(e, elem, ptr, width));
	LLVMValueRef v = LLVMGetPoison(type_lanes(type_memory(e, elem), width));
	for (uint32_t k = 0; k < width; k++)
		v = emit_set_lane(e, v, load_raw(e, elem, lane_ptr(e, elem, ptr, stride, k), 1), k);
	return from_memory(e, elem, v);
}

LLVMValueRef emit_load_indexed(struct emit *e, dtype elem, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride, LLVMValueRef index,
			       LLVMValueRef scale)
{
	LLVMValueRef v = LLVMGetPoison(type_lanes(type_memory(e, elem), width));
	for (uint32_t k = 0; k < width; k++) {
		LLVMValueRef offset = LLVMBuildMul(e->builder, emit_lane(e, index, k), scale, "");
		LLVMValueRef p = emit_offset(e, elem, lane_ptr(e, elem, ptr, stride, k), offset);
		v = emit_set_lane(e, v, load_raw(e, elem, p, 1), k);
	}
	return from_memory(e, elem, v);
}

void emit_store(struct emit *e, dtype elem, LLVMValueRef value, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride)
{
	value = to_memory(e, elem, emit_splat(e, value, width));
	if (!stride || width == 1) {
		LLVMSetAlignment(LLVMBuildStore(e->builder, value, ptr), (unsigned)dtype_size(elem));
		return;
	}
	for (uint32_t k = 0; k < width; k++)
		LLVMSetAlignment(LLVMBuildStore(e->builder, emit_lane(e, value, k), lane_ptr(e, elem, ptr, stride, k)),
				 (unsigned)dtype_size(elem));
}

/* Tables of 16 or 32 float32, which are in one or two registers of 64 bytes. Scalar code on the same processor reads them from memory. */
#include "backend/cpu/emit.h"

enum { WIDE = 16, MOST = 2 * WIDE };

static LLVMValueRef constants(struct emit *e, const float *x, uint32_t n, bool vector)
{
	LLVMValueRef v[MOST];
	for (uint32_t i = 0; i < n; i++)
		v[i] = LLVMConstReal(e->f32, (double)x[i]);
	return vector ? LLVMConstVector(v, n) : LLVMConstArray(e->f32, v, n);
}

static LLVMValueRef in_memory(struct emit *e, const float *x, uint32_t n)
{
	LLVMValueRef data = constants(e, x, n, false), g = LLVMAddGlobal(e->module, LLVMTypeOf(data), "table");
	LLVMSetInitializer(g, data);
	LLVMSetGlobalConstant(g, 1);
	LLVMSetLinkage(g, LLVMPrivateLinkage);
	return g;
}

LLVMValueRef emit_lookup(struct emit *e, const float *x, uint32_t n, LLVMValueRef i)
{
	LLVMBuilderRef b = e->builder;
	uint32_t lanes = value_lanes(i);
	bool registers = lanes == WIDE && e->target->vector_bytes == WIDE * sizeof(float);
	if (registers && n == WIDE) {
		LLVMValueRef args[] = {constants(e, x, WIDE, true), i};
		return emit_intrinsic(e, "llvm.x86.avx512.permvar.sf.512", args, 2, NULL, 0);
	}
	if (registers) {
		LLVMValueRef args[] = {constants(e, x, WIDE, true), i, constants(e, x + WIDE, WIDE, true)};
		return emit_intrinsic(e, "llvm.x86.avx512.vpermi2var.ps.512", args, 3, NULL, 0);
	}
	LLVMValueRef table = in_memory(e, x, n), v = LLVMGetUndef(type_lanes(e->f32, lanes));
	for (uint32_t k = 0; k < lanes; k++) {
		LLVMValueRef at = LLVMBuildAnd(b, emit_lane(e, i, k), LLVMConstInt(e->i32, n - 1, 0), "");
		LLVMValueRef from = LLVMBuildGEP2(b, e->f32, table, &at, 1, "");
		v = emit_set_lane(e, v, LLVMBuildLoad2(b, e->f32, from, ""), k);
	}
	return v;
}

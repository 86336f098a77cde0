/* Accesses to buffers that are larger than caches: prefetches, and stores past the caches. Stored lines are seen by other threads after the next locked
 * instruction, with which every run and every task ends. */
#include "backend/cpu/emit_nest.h"

enum { QUARTER = LOOP_STREAMED_LANES / 2, INTO_L2 = 2 };

void emit_prefetch(struct nest *s, const struct loop_access *a, LLVMValueRef ptr)
{
	struct emit *e = s->e;
	LLVMTypeRef type = e->ptr;
	LLVMValueRef way = LLVMBuildMul(e->builder, emit_dim(e, a->stride[s->n->n_outer - 1]), emit_i64(e, a->prefetch), "");
	LLVMValueRef next = emit_offset(e, e->fn->buffers[a->buffer].type.elem, ptr, way);
	LLVMValueRef args[] = {next, LLVMConstInt(e->i32, 0, 0), LLVMConstInt(e->i32, INTO_L2, 0), LLVMConstInt(e->i32, 1, 0)};
	emit_intrinsic(e, "llvm.prefetch", args, 4, &type, 1);
}

static void store_past_caches(struct emit *e, LLVMValueRef value, LLVMValueRef ptr)
{
	unsigned kind = LLVMGetMDKindIDInContext(e->context, "nontemporal", sizeof "nontemporal" - 1);
	LLVMValueRef one = LLVMConstInt(e->i32, 1, 0), hint = LLVMMDNodeInContext(e->context, &one, 1);
	for (uint32_t k = 0; k < value_lanes(value); k += QUARTER) {
		LLVMValueRef lanes[QUARTER], undef = LLVMGetUndef(LLVMTypeOf(value));
		for (uint32_t i = 0; i < QUARTER; i++)
			lanes[i] = LLVMConstInt(e->i32, k + i, 0);
		LLVMValueRef part = LLVMBuildShuffleVector(e->builder, value, undef, LLVMConstVector(lanes, QUARTER), "");
		LLVMValueRef store = LLVMBuildStore(e->builder, part, emit_offset(e, DT_FLOAT32, ptr, emit_i64(e, k)));
		LLVMSetAlignment(store, QUARTER * sizeof(float));
		LLVMSetMetadata(store, kind, hint);
	}
}

void emit_store_streamed(struct emit *e, LLVMValueRef value, LLVMValueRef ptr, uint32_t width)
{
	LLVMBuilderRef b = e->builder;
	value = emit_splat(e, value, width);
	LLVMBasicBlockRef past = emit_block(e, "past"), plain = emit_block(e, "plain"), join = emit_block(e, "join");
	LLVMValueRef low = LLVMBuildAnd(b, LLVMBuildPtrToInt(b, ptr, e->i64, ""), emit_i64(e, QUARTER * sizeof(float) - 1), "");
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, low, emit_i64(e, 0), ""), past, plain);
	LLVMPositionBuilderAtEnd(b, past);
	store_past_caches(e, value, ptr);
	LLVMBuildBr(b, join);
	LLVMPositionBuilderAtEnd(b, plain);
	emit_store(e, DT_FLOAT32, value, ptr, width, NULL);
	LLVMBuildBr(b, join);
	LLVMPositionBuilderAtEnd(b, join);
}

/* Buffers that are larger than caches, of which the nests of a block read or write a row at a time. The next row is fetched while a row is computed, and
 * vectors are stored past the caches: else each line is read before it is written, and no nest of a block is long enough to hide that. Stored lines are seen by other threads after the next locked instruction, with which every run and every task ends. */
#include "backend/cpu/emit_nest.h"

enum { FAR_BYTES = 32 << 20, LEAST_ROW = 1 << 10, QUARTER = 4, INTO_L2 = 2 };

static bool is_far(struct emit *e, uint32_t buffer)
{
	const struct loop_buffer *b = &e->fn->buffers[buffer];
	int64_t bytes = (int64_t)dtype_size(b->type.elem), n;
	if (b->scope != SCOPE_GLOBAL)
		return false;
	for (uint32_t k = 0; k < b->type.rank; k++)
		if (!dim_known(e, b->type.dims[k], &n) || __builtin_mul_overflow(bytes, n, &bytes))
			return false;
	return bytes >= FAR_BYTES;
}

static bool is_slow(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_OP && (ir_op_traits(n->exprs[k].op) & EXPENSIVE))
			return true;
	return false;
}

void emit_fetch_next_row(struct nest *s, const struct loop_access *a, LLVMValueRef ptr)
{
	struct emit *e = s->e;
	int64_t row;
	if (s->n->n_outer == 0 || !is_slow(s->n) || !is_far(e, a->buffer) || !dim_known(e, a->stride[s->n->n_outer - 1], &row) ||
	    row < LEAST_ROW)
		return;
	LLVMTypeRef type = e->ptr;
	LLVMValueRef next = emit_offset(e, e->fn->buffers[a->buffer].type.elem, ptr, emit_i64(e, row));
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

bool emit_store_far(struct nest *s, uint32_t buffer, LLVMValueRef value, LLVMValueRef ptr, uint32_t width)
{
	struct emit *e = s->e;
	LLVMBuilderRef b = e->builder;
	if (s->n->n_outer == 0 || e->fn->buffers[buffer].type.elem != DT_FLOAT32 || width < 2 * QUARTER || !is_far(e, buffer))
		return false;
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
	return true;
}

/* The profile hook: code between two calls of the runtime. It reads one pointer of the context, and calls nothing if that is NULL. */
#include "backend/cpu/emit.h"
#include <stdio.h>

/* Returns tri_profile_begin(), or 0 if the hook is NULL. */
static LLVMValueRef emit_begin(struct emit *e)
{
	LLVMTypeRef type = LLVMFunctionType(e->i64, NULL, 0, 0);
	LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder), begin = emit_block(e, "profile"), run = emit_block(e, "statement");
	LLVMValueRef hook = LLVMBuildLoad2(e->builder, e->ptr, e->ctx, ""); /* the first member of struct tri_context */
	LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, hook, ""), run, begin);
	LLVMPositionBuilderAtEnd(e->builder, begin);
	LLVMValueRef now = LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_profile_begin", type), NULL, 0, "");
	LLVMBuildBr(e->builder, run);
	LLVMPositionBuilderAtEnd(e->builder, run);
	LLVMValueRef start = LLVMBuildPhi(e->builder, e->i64, "");
	LLVMAddIncoming(start, (LLVMValueRef[]){emit_i64(e, 0), now}, (LLVMBasicBlockRef[]){before, begin}, 2);
	return start;
}

/* if (start) SYMBOL_profile(ctx, k, start). The model's object defines that function, which adds the unit's descriptor: a fragment does not know the
 * library that it is linked into. */
static void emit_end(struct emit *e, uint32_t k, LLVMValueRef start)
{
	char name[512];
	LLVMTypeRef params[3] = {e->ptr, e->i32, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 3, 0);
	LLVMValueRef args[3] = {e->ctx, LLVMConstInt(e->i32, k, 0), start};
	snprintf(name, sizeof name, "%s_profile", e->fn->symbol);
	LLVMBasicBlockRef report = emit_block(e, "report"), after = emit_block(e, "end");
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntEQ, start, emit_i64(e, 0), ""), after, report);
	LLVMPositionBuilderAtEnd(e->builder, report);
	LLVMBuildCall2(e->builder, type, emit_declare(e, name, type), args, 3, "");
	LLVMBuildBr(e->builder, after);
	LLVMPositionBuilderAtEnd(e->builder, after);
}

void emit_profiled(struct emit *e, uint32_t k)
{
	LLVMValueRef start = emit_begin(e);
	emit_stmt(e, &e->fn->stmts[k]);
	emit_end(e, k, start);
}

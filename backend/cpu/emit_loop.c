/* Counted loops. The test is at the bottom, with a guard at the top if the trip count may be zero. */
#include "backend/cpu/emit.h"
#include <stdlib.h>
#include <string.h>

static bool always_iterates(LLVMValueRef start, LLVMValueRef end)
{
	return LLVMIsAConstantInt(start) && LLVMIsAConstantInt(end) && LLVMConstIntGetSExtValue(start) < LLVMConstIntGetSExtValue(end);
}

void emit_loop_open(struct emit *e, struct emit_loop *l, LLVMValueRef start, LLVMValueRef end, LLVMValueRef step, LLVMValueRef *carried,
		    uint32_t n)
{
	*l = (struct emit_loop){.carried = carried, .n_carried = n, .end = end, .step = step};
	l->before = LLVMGetInsertBlock(e->builder);
	l->body = emit_block(e, "loop");
	l->after = emit_block(e, "end");
	l->initial = n ? malloc(n * sizeof *l->initial) : NULL;
	if (n)
		memcpy(l->initial, carried, n * sizeof *carried);
	if (always_iterates(start, end))
		LLVMBuildBr(e->builder, l->body);
	else
		LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, start, end, ""), l->body, l->after);
	LLVMPositionBuilderAtEnd(e->builder, l->body);
	l->var = LLVMBuildPhi(e->builder, e->i64, "i");
	LLVMAddIncoming(l->var, &start, &l->before, 1);
	for (uint32_t k = 0; k < n; k++) {
		carried[k] = LLVMBuildPhi(e->builder, LLVMTypeOf(l->initial[k]), "acc");
		LLVMAddIncoming(carried[k], &l->initial[k], &l->before, 1);
	}
}

/* Returns the phi of carried value k, which follows that of the variable. */
static LLVMValueRef carried_phi(const struct emit_loop *l, uint32_t k)
{
	LLVMValueRef phi = LLVMGetNextInstruction(l->var);
	while (k-- > 0)
		phi = LLVMGetNextInstruction(phi);
	return phi;
}

void emit_loop_close(struct emit *e, struct emit_loop *l)
{
	LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
	LLVMValueRef next = LLVMBuildNSWAdd(e->builder, l->var, l->step, "");
	LLVMAddIncoming(l->var, &next, &latch, 1);
	for (uint32_t k = 0; k < l->n_carried; k++)
		LLVMAddIncoming(carried_phi(l, k), &l->carried[k], &latch, 1);
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, next, l->end, ""), l->body, l->after);
	LLVMPositionBuilderAtEnd(e->builder, l->after);
	bool guarded = LLVMIsConditional(LLVMGetBasicBlockTerminator(l->before));
	for (uint32_t k = 0; k < l->n_carried; k++) {
		LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(l->initial[k]), "");
		LLVMAddIncoming(phi, &l->carried[k], &latch, 1);
		if (guarded)
			LLVMAddIncoming(phi, &l->initial[k], &l->before, 1);
		l->carried[k] = phi;
	}
	free(l->initial);
}

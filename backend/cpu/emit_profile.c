/* The profile hook: code between two calls of the runtime. It reads one pointer of the context, and calls nothing if that is NULL. */
#include <stddef.h>
#include <stdio.h>
#include "backend/cpu/emit.h"

enum {
	COST_WORDS = sizeof(struct tri_profile_cost) / sizeof(int64_t),
	COST_TERMS = offsetof(struct tri_profile_cost, of) / sizeof(int64_t)
};
_Static_assert(COST_WORDS - COST_TERMS == LOOP_COSTS, "a sum for each cost");

/* Calls tri_profile_begin if the hook is set. Returns the struct tri_profile_cost, whose first member is 0 if it is not. */
static LLVMValueRef emit_begin(struct emit *e)
{
	LLVMTypeRef params[2] = {e->ptr, e->ptr}, type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 2, 0);
	LLVMValueRef start = emit_stack_array(e, e->i64, COST_WORDS), args[2] = {e->ctx, start};
	LLVMBasicBlockRef begin = emit_block(e, "profile"), run = emit_block(e, "statement");
	LLVMBuildStore(e->builder, emit_i64(e, 0), start);
	LLVMValueRef hook = LLVMBuildLoad2(e->builder, e->ptr, e->ctx, ""); /* the first member of struct tri_context */
	LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, hook, ""), run, begin);
	LLVMPositionBuilderAtEnd(e->builder, begin);
	LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_profile_begin", type), args, 2, "");
	LLVMBuildBr(e->builder, run);
	LLVMPositionBuilderAtEnd(e->builder, run);
	return start;
}

/* The sums of loops_cost. */
struct cost_values {
	struct emit *e;
	LLVMValueRef of[LOOP_COSTS];
};

static void emit_profile_add_term(void *ctx, enum loop_cost what, int64_t factor, int64_t divisor, const dim *dims, uint32_t n)
{
	struct cost_values *c = ctx;
	LLVMBuilderRef b = c->e->builder;
	LLVMValueRef term = emit_i64(c->e, factor);
	for (uint32_t k = 0; k < n; k++)
		term = LLVMBuildMul(b, term, emit_dim(c->e, dims[k]), "");
	if (divisor != 1)
		term = LLVMBuildUDiv(b, term, emit_i64(c->e, divisor), "");
	c->of[what] = LLVMBuildAdd(b, c->of[what], term, "");
}

/* if (cost->start_ns) SYMBOL_profile(ctx, k, cost). The model's object defines that function, which adds the unit's descriptor: a
 * fragment does not know the library that it is linked into. */
static void emit_end(struct emit *e, uint32_t k, LLVMValueRef start)
{
	char name[512];
	LLVMTypeRef params[3] = {e->ptr, e->i32, e->ptr};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 3, 0);
	struct cost_values cost = {.e = e};
	for (uint32_t i = 0; i < LOOP_COSTS; i++)
		cost.of[i] = emit_i64(e, 0);
	snprintf(name, sizeof name, "%s_profile", e->fn->symbol);
	LLVMBasicBlockRef report = emit_block(e, "report"), after = emit_block(e, "end");
	LLVMValueRef began = LLVMBuildLoad2(e->builder, e->i64, start, "");
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntEQ, began, emit_i64(e, 0), ""), after, report);
	LLVMPositionBuilderAtEnd(e->builder, report);
	e->dim_values.len = 0; /* this block may not dominate what follows */
	loops_cost(e->fn, &e->live, k, emit_profile_add_term, &cost);
	e->dim_values.len = 0;
	for (uint32_t i = 0; i < LOOP_COSTS; i++) {
		LLVMValueRef at = emit_i64(e, COST_TERMS + i);
		LLVMBuildStore(e->builder, cost.of[i], LLVMBuildGEP2(e->builder, e->i64, start, &at, 1, ""));
	}
	LLVMValueRef args[3] = {e->ctx, LLVMConstInt(e->i32, k, 0), start};
	LLVMBuildCall2(e->builder, type, emit_declare(e, name, type), args, 3, "");
	LLVMBuildBr(e->builder, after);
	LLVMPositionBuilderAtEnd(e->builder, after);
}

void emit_profiled(struct emit *e, uint32_t k)
{
	LLVMValueRef cost = emit_begin(e);
	emit_stmt(e, &e->fn->stmts[k]);
	emit_end(e, k, cost);
}

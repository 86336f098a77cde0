/* A nest or block whose outermost axis is parallel: a function computes one chunk of it, and tri_parallel calls it for all chunks. An iteration does not depend
 * on the chunk that it is in, so the number of threads changes no result. */
#include "backend/cpu/emit.h"
#include "backend/runtime/abi/unit.h"

static LLVMTypeRef chunk_type(struct emit *e)
{
	LLVMTypeRef params[2] = {e->ptr, e->i64};
	return LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 2, 0);
}

/* Emits chunk(unit, i): iterations i · step … min((i + 1) · step, extent) - 1 of the loop. */
static void emit_chunk(struct emit *e, const struct loop_stmt *s, const struct loop_axis *a, dim extent)
{
	LLVMValueRef args[2], values[UNIT_VALUES];
	LLVMGetParams(e->function, args);
	emit_load_unit(e, args[0], values);
	emit_use_unit(e, values);
	LLVMValueRef step = emit_i64(e, a->step), from = LLVMBuildMul(e->builder, args[1], step, "");
	LLVMValueRef room = LLVMBuildSub(e->builder, emit_dim(e, extent), from, "");
	LLVMValueRef whole = LLVMBuildICmp(e->builder, LLVMIntSGT, room, step, "");
	struct emit_range range = {a->of, from, LLVMBuildSelect(e->builder, whole, step, room, "")};
	e->range = &range;
	if (s->kind == STMT_BLOCK)
		emit_nested(e, &s->u.block);
	else
		emit_nest(e, &s->u.nest);
	e->range = NULL;
	LLVMBuildRetVoid(e->builder);
}

/* tri_parallel(ctx, chunk, unit, chunks) */
static void call_parallel(struct emit *e, LLVMValueRef chunk, LLVMValueRef unit, LLVMValueRef chunks)
{
	LLVMTypeRef params[4] = {e->ptr, e->ptr, e->ptr, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 4, 0);
	LLVMValueRef args[4] = {e->ctx, chunk, unit, chunks};
	LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_parallel", type), args, 4, "");
}

void emit_parallel(struct emit *e, const struct loop_stmt *s)
{
	const struct loop_nest *n = s->kind == STMT_BLOCK ? &s->u.block.loops : &s->u.nest;
	const struct loop_axis *a = &n->schedule.axes[0];
	struct emit_outlined o;
	LLVMValueRef unit = emit_store_unit(e);
	LLVMValueRef f = emit_outline(e, "chunk", chunk_type(e), &o);
	emit_chunk(e, s, a, n->extent[a->of]);
	emit_inline_again(e, &o);
	LLVMValueRef more = LLVMBuildAdd(e->builder, emit_dim(e, n->extent[a->of]), emit_i64(e, a->step - 1), "");
	call_parallel(e, f, unit, LLVMBuildSDiv(e->builder, more, emit_i64(e, a->step), ""));
}

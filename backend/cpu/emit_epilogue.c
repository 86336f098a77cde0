/* Epilogues (backend/runtime/unit.h): a function of the module, which a kernel's threads call for each finished tile. `unit` of its struct has
 * the five arguments of the unit. */
#include <stddef.h>
#include <stdio.h>
#include "backend/cpu/emit.h"
#include "backend/runtime/unit.h"

enum { UNIT_VALUES = 5, EPILOGUE_ARGS = 6 };

static LLVMValueRef load_at(struct emit *e, LLVMTypeRef type, LLVMValueRef array, uint32_t k)
{
	return LLVMBuildLoad2(e->builder, type, emit_element(e, type, array, k), "");
}

/* Emits the body in the current function: (epilogue, tile, stride, at, rows, columns). */
static void emit_body(struct emit *e, const struct loop_nest *n)
{
	LLVMValueRef args[EPILOGUE_ARGS], unit, values[UNIT_VALUES];
	LLVMGetParams(e->function, args);
	struct emit_tile tile = {.ptr = args[1], .stride = args[2], .size = {emit_i64(e, 1), args[4], args[5]}};
	_Static_assert(offsetof(struct tri_epilogue, unit) == sizeof(void *), "the second pointer");
	unit = load_at(e, e->ptr, args[0], 1);
	for (uint32_t k = 0; k < UNIT_VALUES; k++)
		values[k] = load_at(e, e->ptr, unit, k);
	for (uint32_t k = 0; k < TILE_AXES; k++)
		tile.at[k] = load_at(e, e->i64, args[3], k);
	emit_use_unit(e, values);
	e->tile = &tile;
	emit_nest(e, n);
	e->tile = NULL;
	LLVMBuildRetVoid(e->builder);
}

static LLVMValueRef epilogue_function(struct emit *e)
{
	LLVMTypeRef params[EPILOGUE_ARGS] = {e->ptr, e->ptr, e->i64, e->ptr, e->i64, e->i64};
	LLVMValueRef f =
		LLVMAddFunction(e->module, "epilogue", LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, EPILOGUE_ARGS, 0));
	LLVMSetLinkage(f, LLVMInternalLinkage);
	emit_attributes(e, f);
	return f;
}

LLVMValueRef emit_epilogue(struct emit *e, const struct loop_nest *n)
{
	LLVMValueRef unit = e->function, f = epilogue_function(e), values[UNIT_VALUES] = {e->ctx, e->bufs, e->weights, e->dims, e->scratch};
	LLVMValueRef both = emit_stack_array(e, e->ptr, 2), list = emit_stack_array(e, e->ptr, UNIT_VALUES);
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
	LLVMBuildStore(e->builder, f, emit_element(e, e->ptr, both, 0));
	LLVMBuildStore(e->builder, list, emit_element(e, e->ptr, both, 1));
	for (uint32_t k = 0; k < UNIT_VALUES; k++)
		LLVMBuildStore(e->builder, values[k], emit_element(e, e->ptr, list, k));
	e->function = f;
	e->dim_values.len = 0;
	LLVMPositionBuilderAtEnd(e->builder, emit_block(e, "entry"));
	emit_same_line(e);
	emit_body(e, n);
	e->function = unit;
	e->dim_values.len = 0;
	emit_use_unit(e, values);
	LLVMPositionBuilderAtEnd(e->builder, back);
	emit_same_line(e);
	return both;
}

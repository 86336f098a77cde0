/* Prologues and epilogues (backend/runtime/abi/unit.h): functions that a kernel's threads call for tiles of an operand, and for finished tiles. */
#include <stddef.h>
#include "backend/cpu/emit.h"
#include "backend/runtime/abi/unit.h"

enum { TILE_ARGS = 6, EPILOGUE_MEMBERS = 3 };
_Static_assert(sizeof(struct tri_epilogue) == EPILOGUE_MEMBERS * sizeof(void *), "fn, unit, by_columns");
_Static_assert(offsetof(struct tri_epilogue, unit) == sizeof(void *) && offsetof(struct tri_prologue, unit) == sizeof(void *), "unit");

/* Emits the body in the current function: (prologue or epilogue, tile, stride, at, rows, columns). */
static void emit_body(struct emit *e, const struct loop_nest *n)
{
	LLVMValueRef args[TILE_ARGS], values[UNIT_VALUES];
	LLVMGetParams(e->function, args);
	struct emit_tile tile = {.ptr = args[1],
				 .stride = args[2],
				 .size = {emit_i64(e, 1), args[4], args[5]},
				 .dense = loop_epilogue_by_columns(n) ? TILE_ROW : TILE_COLUMN};
	emit_load_unit(e, LLVMBuildLoad2(e->builder, e->ptr, emit_element(e, e->ptr, args[0], 1), ""), values);
	emit_use_unit(e, values);
	for (uint32_t k = 0; k < TILE_AXES; k++)
		tile.at[k] = LLVMBuildLoad2(e->builder, e->i64, emit_element(e, e->i64, args[3], k), "");
	e->tile = &tile;
	emit_nest(e, n);
	e->tile = NULL;
	LLVMBuildRetVoid(e->builder);
}

LLVMValueRef emit_tile_function(struct emit *e, const char *name, const struct loop_nest *n)
{
	LLVMTypeRef params[TILE_ARGS] = {e->ptr, e->ptr, e->i64, e->ptr, e->i64, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, TILE_ARGS, 0);
	LLVMValueRef members = emit_stack_array(e, e->ptr, EPILOGUE_MEMBERS), unit = emit_store_unit(e);
	struct emit_outlined o;
	LLVMValueRef f = emit_outline(e, name, type, &o);
	emit_body(e, n);
	emit_inline_again(e, &o);
	bool by_columns = loop_epilogue_by_columns(n);
	LLVMBuildStore(e->builder, by_columns ? emit_declare(e, "tri_epilogue_by_columns", type) : f, emit_element(e, e->ptr, members, 0));
	LLVMBuildStore(e->builder, unit, emit_element(e, e->ptr, members, 1));
	LLVMBuildStore(e->builder, by_columns ? f : LLVMConstNull(e->ptr), emit_element(e, e->ptr, members, 2));
	return members;
}

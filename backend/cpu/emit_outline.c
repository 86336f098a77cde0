/* Functions of the module that compute a part of a unit and are called from elsewhere. They get the five values of the unit as an array. */
#include "backend/cpu/emit.h"

LLVMValueRef emit_store_unit(struct emit *e)
{
	LLVMValueRef values[UNIT_VALUES] = {e->ctx, e->bufs, e->weights, e->dims, e->scratch};
	LLVMValueRef list = emit_stack_array(e, e->ptr, UNIT_VALUES);
	for (uint32_t k = 0; k < UNIT_VALUES; k++)
		LLVMBuildStore(e->builder, values[k], emit_element(e, e->ptr, list, k));
	return list;
}

void emit_load_unit(struct emit *e, LLVMValueRef list, LLVMValueRef values[UNIT_VALUES])
{
	for (uint32_t k = 0; k < UNIT_VALUES; k++)
		values[k] = LLVMBuildLoad2(e->builder, e->ptr, emit_element(e, e->ptr, list, k), "");
}

LLVMValueRef emit_outline(struct emit *e, const char *name, LLVMTypeRef type, struct emit_outlined *o)
{
	LLVMValueRef f = LLVMAddFunction(e->module, name, type);
	*o = (struct emit_outlined){
		e->function, LLVMGetInsertBlock(e->builder), e->frame, {e->ctx, e->bufs, e->weights, e->dims, e->scratch}};
	LLVMSetLinkage(f, LLVMInternalLinkage);
	emit_attributes(e, f);
	e->function = f;
	e->frame = NULL;
	e->dim_values.len = 0;
	LLVMPositionBuilderAtEnd(e->builder, emit_block(e, "entry"));
	emit_same_line(e);
	return f;
}

void emit_inline_again(struct emit *e, const struct emit_outlined *o)
{
	e->function = o->function;
	e->frame = o->frame;
	e->dim_values.len = 0;
	emit_use_unit(e, o->values);
	LLVMPositionBuilderAtEnd(e->builder, o->block);
	emit_same_line(e);
}

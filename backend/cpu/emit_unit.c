/* One unit: its function, the function that tells its scratch size, calls of kernels and other units. */
#include "backend/cpu/emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/tri.h"
#include "base/bug.h"

LLVMValueRef emit_i64(struct emit *e, int64_t v)
{
	return LLVMConstInt(e->i64, (unsigned long long)v, 1);
}

LLVMBasicBlockRef emit_block(struct emit *e, const char *name)
{
	return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

/* -- attributes ------------------------------------------------------------------------------------------------------------------------ */

static void set_attribute(struct emit *e, LLVMValueRef f, const char *key, const char *value)
{
	unsigned kl = 0, vl = 0;
	while (key[kl])
		kl++;
	while (value[vl])
		vl++;
	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateStringAttribute(e->context, key, kl, value, vl));
}

static void set_flag(struct emit *e, LLVMValueRef f, const char *name, size_t len)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, len);
	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static void set_attributes(struct emit *e, LLVMValueRef f)
{
	char bits[16];
	snprintf(bits, sizeof bits, "%u", 8 * e->target->vector_bytes);
	set_attribute(e, f, "target-cpu", e->target->cpu);
	set_attribute(e, f, "target-features", e->target->features);
	set_attribute(e, f, "prefer-vector-width", bits);
	set_attribute(e, f, "min-legal-vector-width", bits);
	set_attribute(e, f, "no-jump-tables", "true");
	set_flag(e, f, "nounwind", 8);
	if (e->target->size)
		set_flag(e, f, "optsize", 7);
}

/* -- dims -------------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef element(struct emit *e, LLVMTypeRef type, LLVMValueRef array, uint32_t k)
{
	LLVMValueRef index = emit_i64(e, k);
	return LLVMBuildInBoundsGEP2(e->builder, type, array, &index, 1, "");
}

/* Dimensions are not negative and divisors positive in practice, but the rounding is that of the dims: towards minus infinity. */
static LLVMValueRef floor_division(struct emit *e, LLVMValueRef a, LLVMValueRef b, bool want_mod)
{
	LLVMBuilderRef bl = e->builder;
	LLVMValueRef zero = emit_i64(e, 0), d = LLVMBuildSelect(bl, LLVMBuildICmp(bl, LLVMIntEQ, b, zero, ""), emit_i64(e, 1), b, "");
	LLVMValueRef q = LLVMBuildSDiv(bl, a, d, ""), r = LLVMBuildSub(bl, a, LLVMBuildMul(bl, q, d, ""), "");
	LLVMValueRef apart = LLVMBuildICmp(bl, LLVMIntSLT, LLVMBuildXor(bl, r, d, ""), zero, "");
	LLVMValueRef adjust = LLVMBuildAnd(bl, apart, LLVMBuildICmp(bl, LLVMIntNE, r, zero, ""), "");
	if (want_mod)
		return LLVMBuildSelect(bl, adjust, LLVMBuildAdd(bl, r, d, ""), r, "");
	return LLVMBuildAdd(bl, q, LLVMBuildSExt(bl, adjust, e->i64, ""), "");
}

static LLVMValueRef dim_step(struct emit *e, const struct dim_step *s, LLVMValueRef *stack, uint32_t *top)
{
	if (s->op == DIM_PUSH_CONST)
		return emit_i64(e, s->value);
	if (s->op == DIM_PUSH_SYM)
		return LLVMBuildLoad2(e->builder, e->i64, element(e, e->i64, e->dims, (uint32_t)s->value), "");
	LLVMValueRef b = stack[--*top], a = stack[--*top];
	switch (s->op) {
	case DIM_OP_ADD: return LLVMBuildAdd(e->builder, a, b, "");
	case DIM_OP_MUL: return LLVMBuildMul(e->builder, a, b, "");
	case DIM_OP_FLOORDIV: return floor_division(e, a, b, false);
	default: return floor_division(e, a, b, true);
	}
}

static LLVMValueRef compute_dim(struct emit *e, dim x)
{
	uint32_t n = dim_program(e->fn->dims, x, NULL, 0), top = 0;
	struct dim_step *steps = calloc(n, sizeof *steps);
	LLVMValueRef *stack = calloc(n, sizeof *stack);
	BUG_ON(!steps || !stack);
	dim_program(e->fn->dims, x, steps, n);
	for (uint32_t k = 0; k < n; k++) {
		LLVMValueRef v = dim_step(e, &steps[k], stack, &top);
		stack[top++] = v;
	}
	LLVMValueRef v = stack[0];
	free(steps);
	free(stack);
	return v;
}

LLVMValueRef emit_dim(struct emit *e, dim x)
{
	int64_t v;
	if (dim_is_const(e->fn->dims, x, &v))
		return emit_i64(e, v);
	for (uint32_t k = 0; k < e->dim_values.len; k++)
		if (dim_eq(e->dim_values.at[k].of, x))
			return e->dim_values.at[k].value;
	struct dim_value d = {x, compute_dim(e, x)};
	vec_push(&e->dim_values, d);
	return d.value;
}

/* -- buffers ----------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef load_pointer(struct emit *e, LLVMValueRef array, uint32_t k)
{
	return LLVMBuildLoad2(e->builder, e->ptr, element(e, e->ptr, array, k), "");
}

static LLVMValueRef constant_data(struct emit *e, const struct loop_buffer *b)
{
	size_t size = (size_t)ir_type_count(e->fn->dims, &b->type) * dtype_size(b->type.elem);
	LLVMValueRef bytes = LLVMConstStringInContext2(e->context, b->data, size, 1);
	LLVMValueRef g = LLVMAddGlobal(e->module, LLVMTypeOf(bytes), "const");
	LLVMSetInitializer(g, bytes);
	LLVMSetGlobalConstant(g, 1);
	LLVMSetLinkage(g, LLVMPrivateLinkage);
	LLVMSetAlignment(g, 64);
	return g;
}

LLVMValueRef emit_buffer(struct emit *e, uint32_t k)
{
	const struct loop_buffer *b = &e->fn->buffers[k];
	LLVMValueRef offset;
	switch (b->kind) {
	case BUFFER_INPUT: return load_pointer(e, e->bufs, b->index);
	case BUFFER_OUTPUT: return load_pointer(e, e->bufs, e->fn->n_inputs + b->index);
	case BUFFER_WEIGHT: return load_pointer(e, e->weights, b->index);
	case BUFFER_CONST: return constant_data(e, b);
	default:
		offset = emit_dim(e, b->offset);
		return LLVMBuildInBoundsGEP2(e->builder, e->i8, e->scratch, &offset, 1, "");
	}
}

/* -- run-time checks --------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef declare(struct emit *e, const char *name, LLVMTypeRef type)
{
	LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
	return f ? f : LLVMAddFunction(e->module, name, type);
}

static void call_fail(struct emit *e, enum tri_code code, LLVMValueRef ctx, LLVMValueRef value, LLVMValueRef bound)
{
	LLVMTypeRef params[4] = {e->ptr, e->i32, e->i64, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 4, 0);
	LLVMValueRef args[4] = {ctx, LLVMConstInt(e->i32, (unsigned)code, 0), value, bound};
	LLVMBuildCall2(e->builder, type, declare(e, "tri_fail", type), args, 4, "");
}

/* i64 check(ctx, i, bound): kept out of line, since it is a compare and a return. */
static LLVMValueRef check_function(struct emit *e)
{
	LLVMTypeRef params[3] = {e->ptr, e->i64, e->i64};
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
	LLVMValueRef f = LLVMAddFunction(e->module, "check_index", LLVMFunctionType(e->i64, params, 3, 0));
	LLVMSetLinkage(f, LLVMInternalLinkage);
	set_attributes(e, f);
	LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->context, f, ""), good = LLVMAppendBasicBlockInContext(e->context, f, ""),
			  bad = LLVMAppendBasicBlockInContext(e->context, f, "");
	LLVMPositionBuilderAtEnd(e->builder, entry);
	LLVMValueRef i = LLVMGetParam(f, 1), bound = LLVMGetParam(f, 2);
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, i, bound, ""), good, bad);
	LLVMPositionBuilderAtEnd(e->builder, good);
	LLVMBuildRet(e->builder, i);
	LLVMPositionBuilderAtEnd(e->builder, bad);
	call_fail(e, TRI_ERR_RANGE, LLVMGetParam(f, 0), i, bound);
	LLVMBuildRet(e->builder, emit_i64(e, 0));
	LLVMPositionBuilderAtEnd(e->builder, back);
	return f;
}

LLVMValueRef emit_checked_index(struct emit *e, LLVMValueRef i, LLVMValueRef bound)
{
	if (!e->check)
		e->check = check_function(e);
	LLVMValueRef args[3] = {e->ctx, i, bound};
	return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(e->check), e->check, args, 3, "");
}

/* -- calls ------------------------------------------------------------------------------------------------------------------------------- */

/* Space for an argument array, in the entry block so that it is taken once. */
static LLVMValueRef stack_array(struct emit *e, LLVMTypeRef type, uint32_t n)
{
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder), entry = LLVMGetEntryBasicBlock(e->function);
	LLVMValueRef first = LLVMGetFirstInstruction(entry);
	if (first)
		LLVMPositionBuilderBefore(e->builder, first);
	else
		LLVMPositionBuilderAtEnd(e->builder, entry);
	LLVMValueRef a = LLVMBuildAlloca(e->builder, LLVMArrayType2(type, n ? n : 1), "");
	LLVMPositionBuilderAtEnd(e->builder, back);
	return a;
}

static LLVMValueRef dim_array(struct emit *e, const dim *dims, uint32_t n)
{
	LLVMValueRef array = stack_array(e, e->i64, n);
	for (uint32_t k = 0; k < n; k++)
		LLVMBuildStore(e->builder, emit_dim(e, dims[k]), element(e, e->i64, array, k));
	return array;
}

static LLVMValueRef buffer_array(struct emit *e, const struct loop_stmt *s)
{
	LLVMValueRef array = stack_array(e, e->ptr, s->n_buffers);
	for (uint32_t k = 0; k < s->n_buffers; k++)
		LLVMBuildStore(e->builder, emit_buffer(e, s->buffers[k]), element(e, e->ptr, array, k));
	return array;
}

static LLVMTypeRef unit_type(struct emit *e)
{
	LLVMTypeRef params[5] = {e->ptr, e->ptr, e->ptr, e->ptr, e->ptr};
	return LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 5, 0);
}

static LLVMTypeRef scratch_type(struct emit *e)
{
	return LLVMFunctionType(e->i64, &e->ptr, 1, 0);
}

static void emit_kernel(struct emit *e, const struct loop_stmt *s)
{
	LLVMTypeRef params[3] = {e->ptr, e->ptr, e->ptr};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 3, 0);
	LLVMValueRef args[3] = {e->ctx, buffer_array(e, s), dim_array(e, s->dims, s->n_dims)};
	LLVMBuildCall2(e->builder, type, declare(e, kernel_symbol(s->kernel), type), args, 3, "");
}

static void emit_call(struct emit *e, const struct loop_stmt *s)
{
	LLVMValueRef own = emit_dim(e, e->fn->scratch);
	LLVMValueRef args[5] = {
		e->ctx,
		buffer_array(e, s),
		s->slot == LOOP_NONE ? LLVMConstNull(e->ptr) : load_pointer(e, e->weights, s->slot),
		dim_array(e, s->dims, s->n_dims),
		LLVMBuildInBoundsGEP2(e->builder, e->i8, e->scratch, &own, 1, ""),
	};
	LLVMBuildCall2(e->builder, unit_type(e), declare(e, s->callee, unit_type(e)), args, 5, "");
}

/* -- effects ----------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef constant_bytes(struct emit *e, const void *data, size_t n)
{
	LLVMValueRef bytes = LLVMConstStringInContext2(e->context, data, n, 0);
	LLVMValueRef g = LLVMAddGlobal(e->module, LLVMTypeOf(bytes), "text");
	LLVMSetInitializer(g, bytes);
	LLVMSetGlobalConstant(g, 1);
	LLVMSetLinkage(g, LLVMPrivateLinkage);
	return g;
}

/* tri_print(ctx, text, kinds, bufs, dims, n) or tri_assert(ctx, text, where, kinds, bufs, dims, n) */
static void emit_effect(struct emit *e, const struct loop_stmt *s)
{
	LLVMTypeRef params[7];
	LLVMValueRef args[7];
	unsigned n = 0;
	args[n++] = e->ctx;
	args[n++] = constant_bytes(e, s->text, strlen(s->text));
	if (s->where)
		args[n++] = constant_bytes(e, s->where, strlen(s->where));
	args[n++] = constant_bytes(e, s->kinds, s->n_buffers);
	args[n++] = buffer_array(e, s);
	args[n++] = dim_array(e, s->dims, s->n_dims);
	args[n++] = LLVMConstInt(e->i32, s->n_buffers, 0);
	for (unsigned k = 0; k < n; k++)
		params[k] = k + 1 < n ? e->ptr : e->i32;
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, n, 0);
	LLVMBuildCall2(e->builder, type, declare(e, s->where ? "tri_assert" : "tri_print", type), args, n, "");
}

/* -- functions --------------------------------------------------------------------------------------------------------------------------- */

/* Starts a function: e->function, positioned in its first block. */
static void begin(struct emit *e, const char *name, LLVMTypeRef type)
{
	e->function = declare(e, name, type);
	set_attributes(e, e->function);
	e->dim_values.len = 0;
	LLVMPositionBuilderAtEnd(e->builder, emit_block(e, "entry"));
}

/* Fails and returns if one of the unit's checks is negative. */
static void emit_checks(struct emit *e)
{
	LLVMValueRef bad = NULL, zero = emit_i64(e, 0);
	for (uint32_t k = 0; k < e->fn->n_checks; k++) {
		LLVMValueRef negative = LLVMBuildICmp(e->builder, LLVMIntSLT, emit_dim(e, e->fn->checks[k]), zero, "");
		bad = bad ? LLVMBuildOr(e->builder, bad, negative, "") : negative;
	}
	if (!bad)
		return;
	LLVMBasicBlockRef fail = emit_block(e, "misfit"), run = emit_block(e, "run");
	LLVMBuildCondBr(e->builder, bad, fail, run);
	LLVMPositionBuilderAtEnd(e->builder, fail);
	call_fail(e, TRI_ERR_SHAPE, e->ctx, zero, zero);
	LLVMBuildRetVoid(e->builder);
	LLVMPositionBuilderAtEnd(e->builder, run);
}

static void emit_run(struct emit *e)
{
	begin(e, e->fn->symbol, unit_type(e));
	e->ctx = LLVMGetParam(e->function, 0);
	e->bufs = LLVMGetParam(e->function, 1);
	e->weights = LLVMGetParam(e->function, 2);
	e->dims = LLVMGetParam(e->function, 3);
	e->scratch = LLVMGetParam(e->function, 4);
	emit_checks(e);
	for (uint32_t k = 0; k < e->fn->n_stmts; k++) {
		const struct loop_stmt *s = &e->fn->stmts[k];
		e->dim_values.len = 0;
		if (s->kind == STMT_NEST)
			emit_nest(e, &s->nest);
		else if (s->kind == STMT_KERNEL)
			emit_kernel(e, s);
		else if (s->kind == STMT_EFFECT)
			emit_effect(e, s);
		else
			emit_call(e, s);
	}
	LLVMBuildRetVoid(e->builder);
}

static LLVMValueRef callee_scratch(struct emit *e, const struct loop_stmt *s)
{
	char name[512];
	snprintf(name, sizeof name, "%s_scratch", s->callee);
	LLVMValueRef dims = dim_array(e, s->dims, s->n_dims);
	return LLVMBuildCall2(e->builder, scratch_type(e), declare(e, name, scratch_type(e)), &dims, 1, "");
}

/* Own scratch plus the most that any callee needs. */
static void emit_scratch(struct emit *e)
{
	char name[512];
	snprintf(name, sizeof name, "%s_scratch", e->fn->symbol);
	begin(e, name, scratch_type(e));
	e->dims = LLVMGetParam(e->function, 0);
	LLVMValueRef most = emit_i64(e, 0);
	for (uint32_t k = 0; k < e->fn->n_stmts; k++) {
		if (e->fn->stmts[k].kind != STMT_CALL)
			continue;
		LLVMValueRef need = callee_scratch(e, &e->fn->stmts[k]);
		most = LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, need, most, ""), need, most, "");
	}
	LLVMBuildRet(e->builder, LLVMBuildAdd(e->builder, emit_dim(e, e->fn->scratch), most, ""));
}

void emit_unit(struct emit *e, const struct loop_fn *f)
{
	e->fn = f;
	e->ptr = LLVMPointerTypeInContext(e->context, 0);
	e->i1 = LLVMInt1TypeInContext(e->context);
	e->i8 = LLVMInt8TypeInContext(e->context);
	e->i16 = LLVMInt16TypeInContext(e->context);
	e->i32 = LLVMInt32TypeInContext(e->context);
	e->i64 = LLVMInt64TypeInContext(e->context);
	e->f32 = LLVMFloatTypeInContext(e->context);
	e->f64 = LLVMDoubleTypeInContext(e->context);
	emit_run(e);
	emit_scratch(e);
	vec_free(&e->dim_values);
}

/* Statements other than nests: calls of kernels and units, effects, ifs and loops; and dims, buffers and checks, which all statements use. */
#include "backend/cpu/emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/grow.h"
#include "backend/runtime/abi/tri.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/foreign.h"

LLVMValueRef emit_i64(struct emit *e, int64_t v) { return LLVMConstInt(e->i64, (unsigned long long)v, 1); }

LLVMBasicBlockRef emit_block(struct emit *e, const char *name) { return LLVMAppendBasicBlockInContext(e->context, e->function, name); }

/* -- attributes ------------------------------------------------------------------------------------------------------------------------ */

static void set_attribute(struct emit *e, LLVMValueRef f, const char *key, const char *value)
{
	LLVMAttributeRef a = LLVMCreateStringAttribute(e->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
}

static void emit_stmt_set_flag(struct emit *e, LLVMValueRef f, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->context, kind, 0));
}

void emit_attributes(struct emit *e, LLVMValueRef f)
{
	char bits[16];
	snprintf(bits, sizeof bits, "%u", 8 * e->target->vector_bytes);
	set_attribute(e, f, "target-cpu", e->target->cpu);
	set_attribute(e, f, "target-features", e->target->features);
	set_attribute(e, f, "prefer-vector-width", bits);
	set_attribute(e, f, "min-legal-vector-width", bits);
	set_attribute(e, f, "no-jump-tables", "true");
	emit_stmt_set_flag(e, f, "nounwind");
	if (e->target->size)
		emit_stmt_set_flag(e, f, "optsize");
}

/* -- dims -------------------------------------------------------------------------------------------------------------------------------- */

LLVMValueRef emit_element(struct emit *e, LLVMTypeRef type, LLVMValueRef array, uint32_t k)
{
	LLVMValueRef index = emit_i64(e, k);
	return LLVMBuildInBoundsGEP2(e->builder, type, array, &index, 1, "");
}

/* Rounds towards minus infinity, as dims do, although dims are not negative and divisors positive in practice. */
static LLVMValueRef floor_division(struct emit *e, LLVMValueRef a, LLVMValueRef b, bool want_mod)
{
	LLVMBuilderRef bl = e->builder;
	int64_t known = LLVMIsAConstantInt(b) ? LLVMConstIntGetSExtValue(b) : 0;
	if (known > 0 && (known & (known - 1)) == 0) /* one instruction instead of eight; sizes are rounded up to alignments often */
		return want_mod ? LLVMBuildAnd(bl, a, emit_i64(e, known - 1), "")
				: LLVMBuildAShr(bl, a, emit_i64(e, __builtin_ctzll((uint64_t)known)), "");
	LLVMValueRef zero = emit_i64(e, 0), d = LLVMBuildSelect(bl, LLVMBuildICmp(bl, LLVMIntEQ, b, zero, ""), emit_i64(e, 1), b, "");
	LLVMValueRef q = LLVMBuildSDiv(bl, a, d, ""), r = LLVMBuildSub(bl, a, LLVMBuildMul(bl, q, d, ""), "");
	LLVMValueRef apart = LLVMBuildICmp(bl, LLVMIntSLT, LLVMBuildXor(bl, r, d, ""), zero, "");
	LLVMValueRef adjust = LLVMBuildAnd(bl, apart, LLVMBuildICmp(bl, LLVMIntNE, r, zero, ""), "");
	if (want_mod)
		return LLVMBuildSelect(bl, adjust, LLVMBuildAdd(bl, r, d, ""), r, "");
	return LLVMBuildAdd(bl, q, LLVMBuildSExt(bl, adjust, e->i64, ""), "");
}

LLVMValueRef emit_dim_sum(struct emit *e, LLVMValueRef a, LLVMValueRef b, bool mul)
{
	if (!e->overflow)
		return mul ? LLVMBuildMul(e->builder, a, b, "") : LLVMBuildAdd(e->builder, a, b, "");
	LLVMValueRef args[2] = {a, b};
	LLVMValueRef both = emit_intrinsic(e, mul ? "llvm.smul.with.overflow" : "llvm.sadd.with.overflow", args, 2, &e->i64, 1);
	e->overflow = LLVMBuildOr(e->builder, e->overflow, LLVMBuildExtractValue(e->builder, both, 1, ""), "");
	return LLVMBuildExtractValue(e->builder, both, 0, "");
}

static LLVMValueRef dim_step(struct emit *e, const struct dim_step *s, LLVMValueRef *stack, uint32_t *top)
{
	if (s->op == DIM_PUSH_CONST)
		return emit_i64(e, s->value);
	if (s->op == DIM_PUSH_SYM)
		return LLVMBuildLoad2(e->builder, e->i64, emit_element(e, e->i64, e->dims, (uint32_t)s->value), "");
	LLVMValueRef b = stack[--*top], a = stack[--*top];
	switch (s->op) {
	case DIM_OP_ADD: return emit_dim_sum(e, a, b, false);
	case DIM_OP_MUL: return emit_dim_sum(e, a, b, true);
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

bool dim_known(const struct emit *e, dim x, int64_t *v) { return dim_is_const(e->fn->dims, x, v); }

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
	return LLVMBuildLoad2(e->builder, e->ptr, emit_element(e, e->ptr, array, k), "");
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
	if (b->scope != SCOPE_GLOBAL)
		return emit_own_buffer(e, k);
	if (b->kind == BUFFER_TEMP) /* that grows an input has its memory */
		b = &e->fn->buffers[loops_root(e->fn, k)];
	switch (b->kind) {
	case BUFFER_INPUT: return load_pointer(e, e->bufs, b->index);
	case BUFFER_OUTPUT: return load_pointer(e, e->bufs, e->fn->n_inputs + b->index);
	case BUFFER_WEIGHT: return load_pointer(e, e->weights, b->index);
	case BUFFER_CONST: return constant_data(e, b);
	default: offset = emit_dim(e, b->offset); return LLVMBuildInBoundsGEP2(e->builder, e->i8, e->scratch, &offset, 1, "");
	}
}

/* -- run-time checks --------------------------------------------------------------------------------------------------------------------- */

LLVMValueRef emit_declare(struct emit *e, const char *name, LLVMTypeRef type)
{
	LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
	return f ? f : LLVMAddFunction(e->module, name, type);
}

void emit_fail(struct emit *e, int32_t code, LLVMValueRef ctx, LLVMValueRef value, LLVMValueRef bound)
{
	LLVMTypeRef params[4] = {e->ptr, e->i32, e->i64, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 4, 0);
	LLVMValueRef args[4] = {ctx, LLVMConstInt(e->i32, (unsigned)code, 0), value, bound};
	LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_fail", type), args, 4, "");
}

/* void tri_fail_at(ctx, i, bound, place) */
static void emit_fail_at(struct emit *e, LLVMValueRef *args)
{
	LLVMTypeRef params[4] = {e->ptr, e->i64, e->i64, e->i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 4, 0);
	LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_fail_at", type), args, 4, "");
}

/* i64 check(ctx, i, bound, place): a function, so that its call is the only code in a loop. */
static LLVMValueRef check_function(struct emit *e)
{
	LLVMTypeRef params[4] = {e->ptr, e->i64, e->i64, e->i64};
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
	LLVMValueRef f = LLVMAddFunction(e->module, "check_index", LLVMFunctionType(e->i64, params, 4, 0));
	LLVMSetLinkage(f, LLVMInternalLinkage);
	emit_attributes(e, f);
	LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->context, f, ""), good = LLVMAppendBasicBlockInContext(e->context, f, ""),
			  bad = LLVMAppendBasicBlockInContext(e->context, f, "");
	LLVMPositionBuilderAtEnd(e->builder, entry);
	LLVMValueRef i = LLVMGetParam(f, 1), bound = LLVMGetParam(f, 2), args[4];
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, i, bound, ""), good, bad);
	LLVMPositionBuilderAtEnd(e->builder, good);
	LLVMBuildRet(e->builder, i);
	LLVMPositionBuilderAtEnd(e->builder, bad);
	LLVMGetParams(f, args);
	emit_fail_at(e, args);
	LLVMBuildRet(e->builder, emit_i64(e, 0));
	LLVMPositionBuilderAtEnd(e->builder, back);
	return f;
}

LLVMValueRef emit_checked_index(struct emit *e, LLVMValueRef i, LLVMValueRef bound)
{
	uint32_t width = value_lanes(i);
	uint64_t place = loops_place(e->fn->symbol, e->statement - 1);
	LLVMValueRef checked = LLVMGetPoison(LLVMTypeOf(i));
	if (!e->check)
		e->check = check_function(e);
	for (uint32_t k = 0; k < width; k++) {
		LLVMValueRef args[4] = {e->ctx, width == 1 ? i : emit_lane(e, i, k), bound, emit_i64(e, (int64_t)place)};
		LLVMValueRef lane = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(e->check), e->check, args, 4, "");
		checked = width == 1 ? lane : emit_set_lane(e, checked, lane, k);
	}
	return checked;
}

/* -- calls ------------------------------------------------------------------------------------------------------------------------------- */

LLVMValueRef emit_stack_array(struct emit *e, LLVMTypeRef type, uint32_t n)
{
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder), entry = LLVMGetEntryBasicBlock(e->function);
	LLVMValueRef first = LLVMGetFirstInstruction(entry);
	if (first)
		LLVMPositionBuilderBefore(e->builder, first);
	else
		LLVMPositionBuilderAtEnd(e->builder, entry);
	LLVMValueRef a = LLVMBuildAlloca(e->builder, LLVMArrayType2(type, n ? n : 1), "");
	LLVMPositionBuilderAtEnd(e->builder, back);
	emit_same_line(e);
	return a;
}

static LLVMValueRef dim_array(struct emit *e, const dim *dims, uint32_t n)
{
	LLVMValueRef array = emit_stack_array(e, e->i64, n);
	for (uint32_t k = 0; k < n; k++)
		LLVMBuildStore(e->builder, emit_dim(e, dims[k]), emit_element(e, e->i64, array, k));
	return array;
}

static LLVMValueRef buffer_array(struct emit *e, const uint32_t *buffers, uint32_t n)
{
	LLVMValueRef array = emit_stack_array(e, e->ptr, n);
	for (uint32_t k = 0; k < n; k++)
		LLVMBuildStore(e->builder, emit_buffer(e, buffers[k]), emit_element(e, e->ptr, array, k));
	return array;
}

LLVMTypeRef emit_unit_type(struct emit *e)
{
	LLVMTypeRef params[5] = {e->ptr, e->ptr, e->ptr, e->ptr, e->ptr};
	return LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 5, 0);
}

LLVMTypeRef emit_scratch_type(struct emit *e) { return LLVMFunctionType(e->i64, &e->ptr, 1, 0); }

/* With a prologue the first one is not set. */
static LLVMValueRef kernel_buffers(struct emit *e, const struct loop_kernel *s)
{
	uint32_t first = s->prologue != NULL;
	LLVMValueRef array = emit_stack_array(e, e->ptr, first + s->n_buffers);
	for (uint32_t k = 0; k < s->n_buffers; k++)
		LLVMBuildStore(e->builder, emit_buffer(e, s->buffers[k]), emit_element(e, e->ptr, array, first + k));
	return array;
}

/* The fields of the kernel's record. */
static LLVMValueRef kernel_dims(struct emit *e, const struct loop_kernel *s)
{
	const struct kernel_record *r = kernel_record(s->kernel);
	LLVMValueRef array = emit_stack_array(e, e->i64, r->n_fields);
	LLVMValueRef place = emit_i64(e, (int64_t)loops_place(e->fn->symbol, e->statement - 1));
	for (uint32_t k = 0; k < r->n_fields; k++)
		LLVMBuildStore(e->builder, r->fields[k].type == FIELD_place ? place : emit_dim(e, s->dims[k]),
			       emit_element(e, e->i64, array, k));
	return array;
}

static void emit_stmt_emit_kernel(struct emit *e, const struct loop_kernel *s)
{
	const struct kernel_info *info = kernel_info(s->kernel);
	uint32_t n = s->prologue ? 5 : 4;
	LLVMTypeRef params[] = {e->ptr, e->ptr, e->ptr, e->ptr, e->ptr};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, n, 0);
	LLVMValueRef prologue = s->prologue ? emit_tile_function(e, "prologue", s->prologue) : NULL;
	LLVMValueRef epilogue = s->epilogue ? emit_tile_function(e, "epilogue", s->epilogue) : LLVMConstNull(e->ptr);
	LLVMValueRef args[] = {e->ctx, kernel_buffers(e, s), kernel_dims(e, s), epilogue, prologue};
	LLVMBuildCall2(e->builder, type, emit_declare(e, s->prologue ? info->prologue : info->symbol, type), args, n, "");
}

/* The arguments of a tri_unit_fn. */
static void call_arguments(struct emit *e, const struct loop_call *s, LLVMValueRef *args)
{
	LLVMValueRef own = emit_dim(e, e->fn->scratch);
	args[0] = e->ctx;
	args[1] = buffer_array(e, s->buffers, s->n_buffers);
	args[2] = s->slot == LOOP_NONE ? LLVMConstNull(e->ptr) : load_pointer(e, e->weights, s->slot);
	args[3] = dim_array(e, s->dims, s->n_dims);
	args[4] = LLVMBuildInBoundsGEP2(e->builder, e->i8, e->scratch, &own, 1, "");
}

static void emit_stmt_emit_call(struct emit *e, const struct loop_call *s)
{
	LLVMValueRef args[5];
	call_arguments(e, s, args);
	LLVMBuildCall2(e->builder, emit_unit_type(e), emit_declare(e, s->callee, emit_unit_type(e)), args, 5, "");
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

/* The text goes to stderr or into an error, in any program. Only here it can be made safe for a terminal (base/foreign.h). */
static LLVMValueRef constant_text(struct emit *e, const char *text)
{
	struct buf safe = {0};
	foreign_puts(&safe, FOREIGN_TEXT, text);
	LLVMValueRef g = constant_bytes(e, safe.len ? safe.at : "", safe.len);
	buf_free(&safe);
	return g;
}

/* tri_print(ctx, text, kinds, bufs, dims, n) or tri_assert(ctx, text, where, kinds, bufs, dims, n) */
static void emit_stmt_emit_effect(struct emit *e, const struct loop_effect *s)
{
	LLVMTypeRef params[7];
	LLVMValueRef args[7];
	unsigned n = 0;
	args[n++] = e->ctx;
	args[n++] = constant_text(e, s->text);
	if (s->where)
		args[n++] = constant_text(e, s->where);
	args[n++] = constant_bytes(e, s->kinds, s->n_buffers);
	args[n++] = buffer_array(e, s->buffers, s->n_buffers);
	args[n++] = dim_array(e, s->dims, s->n_dims);
	args[n++] = LLVMConstInt(e->i32, s->n_buffers, 0);
	for (unsigned k = 0; k < n; k++)
		params[k] = k + 1 < n ? e->ptr : e->i32;
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, n, 0);
	LLVMBuildCall2(e->builder, type, emit_declare(e, s->where ? "tri_assert" : "tri_print", type), args, n, "");
}

/* -- branches and loops ------------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef load_bool(struct emit *e, uint32_t buffer)
{
	LLVMValueRef byte = LLVMBuildLoad2(e->builder, e->i8, emit_buffer(e, buffer), "");
	return LLVMBuildICmp(e->builder, LLVMIntNE, byte, LLVMConstNull(e->i8), "");
}

static void emit_stmt_emit_branch(struct emit *e, const struct loop_branch *s)
{
	LLVMBasicBlockRef sides[2] = {emit_block(e, "then"), emit_block(e, "else")}, after = emit_block(e, "end");
	LLVMBuildCondBr(e->builder, load_bool(e, s->condition), sides[0], sides[1]);
	uint32_t known = e->dim_values.len;
	for (uint32_t k = 0; k < 2; k++) {
		LLVMPositionBuilderAtEnd(e->builder, sides[k]);
		emit_stmt_emit_call(e, &s->calls[k]);
		LLVMBuildBr(e->builder, after);
		e->dim_values.len = known; /* the others were computed in this branch only */
	}
	LLVMPositionBuilderAtEnd(e->builder, after);
}

static LLVMValueRef buffer_bytes(struct emit *e, uint32_t buffer)
{
	const struct hir_type *t = &e->fn->buffers[buffer].type;
	LLVMValueRef n = emit_i64(e, (int64_t)dtype_size(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		n = LLVMBuildMul(e->builder, n, emit_dim(e, t->dims[k]), "");
	return n;
}

static LLVMValueRef not_failed(struct emit *e)
{
	LLVMTypeRef type = LLVMFunctionType(e->i32, &e->ptr, 1, 0);
	LLVMValueRef failed = LLVMBuildCall2(e->builder, type, emit_declare(e, "tri_failed", type), &e->ctx, 1, "");
	return LLVMBuildICmp(e->builder, LLVMIntEQ, failed, LLVMConstNull(e->i32), "");
}

/* Swaps the buffers: the next iteration reads what this one wrote, and overwrites what it read. */
static void swap_carried(struct emit *e, LLVMValueRef bufs, uint32_t n_buffers, uint32_t n_carried)
{
	for (uint32_t k = 0; k < n_carried; k++) {
		LLVMValueRef in = emit_element(e, e->ptr, bufs, k), out = emit_element(e, e->ptr, bufs, n_buffers - n_carried + k);
		LLVMValueRef read = LLVMBuildLoad2(e->builder, e->ptr, in, ""), written = LLVMBuildLoad2(e->builder, e->ptr, out, "");
		LLVMBuildStore(e->builder, written, in);
		LLVMBuildStore(e->builder, read, out);
	}
}

/* The results must be in the buffers that the first iteration read. After an odd number of iterations they are copied there. */
static void copy_back_carried(struct emit *e, const struct loop_iterate *s, LLVMValueRef bufs, const LLVMValueRef *places,
			      const LLVMValueRef *bytes)
{
	for (uint32_t k = 0; k < s->n_carried; k++) {
		LLVMValueRef at = load_pointer(e, bufs, k);
		LLVMBasicBlockRef copy = emit_block(e, "copy"), after = emit_block(e, "settled");
		LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntEQ, at, places[k], ""), after, copy);
		LLVMPositionBuilderAtEnd(e->builder, copy);
		LLVMBuildMemCpy(e->builder, places[k], 1, at, 1, bytes[k]);
		LLVMBuildBr(e->builder, after);
		LLVMPositionBuilderAtEnd(e->builder, after);
	}
}

static void emit_iterations(struct emit *e, const struct loop_iterate *s)
{
	const struct loop_call *body = &s->body;
	LLVMValueRef *places = calloc(2 * (size_t)s->n_carried + 1, sizeof *places), *bytes = places + s->n_carried;
	BUG_ON(!places);
	for (uint32_t k = 0; k < s->n_carried; k++) {
		places[k] = emit_buffer(e, body->buffers[k]);
		bytes[k] = buffer_bytes(e, body->buffers[k]);
		LLVMBuildMemCpy(e->builder, places[k], 1, emit_buffer(e, s->initial[k]), 1, bytes[k]);
	}
	LLVMValueRef args[5], go = LLVMBuildAnd(e->builder, load_bool(e, s->condition), not_failed(e), "");
	call_arguments(e, body, args);
	LLVMBasicBlockRef loop = emit_block(e, "iteration"), after = emit_block(e, "end");
	LLVMBuildCondBr(e->builder, go, loop, after);
	uint32_t known = e->dim_values.len;
	LLVMPositionBuilderAtEnd(e->builder, loop);
	LLVMBuildCall2(e->builder, emit_unit_type(e), emit_declare(e, body->callee, emit_unit_type(e)), args, 5, "");
	swap_carried(e, args[1], body->n_buffers, s->n_carried);
	go = LLVMBuildAnd(e->builder, load_bool(e, body->buffers[body->n_buffers - s->n_carried - 1]), not_failed(e), "");
	LLVMBuildCondBr(e->builder, go, loop, after);
	e->dim_values.len = known;
	LLVMPositionBuilderAtEnd(e->builder, after);
	copy_back_carried(e, s, args[1], places, bytes);
	free(places);
}

/* -- all statements ---------------------------------------------------------------------------------------------------------------------- */

static bool is_parallel(const struct loop_nest *n) { return n->schedule.n_axes && n->schedule.axes[0].kind == AXIS_PARALLEL; }

void emit_stmt(struct emit *e, const struct loop_stmt *s)
{
	switch (s->kind) {
	case STMT_NEST:
		if (is_parallel(&s->u.nest))
			emit_parallel(e, s);
		else
			emit_nest(e, &s->u.nest);
		return;
	case STMT_BLOCK:
		if (is_parallel(&s->u.block.loops))
			emit_parallel(e, s);
		else
			emit_nested(e, &s->u.block);
		return;
	case STMT_KERNEL: emit_stmt_emit_kernel(e, &s->u.kernel); return;
	case STMT_EFFECT: emit_stmt_emit_effect(e, &s->u.effect); return;
	case STMT_BRANCH: emit_stmt_emit_branch(e, &s->u.branch); return;
	case STMT_LOOP: emit_iterations(e, &s->u.loop); return;
	case STMT_CALL: emit_stmt_emit_call(e, &s->u.call); return;
	}
}

LLVMValueRef emit_callee_scratch(struct emit *e, const struct loop_call *s)
{
	char name[512];
	snprintf(name, sizeof name, "%s_scratch", s->callee);
	LLVMValueRef dims = dim_array(e, s->dims, s->n_dims);
	return LLVMBuildCall2(e->builder, emit_scratch_type(e), emit_declare(e, name, emit_scratch_type(e)), &dims, 1, "");
}

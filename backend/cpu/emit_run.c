/* The functions of a unit: one runs it, one returns its scratch size. The time of some LLVM passes is quadratic in the length of a
 * function. So the statements of a long unit are divided into several functions, which are called in order. */
#include "backend/cpu/emit.h"
#include <stdio.h>
#include "backend/runtime/abi/tri.h"
#include "backend/runtime/abi/unit.h"
#include "base/arena.h"

enum { PART_WEIGHT = 1024, NEST_WEIGHT = 32 };

/* Statements `from` … `to`-1. */
struct part {
	uint32_t from, to;
};

/* Returns roughly the number of LLVM instructions. */
static uint32_t weight_of(const struct loop_stmt *s)
{
	uint32_t n = 0, n_calls;
	const struct loop_call *calls = loop_stmt_calls(s, &n_calls);
	for (uint32_t k = 0; k < n_calls; k++)
		n += calls[k].n_buffers + calls[k].n_dims;
	switch (s->kind) {
	case STMT_NEST: return NEST_WEIGHT + s->u.nest.n_exprs;
	case STMT_KERNEL:
		return s->u.kernel.n_buffers +
		       kernel_record(s->u.kernel.kernel)->n_fields; /* a prologue and an epilogue are functions of their own */
	case STMT_EFFECT: return s->u.effect.n_buffers + s->u.effect.n_dims;
	case STMT_LOOP: return n + 2 * s->u.loop.n_carried;
	case STMT_BLOCK:
		for (uint32_t k = 0; k < s->u.block.n_stmts; k++)
			n += weight_of(&s->u.block.stmts[k]);
		return n;
	default: return n;
	}
}

static struct part next_part(const struct loop_fn *f, uint32_t from)
{
	struct part p = {from, from};
	for (uint32_t weight = 0; p.to < f->n_stmts && weight < PART_WEIGHT; p.to++)
		weight += weight_of(&f->stmts[p.to]);
	return p;
}

/* Starts function e->function and moves into its first block. */
static void emit_run_begin(struct emit *e, LLVMValueRef f)
{
	e->function = f;
	e->frame = NULL;
	e->dim_values.len = 0;
	LLVMPositionBuilderAtEnd(e->builder, emit_block(e, "entry"));
}

void emit_use_unit(struct emit *e, const LLVMValueRef values[UNIT_VALUES])
{
	e->ctx = values[0];
	e->bufs = values[1];
	e->weights = values[2];
	e->dims = values[3];
	e->scratch = values[4];
}

static void begin_unit(struct emit *e, LLVMValueRef f)
{
	LLVMValueRef values[UNIT_VALUES];
	emit_run_begin(e, f);
	LLVMGetParams(f, values);
	emit_use_unit(e, values);
}

/* Adds a function that is private to the module. */
static LLVMValueRef part_function(struct emit *e, const char *name, uint32_t number, LLVMTypeRef type)
{
	char text[64];
	snprintf(text, sizeof text, "%s%u", name, number);
	LLVMValueRef f = LLVMAddFunction(e->module, text, type);
	LLVMSetLinkage(f, LLVMInternalLinkage);
	emit_attributes(e, f);
	return f;
}

static LLVMValueRef unit_function(struct emit *e, const char *name, LLVMTypeRef type)
{
	LLVMValueRef f = emit_declare(e, name, type);
	emit_attributes(e, f);
	return f;
}

/* Emits the checks of the unit: if one is negative, it calls tri_fail with its kind and its place, and returns. */
static void emit_checks(struct emit *e)
{
	LLVMValueRef bad = NULL, kind = NULL, place = NULL, zero = emit_i64(e, 0);
	for (uint32_t k = e->fn->n_checks; k-- > 0;) { /* the first one that fails is reported */
		LLVMValueRef negative = LLVMBuildICmp(e->builder, LLVMIntSLT, emit_dim(e, e->fn->checks[k].least), zero, "");
		LLVMValueRef its = emit_i64(e, e->fn->checks[k].kind);
		LLVMValueRef here = emit_i64(e, (int64_t)loops_place(e->fn->symbol, e->fn->n_stmts + k));
		kind = bad ? LLVMBuildSelect(e->builder, negative, its, kind, "") : its;
		place = bad ? LLVMBuildSelect(e->builder, negative, here, place, "") : here;
		bad = bad ? LLVMBuildOr(e->builder, bad, negative, "") : negative;
	}
	if (!bad)
		return;
	LLVMBasicBlockRef fail = emit_block(e, "size_error"), run = emit_block(e, "run");
	LLVMBuildCondBr(e->builder, bad, fail, run);
	LLVMPositionBuilderAtEnd(e->builder, fail);
	emit_fail(e, TRI_ERR_SHAPE, e->ctx, kind, place);
	LLVMBuildRetVoid(e->builder);
	LLVMPositionBuilderAtEnd(e->builder, run);
}

static void emit_part(struct emit *e, struct part p)
{
	for (uint32_t k = p.from; k < p.to; k++) {
		e->dim_values.len = 0;
		emit_line(e, k + 1);
		if (e->target->profile_hook)
			emit_profiled(e, k);
		else
			emit_stmt(e, &e->fn->stmts[k]);
	}
	emit_line(e, 0);
}

/* Emits each part as a function, and calls of them here. */
static void emit_parts(struct emit *e)
{
	LLVMTypeRef type = emit_unit_type(e);
	LLVMValueRef unit = e->function, args[5];
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
	for (uint32_t k = 0; k < 5; k++)
		args[k] = LLVMGetParam(unit, k);
	uint32_t n = 0;
	for (struct part p = {0, 0}; p.to < e->fn->n_stmts;) {
		p = next_part(e->fn, p.to);
		LLVMValueRef f = part_function(e, "part", n++, type);
		begin_unit(e, f);
		emit_part(e, p);
		LLVMBuildRetVoid(e->builder);
		LLVMPositionBuilderAtEnd(e->builder, back);
		LLVMBuildCall2(e->builder, type, f, args, 5, "");
	}
	e->function = unit;
}

static void emit_run(struct emit *e)
{
	struct part first = next_part(e->fn, 0);
	begin_unit(e, unit_function(e, e->fn->symbol, emit_unit_type(e)));
	emit_checks(e);
	if (first.to == e->fn->n_stmts)
		emit_part(e, first);
	else
		emit_parts(e);
	LLVMBuildRetVoid(e->builder);
}

/* Starts a function that records overflow. */
static void begin_scratch(struct emit *e, LLVMValueRef f)
{
	emit_run_begin(e, f);
	e->dims = LLVMGetParam(f, 0);
	e->overflow = LLVMConstInt(e->i1, 0, 0);
}

static void end_scratch(struct emit *e, LLVMValueRef size)
{
	LLVMBuildRet(e->builder, LLVMBuildSelect(e->builder, e->overflow, emit_i64(e, TRI_TOO_LARGE), size, ""));
	e->overflow = NULL;
}

/* Returns the larger of `most` and the scratch size of a callee. */
static LLVMValueRef most_with(struct emit *e, LLVMValueRef most, LLVMValueRef need)
{
	LLVMValueRef beyond = LLVMBuildICmp(e->builder, LLVMIntEQ, need, emit_i64(e, TRI_TOO_LARGE), "");
	e->overflow = LLVMBuildOr(e->builder, e->overflow, beyond, "");
	return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, need, most, ""), need, most, "");
}

/* Returns the largest scratch size of the callees of a part. */
static LLVMValueRef part_scratch(struct emit *e, struct part p)
{
	LLVMValueRef most = emit_i64(e, 0);
	for (uint32_t k = p.from; k < p.to; k++) {
		uint32_t n;
		const struct loop_call *calls = loop_stmt_calls(&e->fn->stmts[k], &n);
		for (uint32_t i = 0; i < n; i++)
			most = most_with(e, most, emit_callee_scratch(e, &calls[i]));
	}
	return most;
}

static LLVMValueRef parts_scratch(struct emit *e)
{
	LLVMTypeRef type = emit_scratch_type(e);
	LLVMValueRef unit = e->function, dims = e->dims, most = emit_i64(e, 0), overflow = e->overflow;
	LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
	uint32_t n = 0;
	for (struct part p = {0, 0}; p.to < e->fn->n_stmts;) {
		p = next_part(e->fn, p.to);
		LLVMValueRef f = part_function(e, "scratch", n++, type);
		begin_scratch(e, f);
		end_scratch(e, part_scratch(e, p));
		LLVMPositionBuilderAtEnd(e->builder, back);
		e->overflow = overflow;
		most = most_with(e, most, LLVMBuildCall2(e->builder, type, f, &dims, 1, ""));
		overflow = e->overflow;
	}
	e->function = unit;
	e->dims = dims;
	e->dim_values.len = 0;
	return most;
}

/* Own scratch plus the largest scratch of a callee. */
static void emit_scratch(struct emit *e)
{
	char name[512];
	struct part first = next_part(e->fn, 0);
	snprintf(name, sizeof name, "%s_scratch", e->fn->symbol);
	begin_scratch(e, unit_function(e, name, emit_scratch_type(e)));
	LLVMValueRef most = first.to == e->fn->n_stmts ? part_scratch(e, first) : parts_scratch(e);
	end_scratch(e, emit_dim_sum(e, emit_dim(e, e->fn->scratch), most, false));
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
	struct arena *a = arena_new(0);
	if (e->target->profile_hook)
		e->live = loops_live_buffers(a, f);
	emit_lines_open(e);
	emit_run(e);
	emit_scratch(e);
	arena_free(a);
	vec_free(&e->dim_values);
}

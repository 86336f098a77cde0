/* Blocks: loops around statements. The frame of a block belongs to the thread that executes an iteration, so it stays in that core's cache. */
#include <stdlib.h>
#include "backend/cpu/emit.h"
#include "backend/runtime/abi/unit.h"
#include "base/bug.h"

enum { FRAME_ALIGNMENT = 64 };
_Static_assert((int)LOOP_MOST_FRAME <= (int)TRI_SPACE, "a block calls no kernel, which would use the space too");

static int64_t frame_bytes(const struct emit *e, const struct loop_block *b)
{
	int64_t n;
	return dim_known(e, b->frame, &n) ? n : 0;
}

static LLVMValueRef space_of_thread(struct emit *e)
{
	LLVMTypeRef type = LLVMFunctionType(e->ptr, &e->ptr, 1, 0);
	LLVMValueRef f = emit_declare(e, "tri_space", type);
	LLVMAddAttributeAtIndex(f, LLVMAttributeReturnIndex,
				LLVMCreateEnumAttribute(e->context, LLVMGetEnumAttributeKindForName("noalias", 7), 0));
	return LLVMBuildCall2(e->builder, type, f, &e->ctx, 1, "");
}

/* A frame on the stack for all blocks of the function, of which one runs at a time. */
static LLVMValueRef frame_of(struct emit *e)
{
	int64_t most = 0;
	if (e->frame)
		return e->frame;
	for (uint32_t k = 0; k < e->fn->n_stmts; k++) {
		const struct loop_block *b = e->fn->stmts[k].kind == STMT_BLOCK ? &e->fn->stmts[k].u.block : NULL;
		int64_t n = b && b->on_stack ? frame_bytes(e, b) : 0;
		most = n > most ? n : most;
	}
	e->frame = emit_stack_array(e, e->i8, (uint32_t)most);
	LLVMSetAlignment(e->frame, FRAME_ALIGNMENT);
	return e->frame;
}

LLVMValueRef emit_own_buffer(struct emit *e, uint32_t buffer)
{
	const struct loop_buffer *b = &e->fn->buffers[buffer];
	LLVMValueRef *own = &e->outer->privates[buffer], offset;
	int64_t n = 1, size;
	if (b->scope == SCOPE_LOCAL) {
		offset = emit_dim(e, b->offset);
		return LLVMBuildInBoundsGEP2(e->builder, e->i8, frame_of(e), &offset, 1, "");
	}
	for (uint32_t k = 0; k < b->type.rank; k++)
		n *= dim_known(e, b->type.dims[k], &size) ? size : 1;
	if (!*own)
		*own = emit_stack_array(e, type_memory(e, b->type.elem), (uint32_t)n);
	return *own;
}

/* ---- nests that are functions ---- */

static void find_apart(void *ctx, const struct loop_nest *n) { *(bool *)ctx |= n->schedule.apart; }

static void open_private(void *ctx, uint32_t buffer)
{
	struct emit *e = ctx;
	if (e->fn->buffers[buffer].scope == SCOPE_PRIVATE)
		emit_own_buffer(e, buffer);
}

/* Stores the values of the unit, the frame, and the private buffers of the block in an array. */
static LLVMValueRef store_list(struct emit *e, const struct loop_block *b)
{
	LLVMValueRef values[] = {e->ctx, e->bufs, e->weights, e->dims, e->scratch, frame_of(e)};
	uint32_t n = sizeof values / sizeof *values, at = n;
	for (uint32_t k = 0; k < b->n_stmts; k++)
		loop_stmt_buffers(&b->stmts[k], open_private, e);
	for (uint32_t k = 0; k < e->fn->n_buffers; k++)
		n += e->outer->privates[k] != NULL;
	LLVMValueRef list = emit_stack_array(e, e->ptr, n);
	for (uint32_t k = 0; k < at; k++)
		LLVMBuildStore(e->builder, values[k], emit_element(e, e->ptr, list, k));
	for (uint32_t k = 0; k < e->fn->n_buffers; k++)
		if (e->outer->privates[k])
			LLVMBuildStore(e->builder, e->outer->privates[k], emit_element(e, e->ptr, list, at++));
	return list;
}

/* Emits the body of a nest's function: (list, variables of the loops of the blocks …). */
static void emit_function(struct emit *e, const struct loop_nest *n)
{
	struct emit_outer o = *e->outer;
	LLVMValueRef values[UNIT_VALUES + 1], list = LLVMGetParam(e->function, 0);
	uint32_t at = UNIT_VALUES + 1;
	emit_load_unit(e, list, values);
	emit_use_unit(e, values);
	e->frame = LLVMBuildLoad2(e->builder, e->ptr, emit_element(e, e->ptr, list, UNIT_VALUES), "");
	o.privates = calloc(e->fn->n_buffers + 1, sizeof *o.privates);
	BUG_ON(!o.privates);
	for (uint32_t k = 0; k < e->fn->n_buffers; k++)
		if (e->outer->privates[k])
			o.privates[k] = LLVMBuildLoad2(e->builder, e->ptr, emit_element(e, e->ptr, list, at++), "");
	for (uint32_t k = 0; k < n->n_outer; k++)
		o.var[k] = LLVMGetParam(e->function, 1 + k);
	const struct emit_outer *around = e->outer;
	e->outer = &o;
	emit_nest(e, n);
	e->outer = around;
	LLVMBuildRetVoid(e->builder);
	free(o.privates);
}

static void call_nest(struct emit *e, const struct loop_nest *n)
{
	LLVMTypeRef params[1 + LOOP_MAX] = {e->ptr};
	LLVMValueRef args[1 + LOOP_MAX] = {e->outer->list};
	for (uint32_t k = 0; k < n->n_outer; k++) {
		params[1 + k] = e->i64;
		args[1 + k] = e->outer->var[k];
	}
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 1u + n->n_outer, 0);
	struct emit_outlined o;
	LLVMValueRef f = emit_outline(e, "nest", type, &o);
	emit_function(e, n);
	emit_inline_again(e, &o);
	LLVMBuildCall2(e->builder, type, f, args, 1u + n->n_outer, "");
}

/* ---- loops ---- */

static void run_statements(struct emit *e, const struct loop_block *b)
{
	for (uint32_t k = 0; k < b->n_stmts; k++)
		if (b->stmts[k].kind == STMT_NEST)
			(b->stmts[k].u.nest.schedule.apart ? call_nest : emit_nest)(e, &b->stmts[k].u.nest);
		else
			emit_nested(e, &b->stmts[k].u.block);
}

/* Emits the axes from `at` on. Dims that were computed in a loop cannot be used after it. */
static void emit_nested_run_axes(struct emit *e, struct emit_outer *o, const struct emit_range *range, uint32_t at)
{
	const struct loop_nest *n = &o->block->loops;
	struct emit_loop l;
	if (at == n->schedule.n_axes) {
		run_statements(e, o->block);
		return;
	}
	uint32_t loop = n->schedule.axes[at].of;
	if (n->schedule.axes[at].kind == AXIS_PARALLEL) {
		emit_nested_run_axes(e, o, range, at + 1);
		return;
	}
	bool moved = range && range->loop == loop;
	emit_loop_open(e, &l, emit_i64(e, 0), moved ? range->size : emit_dim(e, n->extent[loop]), emit_i64(e, 1), NULL, 0);
	o->var[loop] = moved ? LLVMBuildAdd(e->builder, l.var, range->from, "") : l.var;
	emit_nested_run_axes(e, o, range, at + 1);
	emit_loop_close(e, &l);
	e->dim_values.len = 0;
}

void emit_nested(struct emit *e, const struct loop_block *b)
{
	const struct emit_range *range = e->range;
	struct emit_outer o = {.around = e->outer, .block = b};
	for (uint32_t k = 0; k < b->loops.n_outer; k++)
		o.var[k] = e->outer->var[k];
	o.privates = e->outer ? e->outer->privates : calloc(e->fn->n_buffers + 1, sizeof *o.privates);
	BUG_ON(!o.privates);
	bool apart = false;
	for (uint32_t k = 0; k < b->n_stmts; k++)
		loop_stmt_nests(&b->stmts[k], find_apart, &apart);
	LLVMValueRef stack_frame = e->frame;
	bool large = !o.around && !b->on_stack;
	if (large)
		e->frame = space_of_thread(e);
	e->range = NULL;
	e->outer = &o;
	o.list = o.around ? o.around->list : apart ? store_list(e, b) : NULL;
	emit_nested_run_axes(e, &o, range, 0);
	e->outer = o.around;
	e->range = range;
	if (large)
		e->frame = stack_frame;
	if (!o.around)
		free(o.privates);
}

/* Blocks: loops around statements. The frame of a block is on the stack of the thread that executes an iteration, so it stays in that core's cache. */
#include <stdlib.h>
#include "backend/cpu/emit.h"
#include "base/bug.h"

enum { FRAME_ALIGNMENT = 64 };

/* One frame for all blocks of the function, of which one runs at a time. */
static LLVMValueRef frame_of(struct emit *e)
{
	int64_t most = 0, n;
	if (e->frame)
		return e->frame;
	for (uint32_t k = 0; k < e->fn->n_stmts; k++)
		if (e->fn->stmts[k].kind == STMT_BLOCK && dim_known(e, e->fn->stmts[k].u.block.frame, &n) && n > most)
			most = n;
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

static void run_statements(struct emit *e, const struct loop_block *b)
{
	for (uint32_t k = 0; k < b->n_stmts; k++)
		if (b->stmts[k].kind == STMT_NEST)
			emit_nest(e, &b->stmts[k].u.nest);
		else
			emit_nested(e, &b->stmts[k].u.block);
}

/* Emits the axes from `at` on. What is computed in a loop cannot be used after it. */
static void run_axes(struct emit *e, struct emit_outer *o, const struct emit_range *range, uint32_t at)
{
	const struct loop_nest *n = &o->block->loops;
	struct emit_loop l;
	if (at == n->schedule.n_axes) {
		run_statements(e, o->block);
		return;
	}
	uint32_t loop = n->schedule.axes[at].of, known = e->dim_values.len;
	if (n->schedule.axes[at].kind == AXIS_PARALLEL) {
		run_axes(e, o, range, at + 1);
		return;
	}
	bool moved = range && range->loop == loop;
	emit_loop_open(e, &l, emit_i64(e, 0), moved ? range->size : emit_dim(e, n->extent[loop]), emit_i64(e, 1), NULL, 0);
	o->var[loop] = moved ? LLVMBuildAdd(e->builder, l.var, range->from, "") : l.var;
	run_axes(e, o, range, at + 1);
	emit_loop_close(e, &l);
	e->dim_values.len = known;
}

void emit_nested(struct emit *e, const struct loop_block *b)
{
	const struct emit_range *range = e->range;
	struct emit_outer o = {.around = e->outer, .block = b};
	for (uint32_t k = 0; k < b->loops.n_outer; k++)
		o.var[k] = e->outer->var[k];
	o.privates = e->outer ? e->outer->privates : calloc(e->fn->n_buffers + 1, sizeof *o.privates);
	BUG_ON(!o.privates);
	e->range = NULL;
	e->outer = &o;
	run_axes(e, &o, range, 0);
	e->outer = o.around;
	e->range = range;
	if (!o.around)
		free(o.privates);
}

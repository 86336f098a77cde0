/* What all kinds of statements have in common. */
#include "backend/loops/ir/loops.h"
#include <string.h>
#include "backend/kernels/kernel.h"
#include "base/hash.h"

uint32_t loops_unit_tag(const char *symbol) { return (uint32_t)hash64_bytes(symbol, strlen(symbol)); }

uint32_t loop_expr_operands(const struct loop_expr *x)
{
	return x->kind == LOOP_OP ? (uint32_t)ir_op_operands(x->op) : x->kind == LOOP_CHECK || x->kind == LOOP_BOUNDED;
}

bool loop_nest_is_expensive(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_OP && (ir_op_traits(n->exprs[k].op) & EXPENSIVE))
			return true;
	return false;
}

static uint32_t stmt_uses(const struct loop_nest *n, uint32_t expr)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		for (uint32_t j = 0; j < loop_expr_operands(&n->exprs[k]); j++)
			count += n->exprs[k].args[j] == expr;
	for (uint32_t k = 0; k < n->n_reductions; k++)
		count += n->reductions[k].value == expr;
	return count;
}

bool loop_may_fuse_product(const struct loop_nest *n, const struct loop_reduction *r)
{
	const struct loop_expr *x = &n->exprs[r->value];
	return r->op == OP_REDUCE_SUM && x->kind == LOOP_OP && x->op == OP_MUL && dtype_class(x->elem) == DTC_FLOAT &&
	       stmt_uses(n, r->value) == 1;
}

static void stmt_visit(const uint32_t *buffers, uint32_t n, loop_buffer_fn *fn, void *ctx)
{
	for (uint32_t k = 0; k < n; k++)
		fn(ctx, buffers[k]);
}

static void stmt_visit_nest(const struct loop_nest *n, loop_buffer_fn *fn, void *ctx)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			fn(ctx, n->exprs[k].access.buffer);
	for (uint32_t k = 0; k < n->n_stores; k++)
		fn(ctx, n->stores[k].access.buffer);
}

static void visit_call(const struct loop_call *c, loop_buffer_fn *fn, void *ctx) { stmt_visit(c->buffers, c->n_buffers, fn, ctx); }

void loop_stmt_buffers(const struct loop_stmt *s, loop_buffer_fn *fn, void *ctx)
{
	switch (s->kind) {
	case STMT_NEST: stmt_visit_nest(&s->u.nest, fn, ctx); return;
	case STMT_KERNEL:
		if (s->u.kernel.prologue)
			stmt_visit_nest(s->u.kernel.prologue, fn, ctx);
		stmt_visit(s->u.kernel.buffers, s->u.kernel.n_buffers, fn, ctx);
		if (s->u.kernel.epilogue)
			stmt_visit_nest(s->u.kernel.epilogue, fn, ctx);
		return;
	case STMT_CALL: visit_call(&s->u.call, fn, ctx); return;
	case STMT_EFFECT: stmt_visit(s->u.effect.buffers, s->u.effect.n_buffers, fn, ctx); return;
	case STMT_BRANCH:
		fn(ctx, s->u.branch.condition);
		visit_call(&s->u.branch.calls[0], fn, ctx);
		visit_call(&s->u.branch.calls[1], fn, ctx);
		return;
	case STMT_LOOP:
		fn(ctx, s->u.loop.condition);
		stmt_visit(s->u.loop.initial, s->u.loop.n_carried, fn, ctx);
		visit_call(&s->u.loop.body, fn, ctx);
		return;
	case STMT_BLOCK:
		for (uint32_t k = 0; k < s->u.block.n_stmts; k++)
			loop_stmt_buffers(&s->u.block.stmts[k], fn, ctx);
		return;
	}
}

const struct loop_call *loop_stmt_calls(const struct loop_stmt *s, uint32_t *n)
{
	switch (s->kind) {
	case STMT_CALL: *n = 1; return &s->u.call;
	case STMT_BRANCH: *n = 2; return s->u.branch.calls;
	case STMT_LOOP: *n = 1; return &s->u.loop.body;
	default: *n = 0; return NULL;
	}
}

bool loop_epilogue_by_columns(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_VECTOR)
			return n->schedule.axes[k].of == TILE_ROW;
	return false;
}

const struct loop_nest *loop_stmt_nest(const struct loop_stmt *s)
{
	return s->kind == STMT_NEST ? &s->u.nest : s->kind == STMT_KERNEL ? s->u.kernel.epilogue : NULL;
}

void loop_stmt_nests(const struct loop_stmt *s, loop_nest_fn *fn, void *ctx)
{
	if (s->kind == STMT_NEST)
		fn(ctx, &s->u.nest);
	if (s->kind == STMT_KERNEL && s->u.kernel.prologue)
		fn(ctx, s->u.kernel.prologue);
	if (s->kind == STMT_KERNEL && s->u.kernel.epilogue)
		fn(ctx, s->u.kernel.epilogue);
	if (s->kind != STMT_BLOCK)
		return;
	fn(ctx, &s->u.block.loops);
	for (uint32_t k = 0; k < s->u.block.n_stmts; k++)
		loop_stmt_nests(&s->u.block.stmts[k], fn, ctx);
}

static void check_scheduled(void *ctx, const struct loop_nest *n) { *(bool *)ctx &= n->schedule.index_bytes != 0; }

bool loops_is_scheduled(const struct loop_fn *f)
{
	bool all = true;
	for (uint32_t k = 0; k < f->n_stmts; k++)
		loop_stmt_nests(&f->stmts[k], check_scheduled, &all);
	return all;
}

const char *loop_stmt_name(const struct loop_stmt *s)
{
	switch (s->kind) {
	case STMT_NEST: return "loop";
	case STMT_BLOCK: return "block";
	case STMT_KERNEL: return kernel_info(s->u.kernel.kernel)->symbol;
	case STMT_CALL: return s->u.call.callee;
	case STMT_BRANCH: return "if";
	case STMT_LOOP: return "while";
	case STMT_EFFECT: return s->u.effect.where ? "assert" : "print";
	}
	return "";
}

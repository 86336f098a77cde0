/* Checks the invariants of loop IR that its printers rely on. */
#include "backend/loops/loops.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/bug.h"

struct check {
	const struct loop_fn *f;
	const struct loop_nest *n;
	struct buf *why;
	uint32_t stmt;
	bool tile; /* the nest is an epilogue */
};

static bool fail(const struct check *c, const char *what, uint32_t at)
{
	buf_printf(c->why, "%s: statement %u: %s (%u)\n", c->f->symbol, c->stmt, what, at);
	loops_print(c->f, c->why);
	return false;
}

static bool check_access(const struct check *c, const struct loop_access *a, uint32_t loops, uint32_t at)
{
	if (a->buffer >= c->f->n_buffers)
		return fail(c, "the access has no buffer", at);
	if (ir_layout_is_packed(c->f->buffers[a->buffer].layout))
		return fail(c, "element access to a packed buffer", at);
	int64_t v;
	for (uint32_t k = loops; k < LOOP_MAX; k++)
		if (!dim_is_const(c->f->dims, a->stride[k], &v) || v)
			return fail(c, "a stride along a loop that does not exist", at);
	return true;
}

static uint32_t arity(const struct loop_expr *e) { return e->kind == LOOP_OP ? (uint32_t)ir_op_operands(e->op) : 0; }

static bool check_args(const struct check *c, const struct loop_expr *e, uint32_t at)
{
	if (e->kind == LOOP_OP && !(ir_op_traits(e->op) & EWISE))
		return fail(c, "operation is not element-wise", at);
	for (uint32_t k = 0; k < arity(e); k++) {
		if (e->args[k] >= at)
			return fail(c, "argument does not precede its user", at);
		if (c->n->exprs[e->args[k]].in_reduction != e->in_reduction)
			return fail(c, "an argument inside and its user outside of the reduction loops, or the reverse", at);
	}
	return true;
}

static bool check_index(const struct check *c, const struct loop_expr *e, uint32_t at)
{
	uint32_t index = e->access.index;
	if (index == LOOP_NONE)
		return true;
	if (index >= at || c->n->exprs[index].elem != DT_INT64 || c->n->exprs[index].in_reduction != e->in_reduction)
		return fail(c, "bad index expression", at);
	return true;
}

static bool check_expr(const struct check *c, uint32_t at)
{
	const struct loop_expr *e = &c->n->exprs[at];
	uint32_t loops = c->n->n_parallel + (e->in_reduction ? c->n->n_reduce : 0u);
	if (!check_args(c, e, at))
		return false;
	switch (e->kind) {
	case LOOP_LOAD:
		return check_access(c, &e->access, loops, at) && check_index(c, e, at) &&
		       (c->f->buffers[e->access.buffer].type.elem == e->elem || fail(c, "load of another element type", at));
	case LOOP_INDEX: return e->var < loops || fail(c, "the loop of an index does not exist", at);
	case LOOP_TILE: return c->tile || fail(c, "a tile outside of an epilogue", at);
	case LOOP_ACC: return (!e->in_reduction && e->var < c->n->n_reductions) || fail(c, "accumulator not available", at);
	default: return true;
	}
}

static bool is_power_of_two(uint32_t x) { return x && !(x & (x - 1)); }

/* The part of the body that one axis leaves to those inside: axes of a loop are adjacent and divide each other's steps. */
static bool check_axis(const struct check *c, uint32_t at)
{
	const struct loop_schedule *s = &c->n->schedule;
	const struct loop_axis *a = &s->axes[at], *inner = at + 1 < s->n_axes && s->axes[at + 1].of == a->of ? a + 1 : NULL;
	if (a->of >= (uint32_t)c->n->n_parallel + c->n->n_reduce)
		return fail(c, "an axis of a loop that does not exist", at);
	if (!is_power_of_two(a->width) || a->width > (a->kind == AXIS_UNROLL ? LOOP_MAX_UNROLL : LOOP_MAX_LANES))
		return fail(c, "bad width of an axis", at);
	if (at > 0 && a[-1].of >= c->n->n_parallel && a->of < c->n->n_parallel)
		return fail(c, "a parallel loop inside of a reduction loop", at);
	if (a->step < 1 || a->step > LOOP_MAX_STEP || (inner && (inner->step < 1 || inner->step > LOOP_MAX_STEP)))
		return fail(c, "bad step of an axis", at);
	if (inner && inner->kind != AXIS_UNROLL && inner->kind != AXIS_VECTOR && a->kind != AXIS_PARALLEL)
		return fail(c, "axes of a loop in the wrong order", at);
	if ((a->kind == AXIS_VECTOR) != (inner == NULL && a->width > 1 && a->kind != AXIS_LANE))
		return fail(c, "only the innermost axis of a loop is a vector", at);
	int64_t inside = inner ? inner->step * inner->width : 1;
	return (a->kind == AXIS_PARALLEL ? a->step % inside == 0 : a->step == inside) ||
	       fail(c, "a step differs from what the inner axes cover", at);
}

/* The tail that the printers expect if loop `of` has vectors. */
static bool check_tail(const struct check *c, const struct loop_axis *outer, const struct loop_axis *vector)
{
	int64_t extent, step = outer->step * outer->width;
	bool known = dim_is_const(c->f->dims, c->n->extent[vector->of], &extent);
	if (c->n->schedule.tail == TAIL_OVERLAP && (!known || extent < (vector->of < c->n->n_parallel ? step : vector->width)))
		return fail(c, "the overlapping tail of a loop that may be too short", vector->of);
	if ((outer->kind == AXIS_UNROLL || outer->kind == AXIS_VECTOR) && (!known || extent != step))
		return fail(c, "a vector does not cover its loop", vector->of);
	return true;
}

static bool check_schedule(const struct check *c)
{
	const struct loop_schedule *s = &c->n->schedule;
	const struct loop_axis *outer = s->axes;
	uint32_t seen = 0, vectors = 0;
	if (!s->index_bytes) /* it was not chosen yet */
		return s->n_axes == 0 || fail(c, "a schedule without a size of indices", 0);
	for (uint32_t k = 0; k < s->n_axes; k++) {
		const struct loop_axis *a = &s->axes[k];
		if (!check_axis(c, k))
			return false;
		if (k == 0 || a[-1].of != a->of) {
			if (seen >> a->of & 1)
				return fail(c, "the axes of a loop are not adjacent", k);
			seen |= 1u << a->of;
			outer = a;
		}
		if (a->kind == AXIS_VECTOR && (vectors++ || !check_tail(c, outer, a)))
			return fail(c, "a second vector", k);
	}
	uint32_t loops = (uint32_t)c->n->n_parallel + c->n->n_reduce;
	return seen == (1u << loops) - 1 || fail(c, "a loop without an axis", seen);
}

static bool check_nest(struct check *c, const struct loop_nest *n)
{
	c->n = n;
	if (n->n_parallel + n->n_reduce > LOOP_MAX)
		return fail(c, "too many loops", n->n_parallel);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (!check_expr(c, k))
			return false;
	if (!check_schedule(c))
		return false;
	for (uint32_t k = 0; k < n->n_reductions; k++)
		if (n->reductions[k].value >= n->n_exprs || !n->exprs[n->reductions[k].value].in_reduction)
			return fail(c, "reduction of a value outside its loops", k);
	for (uint32_t k = 0; k < n->n_stores; k++) {
		const struct loop_store *s = &n->stores[k];
		if (s->value >= n->n_exprs || n->exprs[s->value].in_reduction)
			return fail(c, "store of a value inside the reduction loops", k);
		if (!check_access(c, &s->access, n->n_parallel, k))
			return false;
		if (c->f->buffers[s->access.buffer].type.elem != n->exprs[s->value].elem)
			return fail(c, "store of another element type", k);
	}
	return true;
}

static bool check_buffers(const struct check *c, const uint32_t *buffers, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (buffers[k] >= c->f->n_buffers)
			return fail(c, "an argument is not a buffer", k);
	return true;
}

/* The printers call an epilogue for a tile of any size. */
static bool check_epilogue(struct check *c, const struct loop_kernel *s)
{
	const struct loop_nest *n = s->epilogue;
	if (!kernel_info(s->kernel)->epilogue || n->n_parallel != TILE_AXES || n->n_reduce || n->n_reductions)
		return fail(c, "bad epilogue", s->kernel);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX || (n->exprs[k].kind == LOOP_LOAD && n->exprs[k].access.index != LOOP_NONE))
			return fail(c, "an index in an epilogue", k);
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_VECTOR && (n->schedule.axes[k].of != TILE_AXES - 1 || n->schedule.tail != TAIL_SCALAR))
			return fail(c, "the vector of an epilogue is not in its columns", k);
	c->tile = true;
	return check_nest(c, n);
}

static bool check_kernel(struct check *c, const struct loop_kernel *s)
{
	const struct kernel_info *info = kernel_info(s->kernel);
	if (s->n_buffers + (s->epilogue != NULL) != info->n_buffers || s->n_dims != info->n_dims)
		return fail(c, "wrong number of buffers or dims of a kernel", s->n_buffers);
	return check_buffers(c, s->buffers, s->n_buffers) && (!s->epilogue || check_epilogue(c, s));
}

static bool check_call(const struct check *c, const struct loop_call *s) { return check_buffers(c, s->buffers, s->n_buffers); }

static bool check_branch(const struct check *c, const struct loop_branch *s)
{
	return check_buffers(c, &s->condition, 1) && check_call(c, &s->calls[0]) && check_call(c, &s->calls[1]);
}

static bool check_loop(const struct check *c, const struct loop_iterate *s)
{
	if (s->body.n_buffers < 2 * (uint64_t)s->n_carried + 1)
		return fail(c, "too few buffers of a loop's body", s->body.n_buffers);
	return check_buffers(c, &s->condition, 1) && check_buffers(c, s->initial, s->n_carried) && check_call(c, &s->body);
}

static bool check_stmt(struct check *c, const struct loop_stmt *s)
{
	switch (s->kind) {
	case STMT_NEST: return check_nest(c, &s->u.nest);
	case STMT_KERNEL: return check_kernel(c, &s->u.kernel);
	case STMT_CALL: return check_call(c, &s->u.call);
	case STMT_BRANCH: return check_branch(c, &s->u.branch);
	case STMT_LOOP: return check_loop(c, &s->u.loop);
	case STMT_EFFECT: return check_buffers(c, s->u.effect.buffers, s->u.effect.n_buffers);
	}
	return fail(c, "unknown kind of statement", s->kind);
}

struct uses {
	const struct loop_fn *f;
	uint32_t stmt, bad;
	uint8_t *ends; /* for each buffer: bit 0: its first statement uses it, bit 1: its last one */
};

static void check_use(void *ctx, uint32_t buffer)
{
	struct uses *u = ctx;
	const struct loop_buffer *b = &u->f->buffers[buffer];
	if (b->end && (u->stmt < b->first || u->stmt >= b->end))
		u->bad = buffer;
	u->ends[buffer] |= (u->stmt == b->first) | (u->stmt + 1 == b->end) << 1;
}

/* Temporaries with a lifetime are used by its first and its last statement, and by none outside. */
static bool check_lifetimes(const struct check *c)
{
	struct uses u = {c->f, 0, LOOP_NONE, calloc(c->f->n_buffers + 1, 1)};
	BUG_ON(!u.ends);
	for (; u.stmt < c->f->n_stmts; u.stmt++)
		loop_stmt_buffers(&c->f->stmts[u.stmt], check_use, &u);
	for (uint32_t k = 0; k < c->f->n_buffers; k++)
		if (c->f->buffers[k].kind == BUFFER_TEMP && c->f->buffers[k].end && u.ends[k] != 3)
			u.bad = k;
	free(u.ends);
	return u.bad == LOOP_NONE || fail(c, "a use of a buffer outside of its lifetime, or a longer lifetime", u.bad);
}

bool loops_verify(const struct loop_fn *f, struct buf *why)
{
	for (uint32_t k = 0; k < f->n_stmts; k++) {
		struct check c = {.f = f, .why = why, .stmt = k};
		if (!check_stmt(&c, &f->stmts[k]))
			return false;
	}
	return check_lifetimes(&(struct check){.f = f, .why = why, .stmt = f->n_stmts});
}

/* Gives results the memory of operands that nothing reads later: for element-wise nests, and for kernels that work in place. Scratch memory
 * shrinks, and results are written to cache lines that are already there. */
#include "backend/loops/in_place.h"
#include <string.h>
#include "backend/loops/grow.h"
#include "backend/loops/kernel_shape.h"
#include "backend/loops/loop_passes.h"
#include "base/arena.h"

/* A scalar rest takes as long as up to LANES vectors; a loop that has fewer steps keeps its overlapping tail, and its result gets memory of its
 * own. */
enum { LEAST_STEPS = 32 };

/* ---- what is sound ---- */

static bool same_size(const struct loop_fn *f, const struct hir_type *a, const struct hir_type *b)
{
	int64_t sizes[2] = {1, 1}, n;
	if (a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0)
		return true;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < (i ? b : a)->rank; k++)
			if (!dim_is_const(f->dims, (i ? b : a)->dims[k], &n) || __builtin_mul_overflow(sizes[i], n, &sizes[i]))
				return false;
	return sizes[0] == sizes[1];
}

static bool same_memory(const struct loop_fn *f, const struct loop_buffer *a, const struct loop_buffer *b)
{
	return a->kind == BUFFER_TEMP && b->kind == BUFFER_TEMP && a->scope == SCOPE_GLOBAL && b->scope == SCOPE_GLOBAL &&
	       a->layout == b->layout && a->type.elem == b->type.elem && same_size(f, &a->type, &b->type);
}

static bool same_element(const struct loop_access *a, const struct loop_access *b)
{
	return a->index == LOOP_NONE && b->index == LOOP_NONE && dim_eq(a->base, b->base) &&
	       memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

static const struct loop_axis *vector_of(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].kind == AXIS_VECTOR)
			return &n->schedule.axes[k];
	return NULL;
}

bool loops_executes_once(const struct loop_nest *n)
{
	return n->schedule.tail == TAIL_NONE || n->schedule.tail == TAIL_REST || !vector_of(n);
}

/* The nest stores `to` once, loads `from` only where it stores, and loads nothing of `to`. */
static bool nest_can(const struct loop_nest *n, uint32_t from, uint32_t to)
{
	const struct loop_access *store = NULL;
	for (uint32_t k = 0; k < n->n_stores; k++) {
		uint32_t buffer = n->stores[k].access.buffer;
		if (buffer == from || (buffer == to && store))
			return false;
		store = buffer == to ? &n->stores[k].access : store;
	}
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		const struct loop_access *a = &n->exprs[k].access;
		if (n->exprs[k].kind != LOOP_LOAD || (a->buffer != from && a->buffer != to))
			continue;
		if (!store || a->buffer == to || !same_element(a, store))
			return false;
	}
	return store && n->n_reduce == 0;
}

static bool loads(const struct loop_nest *n, uint32_t buffer)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD && n->exprs[k].access.buffer == buffer)
			return true;
	return false;
}

/* A prologue reads while results are written. */
static bool kernel_can(const struct loop_kernel *x, uint32_t from, uint32_t to)
{
	const struct kernel_operand *o = kernel_operands(x->kernel);
	for (uint32_t k = x->epilogue || x->prologue ? 0 : 1; k + !x->epilogue < x->n_buffers; k++)
		if (x->buffers[k] == from || x->buffers[k] == to)
			return false;
	if (x->prologue && (loads(x->prologue, from) || loads(x->prologue, to)))
		return false;
	if (x->epilogue)
		return nest_can(x->epilogue, from, to);
	return o && !x->prologue && o[x->n_buffers - 1].in_place && x->buffers[0] == from && x->buffers[x->n_buffers - 1] == to;
}

bool loops_can_overwrite(const struct loop_fn *f, const struct loop_stmt *s, uint32_t from, uint32_t to)
{
	if (from == to || !same_memory(f, &f->buffers[from], &f->buffers[to]))
		return false;
	return s->kind == STMT_NEST ? nest_can(&s->u.nest, from, to) : s->kind == STMT_KERNEL && kernel_can(&s->u.kernel, from, to);
}

/* ---- what is chosen ---- */

/* Gives the nest a tail that executes nothing twice. Returns false if that would be slow. */
static bool execute_once(const struct loop_fn *f, struct loop_nest *n)
{
	const struct loop_axis *v = vector_of(n);
	int64_t extent, step = 1;
	if (loops_executes_once(n))
		return true;
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		if (n->schedule.axes[k].of == v->of && n->schedule.axes[k].kind != AXIS_PARALLEL && step < n->schedule.axes[k].step)
			step = n->schedule.axes[k].step;
	bool fits =
		dim_is_const(f->dims, n->extent[v->of], &extent) ? extent % step == 0 || extent >= LEAST_STEPS * step : n->n_parallel == 1;
	if (fits)
		n->schedule.tail = TAIL_REST;
	return fits;
}

struct search {
	struct loop_fn *f;
	uint32_t stmt, from, to;
	bool *taken; /* of each buffer: another one has its memory */
	bool *grown; /* of each buffer: its memory has room for the one that grows it */
	uint32_t n;
};

static bool dies(const struct search *s, uint32_t buffer)
{
	const struct loop_buffer *b = &s->f->buffers[buffer];
	return b->kind == BUFFER_TEMP && b->first < s->stmt && b->end == s->stmt + 1 && !s->taken[buffer];
}

static void try_operand(void *ctx, uint32_t buffer)
{
	struct search *s = ctx;
	if (s->from == LOOP_NONE && dies(s, buffer) && loops_can_overwrite(s->f, &s->f->stmts[s->stmt], buffer, s->to))
		s->from = buffer;
}

static void try_result(void *ctx, uint32_t buffer)
{
	struct search *s = ctx;
	struct loop_stmt *st = &s->f->stmts[s->stmt];
	struct loop_buffer *b = &s->f->buffers[buffer];
	struct loop_nest *n = (struct loop_nest *)(uintptr_t)loop_stmt_nest(st); /* of a function that is not const */
	if (b->kind != BUFFER_TEMP || b->first != s->stmt || b->alias != LOOP_NONE || b->grows != LOOP_NONE || s->grown[buffer])
		return;
	s->to = buffer;
	s->from = LOOP_NONE;
	loop_stmt_buffers(st, try_operand, s);
	if (s->from == LOOP_NONE || (n && !execute_once(s->f, n)))
		return;
	b->alias = s->from;
	s->taken[s->from] = true;
	s->n++;
}

uint32_t loop_pass_in_place(struct loop_fn *f, struct loop_pass_context *c)
{
	(void)c;
	struct search s = {
		.f = f, .taken = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1), .grown = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1)};
	loops_find_lifetimes(f);
	loops_mark_grown(f, s.taken);
	loops_mark_grown(f, s.grown);
	for (; s.stmt < f->n_stmts; s.stmt++)
		if (f->stmts[s.stmt].kind == STMT_NEST || f->stmts[s.stmt].kind == STMT_KERNEL)
			loop_stmt_buffers(&f->stmts[s.stmt], try_result, &s);
	return s.n;
}

/* Gives results the memory of operands that nothing reads later: for element-wise nests, and for kernels that work in place. Scratch memory
 * shrinks, and results are written to cache lines that are already there. */
#include "backend/loops/ir/in_place.h"
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/loop_passes.h"
#include "backend/loops/passes/memory.h"
#include "base/arena.h"

/* A scalar rest takes as long as up to LANES vectors; a loop that has fewer steps keeps its overlapping tail, and its result gets memory of its
 * own. */
enum { LEAST_STEPS = 32 };

/* Gives the nest a tail that executes nothing twice. Returns false if that would be slow. */
static bool execute_once(const struct loop_fn *f, struct loop_nest *n)
{
	const struct loop_axis *v = loops_vector_axis(n);
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
	for (; s.stmt < f->n_stmts; s.stmt = loops_launch_end(f, s.stmt)) /* others in its launch may still read an operand */
		if (loops_launch_end(f, s.stmt) == s.stmt + 1 &&
		    (f->stmts[s.stmt].kind == STMT_NEST || f->stmts[s.stmt].kind == STMT_KERNEL))
			loop_stmt_buffers(&f->stmts[s.stmt], try_result, &s);
	return s.n;
}

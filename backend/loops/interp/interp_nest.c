/* Nests: follows the axes of the schedule. Axes that promise nothing about the order of iterations run backwards. */
#include <math.h>
#include "backend/interp/element.h"
#include "backend/loops/interp/interp_state.h"
#include "base/arena.h"

/* An access with its dims evaluated. */
struct address {
	int64_t base, stride[LOOP_MAX], scale;
};
struct nest_run {
	struct loop_run *run;
	const struct loop_nest *n;
	const void *tile;               /* of an epilogue: the dense result of its kernel */
	void *filled;                   /* of a prologue: the dense operand of its kernel */
	const struct loop_block *block; /* whose loops they are; NULL: a nest */
	int64_t extent[LOOP_MAX];
	int64_t at[LOOP_MAX];   /* where each loop is */
	int64_t room[LOOP_MAX]; /* iterations from there on that the remaining axes run over */
	struct address *loads, *stores;
	struct loop_value *values;
	struct accumulator *acc;
	uint32_t first_reduce; /* the first axis of a reduction loop */
	uint8_t *visits;       /* how often each iteration of all loops was executed; NULL: there are too many */
};
enum { MOST_VISITS = 1 << 24 };

static bool interp_nest_failed(const struct nest_run *s) { return run_failed(s->run); }
static uint32_t n_loops(const struct nest_run *s) { return (uint32_t)s->n->n_parallel + s->n->n_reduce; }

/* ---- accesses ---- */

static struct address interp_nest_address_of(const struct nest_run *s, const struct loop_access *a)
{
	struct address x = {.base = run_dim(s->run, a->base)};
	for (uint32_t k = 0; k < n_loops(s); k++)
		x.stride[k] = run_dim(s->run, a->stride[k]);
	if (a->index != LOOP_NONE)
		x.scale = run_dim(s->run, a->scale);
	return x;
}

static int64_t interp_nest_offset_of(const struct nest_run *s, const struct loop_access *a, const struct address *x)
{
	int64_t at = x->base;
	for (uint32_t k = 0; k < n_loops(s); k++)
		at += x->stride[k] * s->at[k];
	return a->index == LOOP_NONE ? at : at + x->scale * s->values[a->index].i;
}

static struct loop_value interp_nest_load(const struct nest_run *s, uint32_t k)
{
	const struct loop_expr *e = &s->n->exprs[k];
	int64_t at = interp_nest_offset_of(s, &e->access, &s->loads[k]);
	if (interp_nest_failed(s) || !run_reads(s->run, e->access.buffer, at, 1))
		return (struct loop_value){0, 0};
	return value_load(e->elem, s->run->memory[e->access.buffer].at, at);
}

static void interp_nest_store(const struct nest_run *s, uint32_t k)
{
	const struct loop_store *x = &s->n->stores[k];
	int64_t at = interp_nest_offset_of(s, &x->access, &s->stores[k]);
	if (!interp_nest_failed(s) && run_writes(s->run, x->access.buffer, at, 1))
		value_store(s->n->exprs[x->value].elem, s->run->memory[x->access.buffer].at, at, s->values[x->value]);
}

/* ---- expressions ---- */

static int64_t checked(const struct nest_run *s, int64_t place, int64_t bound)
{
	if (place >= 0 && place < bound)
		return place;
	run_fail(s->run, LOOP_INDEX_ERROR, "index %lld is out of range: it must be at least 0 and less than %lld", (long long)place,
		 (long long)bound);
	return 0;
}

static bool interp_nest_is_arg(const struct loop_reduction *r) { return r->op == OP_ARGMAX || r->op == OP_ARGMIN; }
static dtype compared(const struct nest_run *s, const struct loop_reduction *r)
{
	return interp_nest_is_arg(r) ? s->n->exprs[r->value].elem : r->elem;
}

static struct loop_value reduced(const struct nest_run *s, uint32_t k)
{
	const struct loop_reduction *r = &s->n->reductions[k];
	struct loop_value v = {s->acc[k].f, interp_nest_is_arg(r) ? s->acc[k].at : s->acc[k].i};
	return value_of(r->elem, v);
}

/* The number of the current iteration of loops `from` and following. */
static int64_t position(const struct nest_run *s, uint32_t from)
{
	int64_t at = 0;
	for (uint32_t k = from; k < n_loops(s); k++)
		at = at * s->extent[k] + s->at[k];
	return at;
}

static struct loop_value bounded(const struct loop_expr *e, double x)
{
	double v = x < e->low ? e->low : x > e->high ? e->high : x;
	return (struct loop_value){0, isnan(v) ? 0 : (int64_t)(e->nearest ? nearbyint(v) : v)};
}

static struct loop_value interp_nest_evaluate(const struct nest_run *s, uint32_t k)
{
	const struct loop_expr *e = &s->n->exprs[k];
	struct loop_value x[3] = {{0, 0}, {0, 0}, {0, 0}};
	switch (e->kind) {
	case LOOP_LOAD: return interp_nest_load(s, k);
	case LOOP_CONST: return value_of(e->elem, (struct loop_value){e->f, e->i});
	case LOOP_INDEX: return (struct loop_value){0, s->at[e->var]};
	case LOOP_EXTENT: return (struct loop_value){0, run_dim(s->run, e->extent)};
	case LOOP_CHECK: return (struct loop_value){0, checked(s, s->values[e->args[0]].i, run_dim(s->run, e->extent))};
	case LOOP_BOUNDED: return bounded(e, s->values[e->args[0]].f);
	case LOOP_ACC: return reduced(s, e->var);
	case LOOP_TILE: return value_load(e->elem, s->tile, position(s, 0));
	case LOOP_OP: break;
	}
	for (int i = 0; i < ir_op_operands(e->op); i++)
		x[i] = s->values[e->args[i]];
	return value_op(e->op, e->elem, s->n->exprs[e->args[0]].elem, x);
}

static void evaluate_all(struct nest_run *s, bool in_reduction)
{
	for (uint32_t k = 0; k < s->n->n_exprs && !interp_nest_failed(s); k++)
		if (s->n->exprs[k].in_reduction == in_reduction)
			s->values[k] = interp_nest_evaluate(s, k);
}

/* ---- loops ---- */

static void start_reductions(struct nest_run *s)
{
	for (uint32_t k = 0; k < s->n->n_reductions; k++)
		s->acc[k] = accumulator_start(s->n->reductions[k].op, compared(s, &s->n->reductions[k]));
}

static void interp_nest_visit(struct nest_run *s)
{
	int64_t at = position(s, s->n->n_outer);
	if (s->visits && s->visits[at] < UINT8_MAX)
		s->visits[at]++;
}

static void interp_nest_reduce(struct nest_run *s)
{
	int64_t at = position(s, s->n->n_parallel);
	evaluate_all(s, true);
	for (uint32_t k = 0; k < s->n->n_reductions; k++) {
		const struct loop_reduction *r = &s->n->reductions[k];
		const uint32_t *args = s->n->exprs[r->value].args;
		double v = r->fused ? s->values[args[0]].f * s->values[args[1]].f : s->values[r->value].f;
		if (dtype_class(compared(s, r)) == DTC_FLOAT)
			accumulate_float(r->op, &s->acc[k], v, at);
		else
			accumulate_int(r->op, &s->acc[k], s->values[r->value].i, at);
	}
}

/* Executes the statements of a block for this iteration. */
static void run_inside(const struct nest_run *s)
{
	struct loop_run *r = s->run;
	const struct loop_nest *around = r->loops;
	arena_mark_t mark = arena_mark(r->arena);
	for (uint32_t k = s->n->n_outer; k < s->n->n_parallel; k++)
		r->at[k] = s->at[k];
	r->loops = s->n;
	if (!around) {
		r->iteration++;
		run_open_frame(r);
	}
	for (uint32_t k = 0; k < s->block->n_stmts && !interp_nest_failed(s); k++)
		run_stmt(r, &s->block->stmts[k]);
	r->loops = around;
	arena_release(r->arena, mark);
}

static void interp_nest_finish(struct nest_run *s)
{
	if (!s->n->n_reduce)
		interp_nest_visit(s);
	if (s->block) {
		run_inside(s);
		return;
	}
	evaluate_all(s, false);
	for (uint32_t k = 0; k < s->n->n_stores && !interp_nest_failed(s); k++)
		interp_nest_store(s, k);
	if (s->filled && !interp_nest_failed(s))
		value_store(s->n->exprs[s->n->n_exprs - 1].elem, s->filled, position(s, 0), s->values[s->n->n_exprs - 1]);
}

static void interp_nest_run_axes(struct nest_run *s, uint32_t axis);

/* The part of an axis from iteration `from` of its loop on, of `n` iterations. */
static void run_part(struct nest_run *s, uint32_t axis, int64_t from, int64_t n)
{
	uint32_t of = s->n->schedule.axes[axis].of;
	int64_t at = s->at[of], room = s->room[of];
	s->at[of] = at + from;
	s->room[of] = n;
	interp_nest_run_axes(s, axis + 1);
	s->at[of] = at;
	s->room[of] = room;
}

/* The lanes of the loop's vectors; 1: it has none. */
static int64_t lanes_of(const struct nest_run *s, uint32_t loop)
{
	for (uint32_t k = 0; k < s->n->schedule.n_axes; k++)
		if (s->n->schedule.axes[k].of == loop && s->n->schedule.axes[k].kind == AXIS_VECTOR)
			return s->n->schedule.axes[k].width;
	return 1;
}

/* The last iterations, fewer than a step. Those of a reduction are added vector by vector first. */
static void run_tail(struct nest_run *s, uint32_t axis, int64_t from, int64_t step)
{
	const struct loop_schedule *x = &s->n->schedule;
	uint32_t of = x->axes[axis].of;
	int64_t room = s->room[of];
	if (x->tail == TAIL_NONE && (of < s->n->n_parallel || (room - from) % lanes_of(s, of)))
		run_fail(s->run, LOOP_BROKEN, "a step does not divide its loop, and the schedule has no tail");
	else if (of < s->n->n_parallel && room >= step && x->tail != TAIL_REST)
		run_part(s, axis, room - step, step);
	else
		run_part(s, axis, from, room - from);
}

static void run_axis(struct nest_run *s, uint32_t axis)
{
	const struct loop_axis *x = &s->n->schedule.axes[axis];
	int64_t room = s->room[x->of], step = x->step, n = (room + step - 1) / step;
	bool copies = x->kind == AXIS_UNROLL || x->kind == AXIS_VECTOR, backwards = x->kind == AXIS_PARALLEL || x->kind == AXIS_GROUP;
	if (copies && n > (int64_t)x->width)
		run_fail(s->run, LOOP_BROKEN, "axis %u has %lld iterations but only %u copies", axis, (long long)n, x->width);
	for (int64_t k = 0; k < n && !interp_nest_failed(s); k++) {
		int64_t from = (backwards ? n - 1 - k : k) * step;
		if (from + step <= room || x->kind == AXIS_PARALLEL)
			run_part(s, axis, from, from + step <= room ? step : room - from);
		else
			run_tail(s, axis, from, step);
	}
}

static void interp_nest_run_axes(struct nest_run *s, uint32_t axis)
{
	uint32_t n_axes = s->n->schedule.n_axes;
	if (axis == s->first_reduce) {
		start_reductions(s);
		if (axis < n_axes)
			run_axis(s, axis);
		else
			interp_nest_reduce(s);
		interp_nest_finish(s);
	} else if (axis < n_axes) {
		run_axis(s, axis);
	} else {
		interp_nest_visit(s);
		interp_nest_reduce(s);
	}
}

/* True if every iteration was executed once; in the tail of a parallel loop twice. */
static bool is_covered(const struct nest_run *s, int64_t total)
{
	uint8_t most = 1;
	for (uint32_t k = 0; k < s->n->schedule.n_axes; k++)
		if (s->n->schedule.tail != TAIL_NONE && s->n->schedule.tail != TAIL_REST && s->n->schedule.axes[k].of < s->n->n_parallel)
			most = 2;
	for (int64_t k = 0; s->visits && k < total; k++)
		if (s->visits[k] < 1 || s->visits[k] > most)
			return false;
	return true;
}

/* Evaluates all dims. Returns the number of iterations of all loops. */
static int64_t interp_nest_prepare(struct nest_run *s)
{
	const struct loop_nest *n = s->n;
	struct arena *a = s->run->arena;
	int64_t total = 1;
	for (uint32_t k = 0; k < n_loops(s); k++) {
		s->extent[k] = s->room[k] = run_dim(s->run, n->extent[k]);
		if (k >= n->n_outer && __builtin_mul_overflow(total, s->extent[k], &total))
			total = INT64_MAX;
	}
	for (uint32_t k = 0; k < n->n_outer; k++)
		s->at[k] = s->run->at[k];
	s->first_reduce = n->schedule.n_axes;
	for (uint32_t k = n->schedule.n_axes; k-- > 0;) {
		if (n->schedule.axes[k].step < 1)
			run_fail(s->run, LOOP_BROKEN, "axis %u has no positive step", k);
		if (n->schedule.axes[k].of >= n->n_parallel)
			s->first_reduce = k;
	}
	s->loads = ARENA_ARRAY(a, struct address, n->n_exprs + 1);
	s->stores = ARENA_ARRAY(a, struct address, n->n_stores + 1);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			s->loads[k] = interp_nest_address_of(s, &n->exprs[k].access);
	for (uint32_t k = 0; k < n->n_stores; k++)
		s->stores[k] = interp_nest_address_of(s, &n->stores[k].access);
	s->values = ARENA_ARRAY(a, struct loop_value, n->n_exprs + 1);
	s->acc = ARENA_ARRAY(a, struct accumulator, n->n_reductions + 1);
	s->visits = total > 0 && total <= MOST_VISITS ? ARENA_ARRAY(a, uint8_t, total) : NULL;
	return total;
}

static void interp_nest_run_all(struct nest_run *s)
{
	struct loop_run *r = s->run;
	arena_mark_t mark = arena_mark(r->arena);
	int64_t total = interp_nest_prepare(s);
	if (!run_failed(r))
		interp_nest_run_axes(s, 0);
	if (!run_failed(r) && !is_covered(s, total))
		run_fail(r, LOOP_BROKEN, "the schedule does not execute every iteration once");
	arena_release(r->arena, mark);
}

void run_prologue(struct loop_run *r, const struct loop_nest *n, void *tile)
{
	interp_nest_run_all(&(struct nest_run){.run = r, .n = n, .filled = tile});
}

void run_epilogue(struct loop_run *r, const struct loop_nest *n, const void *tile)
{
	interp_nest_run_all(&(struct nest_run){.run = r, .n = n, .tile = tile});
}

void run_nest(struct loop_run *r, const struct loop_stmt *stmt) { interp_nest_run_all(&(struct nest_run){.run = r, .n = &stmt->u.nest}); }

void run_block(struct loop_run *r, const struct loop_stmt *stmt)
{
	bool outermost = !r->block;
	if (outermost) {
		r->block = &stmt->u.block;
		r->before = r->iteration;
	}
	interp_nest_run_all(&(struct nest_run){.run = r, .n = &stmt->u.block.loops, .block = &stmt->u.block});
	if (outermost)
		r->block = NULL;
}

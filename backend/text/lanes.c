/* Prints a nest with vectors, as its schedule says. One loop is vectorised. Lanes of a parallel loop are different results; lanes of a reduction loop are
 * partial results, which are combined in halves after the loops. A value is computed in the outermost loop possible, and as a scalar if it does not
 * depend on the vectorised loop. Where the last vector would go past the end of a loop, it overlaps the one before, or scalar code follows. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

#define DEP_ACC (1u << 31)

struct lanes {
	struct text_printer e;
	uint32_t order[LOOP_MAX]; /* the loops from the outermost to the innermost */
	uint32_t width, unroll;
	bool whole;             /* one step covers the vectorised loop */
	uint32_t *deps, opened; /* the loops on which each expression depends, and those around the code; DEP_ACC: an accumulator */
	bool *varying, *fused;  /* of each expression: it depends on the vectorised loop; it is a product inside a sum */
	bool *done;             /* of each expression: it was computed in an open loop */
	bool reduces;           /* lanes are partial results */
};

static void lanes_level(struct lanes *l, uint32_t at);

#define lanes_line(l, ...) (text_tabs((l)->e.out, (l)->e.depth), buf_printf((l)->e.out, __VA_ARGS__))

static void lanes_open(struct lanes *l)
{
	lanes_line(l, "{\n");
	l->e.depth++;
}

static void lanes_close(struct lanes *l)
{
	l->e.depth--;
	lanes_line(l, "}\n");
}

static uint32_t lanes_deps(const struct lanes *l, uint32_t k)
{
	const struct loop_nest *n = l->e.n;
	const struct loop_expr *x = &n->exprs[k];
	uint32_t deps = 0;
	int64_t v;
	if (x->kind == LOOP_INDEX)
		return 1u << x->var;
	if (x->kind == LOOP_ACC)
		return DEP_ACC | ((1u << n->n_parallel) - 1);
	if (x->kind == LOOP_TILE)
		return (1u << TILE_AXES) - 1;
	for (uint32_t j = 0; j < loop_expr_operands(x); j++)
		deps |= l->deps[x->args[j]];
	if (x->kind != LOOP_LOAD)
		return deps;
	for (uint32_t loop = 0; loop < (uint32_t)n->n_parallel + n->n_reduce; loop++)
		if (!dim_is_const(l->e.f->dims, x->access.stride[loop], &v) || v != 0)
			deps |= 1u << loop;
	return x->access.index == LOOP_NONE ? deps : deps | l->deps[x->access.index];
}

static void lanes_analyse(struct lanes *l)
{
	const struct loop_nest *n = l->e.n;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		l->deps[k] = lanes_deps(l, k);
		l->varying[k] = l->e.vector_loop != LOOP_NONE && (l->deps[k] >> l->e.vector_loop & 1);
	}
	for (uint32_t k = 0; k < n->n_reductions; k++)
		l->fused[n->reductions[k].value] = n->reductions[k].fused;
}

static struct lanes lanes_new(const struct text_printer *e)
{
	struct lanes l = {.e = *e, .width = 1, .unroll = 1, .opened = (1u << e->n->n_outer) - 1};
	l.deps = ARENA_ARRAY(e->scratch, uint32_t, e->n->n_exprs + 1);
	l.varying = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	l.fused = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	l.done = ARENA_ARRAY(e->scratch, bool, e->n->n_exprs + 1);
	l.e.varying = l.varying;
	return l;
}

/* Computes what the open loops suffice for. */
static void lanes_values(struct lanes *l)
{
	for (uint32_t k = 0; k < l->e.n->n_exprs; k++) {
		if (l->done[k] || l->fused[k] || (l->deps[k] & ~l->opened))
			continue;
		text_expr(&l->e, k, l->e.depth);
		l->done[k] = true;
	}
}

/* What was computed in a loop is not known after it. */
struct lanes_scope {
	bool *done;
	uint32_t opened;
};

static struct lanes_scope lanes_begin(struct lanes *l)
{
	struct lanes_scope s = {ARENA_ARRAY(l->e.scratch, bool, l->e.n->n_exprs + 1), l->opened};
	memcpy(s.done, l->done, l->e.n->n_exprs * sizeof *s.done);
	return s;
}

static void lanes_end(struct lanes *l, const struct lanes_scope *s)
{
	memcpy(l->done, s->done, l->e.n->n_exprs * sizeof *s->done);
	l->opened = s->opened;
}

static const char *lanes_var(const struct lanes *l, uint32_t loop) { return text_loop_var(l->e.scratch, l->e.n, loop); }
static const char *lanes_from(const struct lanes *l, uint32_t loop) { return l->e.chunked == loop ? "from" : "0"; }
static const char *lanes_to(const struct lanes *l, uint32_t loop)
{
	return l->e.chunked == loop ? "to" : text_dim(&l->e, l->e.n->extent[loop]);
}

/* for (q = from; q + room <= to; q += step); from NULL: q goes on. */
static void lanes_open_loop(struct lanes *l, uint32_t loop, const char *from, uint32_t room, uint32_t step)
{
	text_tabs(l->e.out, l->e.depth++);
	if (from)
		buf_printf(l->e.out, "for (%s q%u = %s; ", l->e.index_type, loop, from);
	else
		buf_puts(l->e.out, "for (; ");
	if (room > 1)
		buf_printf(l->e.out, "q%u + %u <= %s; ", loop, room, lanes_to(l, loop));
	else
		buf_printf(l->e.out, "q%u < %s; ", loop, lanes_to(l, loop));
	if (step > 1)
		buf_printf(l->e.out, "q%u += %u) {\n", loop, step);
	else
		buf_printf(l->e.out, "q%u++) {\n", loop);
}

/* ---- reductions ---- */

static void lanes_fused_step(struct lanes *l, uint32_t k)
{
	const struct loop_reduction *r = &l->e.n->reductions[k];
	const uint32_t *args = l->e.n->exprs[r->value].args;
	const char *sum = text_reduction_name(&l->e, k);
	lanes_line(l, "%s = ", sum);
	buf_printf(l->e.out, l->e.d->vectors->fma, text_operand(&l->e, args[0]), text_operand(&l->e, args[1]), sum);
	buf_puts(l->e.out, ";\n");
}

static void lanes_step(struct lanes *l)
{
	lanes_values(l);
	for (uint32_t k = 0; k < l->e.n->n_reductions; k++)
		if (l->fused[l->e.n->reductions[k].value])
			lanes_fused_step(l, k);
		else
			text_reduction_step(&l->e, k, l->e.depth);
}

/* One step in which the first iteration of the loop is `first`, with each of the copies. */
static void lanes_step_at(struct lanes *l, uint32_t loop, const char *first, uint32_t copies)
{
	for (uint32_t u = 0; u < copies; u++) {
		struct lanes_scope s = lanes_begin(l);
		lanes_open(l);
		lanes_line(l, "const %s %s = %s", l->e.index_type, lanes_var(l, loop), first);
		buf_printf(l->e.out, u ? " + %u;\n" : ";\n", u * l->e.width);
		l->opened |= 1u << loop;
		l->e.copy = l->e.width > 1 ? u + 1 : 0;
		lanes_step(l);
		l->e.copy = 0;
		lanes_close(l);
		lanes_end(l, &s);
	}
}

/* The lanes of `value` that were added already become the start value. */
static const char *lanes_masked(const struct lanes *l, uint32_t k, uint32_t dead)
{
	const struct text_printer *e = &l->e;
	struct arena *a = e->scratch;
	const struct loop_reduction *r = &e->n->reductions[k];
	const char *bits = "0", *mask = text_type(e, DT_BOOL);
	for (uint32_t i = 1; i < e->width; i++)
		bits = arena_printf(a, "%s, %u", bits, i >= dead);
	const char *args[3] = {arena_printf(a, "(%s)(%s)", mask, bits), text_operand(e, r->value), text_reduction_identity(e, k)};
	return text_op(e, OP_SELECT, r->elem, r->elem, args);
}

/* The last vector of a loop of known extent. */
static void lanes_overlap(struct lanes *l, uint32_t loop)
{
	int64_t n;
	struct lanes_scope s = lanes_begin(l);
	BUG_ON(!dim_is_const(l->e.f->dims, l->e.n->extent[loop], &n));
	if (n % l->width == 0)
		return;
	lanes_open(l);
	lanes_line(l, "const %s %s = %lld;\n", l->e.index_type, lanes_var(l, loop), (long long)(n - l->width));
	l->opened |= 1u << loop;
	bool *fused = l->fused;
	l->fused = ARENA_ARRAY(l->e.scratch, bool, l->e.n->n_exprs + 1);
	lanes_values(l);
	l->fused = fused;
	l->e.copy = 1;
	for (uint32_t k = 0; k < l->e.n->n_reductions; k++) {
		enum ir_op op = l->e.n->reductions[k].op;
		bool twice = op == OP_REDUCE_MAX || op == OP_REDUCE_MIN; /* combining an element twice changes no result */
		text_reduction_combine(&l->e, k,
				       twice ? text_operand(&l->e, l->e.n->reductions[k].value)
					     : lanes_masked(l, k, l->width - (uint32_t)(n % l->width)));
	}
	l->e.copy = 0;
	lanes_close(l);
	lanes_end(l, &s);
}

static void lanes_reduce_vector(struct lanes *l, uint32_t loop)
{
	const char *q = arena_printf(l->e.scratch, "q%u", loop);
	uint32_t step = l->width * l->unroll;
	lanes_open(l);
	lanes_line(l, "%s %s = 0;\n", l->e.index_type, q);
	lanes_open_loop(l, loop, NULL, step, step);
	lanes_step_at(l, loop, q, l->unroll);
	lanes_close(l);
	if (l->unroll > 1) {
		lanes_open_loop(l, loop, NULL, l->width, l->width);
		lanes_step_at(l, loop, q, 1);
		lanes_close(l);
	}
	if (l->e.n->schedule.tail == TAIL_OVERLAP) {
		lanes_overlap(l, loop);
	} else if (l->e.n->schedule.tail == TAIL_SCALAR) {
		l->e.width = 1;
		lanes_open_loop(l, loop, NULL, 1, 1);
		lanes_step_at(l, loop, q, 1);
		lanes_close(l);
		l->e.width = l->width;
	}
	lanes_close(l);
}

static void lanes_reduction_loops(struct lanes *l, uint32_t at)
{
	if (at == (uint32_t)l->e.n->n_parallel + l->e.n->n_reduce) {
		lanes_step(l);
		return;
	}
	uint32_t loop = l->order[at];
	if (loop == l->e.vector_loop) {
		lanes_reduce_vector(l, loop);
		return;
	}
	struct lanes_scope s = lanes_begin(l);
	lanes_open_loop(l, loop, "0", 1, 1);
	lanes_line(l, "const %s %s = q%u;\n", l->e.index_type, lanes_var(l, loop), loop);
	l->opened |= 1u << loop;
	lanes_values(l);
	lanes_reduction_loops(l, at + 1);
	lanes_close(l);
	lanes_end(l, &s);
}

/* Partial results: vectors a0_1, a0_2 …, and the scalar a0 of what is left. */
static void lanes_start_partial(struct lanes *l)
{
	for (uint32_t u = 0; u <= l->unroll; u++) {
		l->e.copy = u;
		l->e.width = u ? l->width : 1;
		for (uint32_t k = 0; k < l->e.n->n_reductions; k++)
			text_reduction_start(&l->e, k);
	}
	l->e.copy = 0;
}

static void lanes_join_partial(struct lanes *l)
{
	for (uint32_t k = 0; k < l->e.n->n_reductions; k++) {
		l->e.width = l->width;
		for (uint32_t gap = 1; gap < l->unroll; gap *= 2)
			for (uint32_t u = 0; u + gap < l->unroll; u += 2 * gap) {
				l->e.copy = u + gap + 1;
				const char *other = text_reduction_name(&l->e, k);
				l->e.copy = u + 1;
				text_reduction_combine(&l->e, k, other);
			}
		l->e.copy = 1;
		const char *lanes = text_reduction_fold(&l->e, k);
		l->e.copy = 0;
		l->e.width = 1;
		text_reduction_combine(&l->e, k, lanes);
	}
}

static void lanes_reduce(struct lanes *l)
{
	if (l->reduces)
		lanes_start_partial(l);
	for (uint32_t k = 0; !l->reduces && k < l->e.n->n_reductions; k++)
		text_reduction_start(&l->e, k);
	if (l->e.n->n_reduce == 0) { /* a scope, as with reduction loops */
		struct lanes_scope s = lanes_begin(l);
		lanes_open(l);
		lanes_step(l);
		lanes_close(l);
		lanes_end(l, &s);
	} else {
		lanes_reduction_loops(l, l->e.n->n_parallel);
	}
	if (l->reduces)
		lanes_join_partial(l);
	for (uint32_t k = 0; k < l->e.n->n_reductions; k++)
		text_reduction_end(&l->e, k);
}

/* ---- parallel loops ---- */

static void lanes_iteration(struct lanes *l)
{
	lanes_values(l);
	if (l->e.n->n_reductions) {
		lanes_reduce(l);
		l->opened |= DEP_ACC;
		lanes_values(l);
	}
	for (uint32_t k = 0; k < l->e.n->n_stores; k++)
		text_store(&l->e, &l->e.n->stores[k], l->e.depth);
	l->e.width = l->reduces ? l->width : l->e.width;
}

/* The loops inside loop order[at], of which an iteration is open. */
static void lanes_inside(struct lanes *l, uint32_t at)
{
	struct lanes_scope s = lanes_begin(l);
	l->opened |= 1u << l->order[at];
	lanes_level(l, at + 1);
	lanes_end(l, &s);
}

/* Iterations from `first` on, a vector for each copy. */
static void lanes_copies(struct lanes *l, uint32_t at, const char *first, uint32_t copies)
{
	for (uint32_t u = 0; u < copies; u++) {
		lanes_open(l);
		lanes_line(l, "const %s %s = %s", l->e.index_type, lanes_var(l, l->order[at]), first);
		buf_printf(l->e.out, u ? " + %u;\n" : ";\n", u * l->width);
		lanes_inside(l, at);
		lanes_close(l);
	}
}

static void lanes_scalar_loop(struct lanes *l, uint32_t at, const char *from)
{
	uint32_t width = l->e.width;
	l->e.width = 1;
	lanes_open_loop(l, l->order[at], from, 1, 1);
	lanes_line(l, "const %s %s = q%u;\n", l->e.index_type, lanes_var(l, l->order[at]), l->order[at]);
	lanes_inside(l, at);
	lanes_close(l);
	l->e.width = width;
}

static void lanes_whole_steps(struct lanes *l, uint32_t at, const char *from)
{
	uint32_t loop = l->order[at], step = l->width * l->unroll;
	lanes_open_loop(l, loop, from, step, step);
	lanes_copies(l, at, arena_printf(l->e.scratch, "q%u", loop), l->unroll);
	lanes_close(l);
}

/* The last step begins earlier. */
static void lanes_overlapping_steps(struct lanes *l, uint32_t at)
{
	uint32_t loop = l->order[at], step = l->width * l->unroll;
	const char *last = arena_printf(l->e.scratch, "%s - %u", lanes_to(l, loop), step);
	lanes_open_loop(l, loop, lanes_from(l, loop), 1, step);
	lanes_line(l, "const %s w%u = q%u < %s ? q%u : %s;\n", l->e.index_type, loop, loop, last, loop, last);
	lanes_copies(l, at, arena_printf(l->e.scratch, "w%u", loop), l->unroll);
	lanes_close(l);
}

static void lanes_vector_loop(struct lanes *l, uint32_t at)
{
	uint32_t loop = l->order[at];
	if (l->whole) {
		lanes_copies(l, at, "0", l->unroll);
		return;
	}
	switch (l->e.n->schedule.tail) {
	case TAIL_OVERLAP: lanes_overlapping_steps(l, at); return;
	case TAIL_SCALAR:
		lanes_line(l, "if (%s%s >= %u) {\n", lanes_to(l, loop), l->e.chunked == loop ? " - from" : "", l->width * l->unroll);
		l->e.depth++;
		lanes_overlapping_steps(l, at);
		l->e.depth--;
		lanes_line(l, "} else {\n");
		l->e.depth++;
		lanes_scalar_loop(l, at, lanes_from(l, loop));
		lanes_close(l);
		return;
	case TAIL_REST:
		lanes_open(l);
		lanes_line(l, "%s q%u = %s;\n", l->e.index_type, loop, lanes_from(l, loop));
		lanes_whole_steps(l, at, NULL);
		lanes_scalar_loop(l, at, NULL);
		lanes_close(l);
		return;
	default: lanes_whole_steps(l, at, lanes_from(l, loop)); return;
	}
}

static void lanes_level(struct lanes *l, uint32_t at)
{
	if (at == l->e.n->n_parallel) {
		lanes_iteration(l);
		return;
	}
	uint32_t loop = l->order[at];
	lanes_values(l);
	if (loop == l->e.vector_loop) {
		lanes_vector_loop(l, at);
		return;
	}
	lanes_open_loop(l, loop, lanes_from(l, loop), 1, 1);
	lanes_line(l, "const %s %s = q%u;\n", l->e.index_type, lanes_var(l, loop), loop);
	lanes_inside(l, at);
	lanes_close(l);
}

static void lanes_schedule(struct lanes *l)
{
	const struct loop_schedule *s = &l->e.n->schedule;
	uint32_t n = l->e.n->n_outer;
	for (uint32_t k = 0; k < s->n_axes; k++) {
		const struct loop_axis *a = &s->axes[k];
		if (n == l->e.n->n_outer || l->order[n - 1] != a->of) {
			l->order[n++] = a->of;
			l->whole |= a->kind == AXIS_VECTOR || a->kind == AXIS_UNROLL;
		}
		if (a->kind == AXIS_UNROLL)
			l->unroll = a->width;
		if (a->kind != AXIS_VECTOR)
			continue;
		l->e.vector_loop = a->of;
		l->width = l->e.width = a->width;
		l->reduces = a->of >= l->e.n->n_parallel;
	}
}

void text_lanes(const struct text_printer *e)
{
	struct lanes l = lanes_new(e);
	lanes_schedule(&l);
	lanes_analyse(&l);
	lanes_level(&l, e->n->n_outer);
}

void text_lanes_body(const struct text_printer *e, uint32_t loop, uint32_t width)
{
	struct lanes l = lanes_new(e);
	l.e.vector_loop = loop;
	l.e.width = l.width = width;
	l.opened = (1u << e->n->n_parallel) - 1;
	lanes_analyse(&l);
	lanes_iteration(&l);
}

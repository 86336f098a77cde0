/* The reduction loops. If a parallel loop is vectorised, each lane is a result. If a reduction loop is, there are `unroll` vectors of
 * partial results. First come steps of all vectors, then single vectors, which are added to the first. For the rest, a known extent has
 * a last vector that overlaps, with the lanes that were added already masked; an unknown extent has single elements, which are added to
 * a scalar. At the end vectors 0+1 and 2+3 are combined, then halves of lanes. */
#include "backend/cpu/emit_nest.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

struct sums {
	struct nest *s;
	LLVMValueRef *all; /* carried by the loops: copies of vectors, then the scalars if there are any */
	uint32_t n_all, copies;
	bool scalars;
	uint32_t dead;        /* lanes to mask */
	LLVMValueRef *target; /* accumulators that steps add to: copy 0 */
};

static dtype compared_elem(const struct nest *s, const struct loop_reduction *r) { return s->n->exprs[r->value].elem; }

static LLVMValueRef product_or_value(struct nest *s, const struct loop_reduction *r, uint32_t u)
{
	if (!s->fused[r->value])
		return body_value(s, r->value, u, s->width);
	const uint32_t *args = s->n->exprs[r->value].args;
	return LLVMBuildFMul(s->e->builder, body_value(s, args[0], u, s->width), body_value(s, args[1], u, s->width), "");
}

static void step_one(struct sums *m, const struct loop_reduction *r, uint32_t u, LLVMValueRef *acc)
{
	struct nest *s = m->s;
	LLVMValueRef index = NULL;
	if (s->fused[r->value] && !m->dead) {
		const uint32_t *args = s->n->exprs[r->value].args;
		*acc = emit_fma(s->e, body_value(s, args[0], u, s->width), body_value(s, args[1], u, s->width), *acc);
		return;
	}
	LLVMValueRef v = product_or_value(s, r, u);
	if (m->dead)
		v = reduce_mask(s->e, r, compared_elem(s, r), v, m->dead);
	if (reduce_values(r) == 2)
		index = s->n->n_reduce ? body_position(s, s->n->n_parallel, u, s->width) : emit_number(s->e, DT_INT64, s->width, 0, 0);
	reduce_step(s->e, r, compared_elem(s, r), acc, v, index);
}

static void step_all(struct sums *m)
{
	struct nest *s = m->s;
	body_compute(s, BODY_REDUCTION);
	for (uint32_t u = 0; u < s->unroll; u++) {
		LLVMValueRef *acc = m->target + u * s->n_acc;
		for (uint32_t k = 0; k < s->n->n_reductions; k++) {
			step_one(m, &s->n->reductions[k], u, acc);
			acc += reduce_values(&s->n->reductions[k]);
		}
	}
}

/* Emits one loop along `loop` from start to end, which adds to m->target. */
static void emit_sum_run(struct sums *m, uint32_t loop, LLVMValueRef start, LLVMValueRef end, uint32_t step)
{
	struct emit_loop l;
	struct scope sc;
	if (start == end)
		return;
	scope_begin(m->s, &sc);
	emit_loop_open(m->s->e, &l, start, end, emit_i64(m->s->e, step), m->all, m->n_all);
	body_enter(m->s, loop, l.var);
	step_all(m);
	emit_loop_close(m->s->e, &l);
	scope_end(m->s, &sc);
}

static void set_lanes(struct nest *s, uint32_t width, uint32_t unroll)
{
	s->width = width;
	s->unroll = unroll;
}

static LLVMValueRef round_down(struct emit *e, LLVMValueRef n, uint32_t step)
{
	return LLVMBuildAnd(e->builder, n, emit_i64(e, -(int64_t)step), "");
}

/* Adds the lanes that remain at the end of a loop of known extent. */
static void run_overlap(struct sums *m, uint32_t loop)
{
	struct scope sc;
	int64_t n = 0;
	BUG_ON(!dim_known(m->s->e, m->s->n->extent[loop], &n));
	m->dead = m->s->width - (uint32_t)(n % m->s->width);
	scope_begin(m->s, &sc);
	body_enter(m->s, loop, emit_i64(m->s->e, n - m->s->width));
	step_all(m);
	scope_end(m->s, &sc);
	m->dead = 0;
}

static void emit_sum_run_vector(struct sums *m, uint32_t loop)
{
	struct nest *s = m->s;
	struct emit *e = s->e;
	uint32_t width = s->axes.width, unroll = s->axes.unroll, big = width * unroll;
	LLVMValueRef n = emit_dim(e, s->n->extent[loop]);
	LLVMValueRef blocks = round_down(e, n, big), vectors = round_down(e, n, width);
	emit_sum_run(m, loop, emit_i64(e, 0), blocks, big);
	set_lanes(s, width, 1);
	if (unroll > 1)
		emit_sum_run(m, loop, blocks, vectors, width);
	if (s->n->schedule.tail == TAIL_OVERLAP) {
		run_overlap(m, loop);
	} else if (s->n->schedule.tail == TAIL_SCALAR) {
		set_lanes(s, 1, 1);
		m->target = m->all + m->copies * s->n_acc;
		emit_sum_run(m, loop, vectors, n, 1);
		m->target = m->all;
	}
	set_lanes(s, width, unroll);
}

static void run_loops(struct sums *m, uint32_t at)
{
	struct nest *s = m->s;
	struct emit_loop l;
	struct scope sc;
	if (at == (uint32_t)s->n->n_parallel + s->n->n_reduce) {
		step_all(m);
		return;
	}
	uint32_t loop = s->axes.order[at];
	if (loop == s->axes.vector_loop) {
		emit_sum_run_vector(m, loop);
		return;
	}
	scope_begin(s, &sc);
	LLVMValueRef count = emit_trip_count(s, at, s->n->n_parallel, (uint32_t)s->n->n_parallel + s->n->n_reduce);
	emit_loop_open(s->e, &l, emit_i64(s->e, 0), count, emit_i64(s->e, 1), m->all, m->n_all);
	body_enter(s, loop, l.var);
	body_compute(s, BODY_REDUCTION);
	run_loops(m, at + 1);
	emit_loop_close(s->e, &l);
	scope_end(s, &sc);
}

typedef void each_fn(struct sums *m, const struct loop_reduction *r, LLVMValueRef *acc, LLVMValueRef *other);
/* Calls fn on the accumulators of every reduction in `acc` and `other`. */
static void each_reduction(struct sums *m, LLVMValueRef *acc, LLVMValueRef *other, each_fn *fn)
{
	for (uint32_t k = 0, at = 0; k < m->s->n->n_reductions; at += reduce_values(&m->s->n->reductions[k]), k++)
		fn(m, &m->s->n->reductions[k], acc + at, other ? other + at : NULL);
}

static void start_vector(struct sums *m, const struct loop_reduction *r, LLVMValueRef *acc, LLVMValueRef *other)
{
	(void)other;
	reduce_identity(m->s->e, r, compared_elem(m->s, r), m->s->width, acc);
}

static void start_scalar(struct sums *m, const struct loop_reduction *r, LLVMValueRef *acc, LLVMValueRef *other)
{
	(void)other;
	reduce_identity(m->s->e, r, compared_elem(m->s, r), 1, acc);
}

static void emit_sum_combine(struct sums *m, const struct loop_reduction *r, LLVMValueRef *acc, LLVMValueRef *other)
{
	reduce_combine(m->s->e, r, compared_elem(m->s, r), acc, other);
}

static void join_lanes(struct sums *m, const struct loop_reduction *r, LLVMValueRef *acc, LLVMValueRef *other)
{
	(void)other;
	reduce_lanes(m->s->e, r, compared_elem(m->s, r), acc);
}

static void emit_sum_join(struct sums *m)
{
	uint32_t n = m->s->n_acc;
	for (uint32_t gap = 1; gap < m->copies; gap *= 2)
		for (uint32_t u = 0; u + gap < m->copies; u += 2 * gap)
			each_reduction(m, m->all + u * n, m->all + (u + gap) * n, emit_sum_combine);
	each_reduction(m, m->all, NULL, join_lanes);
	if (m->scalars)
		each_reduction(m, m->all, m->all + m->copies * n, emit_sum_combine);
}

/* Stores the values of LOOP_ACC expressions. The result of ARGMAX is its index. */
static void store_results(struct nest *s, const struct sums *m)
{
	bool lanes = s->axes.vector_loop != LOOP_NONE && !s->axes.vector_reduce;
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		const struct loop_expr *x = &s->n->exprs[k];
		uint32_t at = 0;
		if (x->kind != LOOP_ACC)
			continue;
		for (uint32_t r = 0; r < x->var; r++)
			at += reduce_values(&s->n->reductions[r]);
		at += reduce_values(&s->n->reductions[x->var]) - 1;
		for (uint32_t u = 0; u < (lanes ? s->unroll : 1); u++)
			s->cells[k].value[u] = m->all[u * s->n_acc + at];
		vec_push(&s->journal, ((struct journal_entry){k, false}));
	}
}

void emit_reductions(struct nest *s)
{
	struct sums m = {.s = s, .copies = s->unroll};
	m.scalars = s->axes.vector_reduce && s->n->schedule.tail == TAIL_SCALAR;
	m.n_all = (m.copies + m.scalars) * s->n_acc;
	m.all = m.target = calloc(m.n_all, sizeof *m.all);
	BUG_ON(!m.all);
	for (uint32_t u = 0; u < m.copies; u++)
		each_reduction(&m, m.all + u * s->n_acc, NULL, start_vector);
	if (m.scalars)
		each_reduction(&m, m.all + m.copies * s->n_acc, NULL, start_scalar);
	run_loops(&m, s->n->n_parallel);
	if (s->axes.vector_reduce)
		emit_sum_join(&m);
	store_results(s, &m);
	free(m.all);
}

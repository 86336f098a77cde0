/* A nest as its schedule says: the parallel loops, the vectorised one innermost. If the tail overlaps, the same results are stored twice. If
 * the extent may be less than a step, or nothing may be stored twice, there is scalar code, too. */
#include "backend/cpu/emit_nest.h"
#include <stdlib.h>
#include "base/bug.h"

static void emit_nest_run(struct nest *s, uint32_t at);

static void emit_iteration(struct nest *s)
{
	if (s->n->n_reductions)
		emit_reductions(s);
	body_compute(s, BODY_REST);
	body_store(s);
}

/* In the body of a loop: computes what depends on no inner loop, then emits the inner loops. */
static void emit_loop_body(struct nest *s, uint32_t at)
{
	bool last = at == s->n->n_parallel;
	if (!last)
		body_compute(s, BODY_ANY);
	else if (s->n->n_reductions)
		body_compute(s, BODY_REDUCTION);
	emit_nest_run(s, at);
}

static void run_at(struct nest *s, uint32_t at, LLVMValueRef var)
{
	struct scope sc;
	scope_begin(s, &sc);
	body_enter(s, s->axes.order[at], var);
	emit_loop_body(s, at + 1);
	scope_end(s, &sc);
}

static LLVMValueRef loop_extent(struct nest *s, uint32_t loop)
{
	if (s->e->range && s->e->range->loop == loop)
		return s->e->range->size;
	return s->e->tile ? s->e->tile->size[loop] : emit_dim(s->e, s->n->extent[loop]);
}

static void emit_nest_run_steps(struct nest *s, uint32_t at, LLVMValueRef from, LLVMValueRef n, uint32_t step, bool exact)
{
	struct emit *e = s->e;
	struct emit_loop l;
	emit_loop_open(e, &l, from, n, emit_i64(e, step), NULL, 0);
	LLVMValueRef var = l.var;
	if (!exact) {
		LLVMValueRef last = LLVMBuildSub(e->builder, n, emit_i64(e, step), "");
		var = LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, last, var, ""), last, var, "");
	}
	run_at(s, at, var);
	emit_loop_close(e, &l);
}

static void run_scalar(struct nest *s, uint32_t at, LLVMValueRef from, LLVMValueRef n)
{
	s->width = s->unroll = 1;
	emit_nest_run_steps(s, at, from, n, 1, true);
	s->width = s->axes.width;
	s->unroll = s->axes.unroll;
}

/* Executes each iteration once. */
static void run_vector_and_rest(struct nest *s, uint32_t at, LLVMValueRef n, uint32_t step)
{
	struct emit *e = s->e;
	LLVMValueRef whole = LLVMBuildSub(e->builder, n, LLVMBuildURem(e->builder, n, emit_i64(e, step), ""), "");
	emit_nest_run_steps(s, at, emit_i64(e, 0), whole, step, true);
	run_scalar(s, at, whole, n);
}

static void run_vector_or_scalar(struct nest *s, uint32_t at, LLVMValueRef n, uint32_t step)
{
	struct emit *e = s->e;
	LLVMBasicBlockRef vector = emit_block(e, "vector"), scalar = emit_block(e, "scalar"), join = emit_block(e, "join");
	LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGE, n, emit_i64(e, step), ""), vector, scalar);
	LLVMPositionBuilderAtEnd(e->builder, vector);
	emit_nest_run_steps(s, at, emit_i64(e, 0), n, step, false);
	LLVMBuildBr(e->builder, join);
	LLVMPositionBuilderAtEnd(e->builder, scalar);
	run_scalar(s, at, emit_i64(e, 0), n);
	LLVMBuildBr(e->builder, join);
	LLVMPositionBuilderAtEnd(e->builder, join);
}

static void emit_nest_run_vector(struct nest *s, uint32_t at)
{
	LLVMValueRef extent = loop_extent(s, s->axes.order[at]);
	uint32_t step = s->width * s->unroll;
	if (s->axes.whole)
		run_at(s, at, emit_i64(s->e, 0));
	else if (s->n->schedule.tail == TAIL_SCALAR)
		run_vector_or_scalar(s, at, extent, step);
	else if (s->n->schedule.tail == TAIL_REST)
		run_vector_and_rest(s, at, extent, step);
	else
		emit_nest_run_steps(s, at, emit_i64(s->e, 0), extent, step, s->n->schedule.tail == TAIL_NONE);
}

LLVMValueRef emit_trip_count(struct nest *s, uint32_t at, uint32_t start, uint32_t end)
{
	struct emit *e = s->e;
	LLVMValueRef count = loop_extent(s, s->axes.order[at]);
	int64_t n;
	if (e->tile) /* has elements */
		return count;
	for (uint32_t k = start; k < at; k++)
		if (!dim_known(e, s->n->extent[s->axes.order[k]], &n))
			return count; /* an outer loop tests it */
	if (dim_known(e, s->n->extent[s->axes.order[at]], &n))
		return count;
	for (uint32_t k = at + 1; k < end; k++) {
		dim inner = s->n->extent[s->axes.order[k]];
		if (dim_known(e, inner, &n) && n > 0)
			continue;
		LLVMValueRef some = LLVMBuildICmp(e->builder, LLVMIntSGT, emit_dim(e, inner), emit_i64(e, 0), "");
		count = LLVMBuildSelect(e->builder, some, count, emit_i64(e, 0), "");
	}
	return count;
}

static void emit_nest_run(struct nest *s, uint32_t at)
{
	if (at == s->n->n_parallel) {
		emit_iteration(s);
		return;
	}
	uint32_t loop = s->axes.order[at];
	if (s->e->tile && loop == 0) /* a tile is of one batch */
		run_at(s, at, emit_i64(s->e, 0));
	else if (loop == s->axes.vector_loop)
		emit_nest_run_vector(s, at);
	else
		emit_nest_run_steps(s, at, emit_i64(s->e, 0), emit_trip_count(s, at, s->n->n_outer, s->n->n_parallel), 1, true);
}

static void read_schedule(struct nest *s)
{
	const struct loop_schedule *from = &s->n->schedule;
	struct nest_axes *to = &s->axes;
	uint32_t n = s->n->n_outer;
	*to = (struct nest_axes){.vector_loop = LOOP_NONE, .width = 1, .unroll = 1};
	for (uint32_t k = 0; k < from->n_axes; k++) {
		const struct loop_axis *a = &from->axes[k];
		bool vector = a->kind == AXIS_VECTOR, unroll = a->kind == AXIS_UNROLL;
		if (n == s->n->n_outer || to->order[n - 1] != a->of) {
			to->order[n++] = a->of;
			to->whole |= vector || unroll;
		}
		if (unroll)
			to->unroll = a->width;
		if (!vector)
			continue;
		to->vector_loop = a->of;
		to->width = a->width;
		to->vector_reduce = a->of >= s->n->n_parallel;
	}
	s->width = to->width;
	s->unroll = to->unroll;
}

/* Returns the loops that an expression depends on, with its arguments. */
static uint32_t expr_deps(const struct nest *s, uint32_t k)
{
	const struct loop_expr *x = &s->n->exprs[k];
	uint32_t deps = 0;
	int64_t v;
	if (x->kind == LOOP_INDEX)
		return 1u << x->var;
	if (x->kind == LOOP_ACC) /* the result of an innermost parallel iteration */
		return DEP_ACC | ((1u << s->n->n_parallel) - 1);
	if (x->kind == LOOP_TILE)
		return (1u << TILE_AXES) - 1;
	for (uint32_t j = 0; j < loop_expr_operands(x); j++)
		deps |= s->deps[x->args[j]];
	if (x->kind != LOOP_LOAD)
		return deps;
	for (uint32_t loop = 0; loop < (uint32_t)s->n->n_parallel + s->n->n_reduce; loop++)
		if (!dim_known(s->e, x->access.stride[loop], &v) || v != 0)
			deps |= 1u << loop;
	return x->access.index == LOOP_NONE ? deps : deps | s->deps[x->access.index];
}

static void analyse_nest(struct nest *s)
{
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		s->deps[k] = expr_deps(s, k);
		s->varying[k] = s->axes.vector_loop != LOOP_NONE && (s->deps[k] >> s->axes.vector_loop & 1);
	}
	for (uint32_t k = 0; k < s->n->n_reductions; k++) {
		s->n_acc += reduce_values(&s->n->reductions[k]);
		s->fused[s->n->reductions[k].value] = s->n->reductions[k].fused;
	}
}

static void prepare_access(struct nest *s, uint32_t at, const struct loop_access *a)
{
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		emit_dim(s->e, a->stride[k]);
	if (a->index != LOOP_NONE)
		emit_dim(s->e, a->scale);
	dtype elem = s->e->fn->buffers[a->buffer].type.elem;
	s->ptrs[at] = emit_offset(s->e, elem, emit_buffer(s->e, a->buffer), emit_dim(s->e, a->base));
	if (s->e->range)
		body_advance(s, at, s->e->range->loop, s->e->range->from);
	for (uint32_t k = 0; k < s->n->n_outer; k++)
		body_advance(s, at, k, s->var[k]);
	for (uint32_t k = 0; s->e->tile && k < TILE_AXES; k++)
		body_advance(s, at, k, s->e->tile->at[k]);
}

/* Computes pointers and dims before the loops, so that all code can use them. */
static void prepare_nest(struct nest *s)
{
	for (uint32_t k = 0; k < (uint32_t)s->n->n_parallel + s->n->n_reduce; k++)
		emit_dim(s->e, s->n->extent[k]);
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		if (s->n->exprs[k].kind == LOOP_EXTENT || s->n->exprs[k].kind == LOOP_CHECK)
			emit_dim(s->e, s->n->exprs[k].extent);
		if (s->n->exprs[k].kind == LOOP_TILE)
			s->ptrs[k] = s->e->tile->ptr;
		if (s->n->exprs[k].kind == LOOP_LOAD)
			prepare_access(s, k, &s->n->exprs[k].access);
	}
	for (uint32_t k = 0; k < s->n->n_stores; k++)
		prepare_access(s, s->n->n_exprs + k, &s->n->stores[k].access);
	if (s->filled)
		s->ptrs[s->n->n_exprs + s->n->n_stores] = s->e->tile->ptr;
}

void emit_nest(struct emit *e, const struct loop_nest *n)
{
	bool filled = e->tile && !n->n_stores;
	struct nest s = {.e = e, .n = n, .n_ptrs = n->n_exprs + n->n_stores + filled, .filled = filled};
	s.deps = calloc(n->n_exprs + 1, sizeof *s.deps);
	s.varying = calloc(n->n_exprs + 1, sizeof *s.varying);
	s.fused = calloc(n->n_exprs + 1, sizeof *s.fused);
	s.cells = calloc(n->n_exprs + 1, sizeof *s.cells);
	s.ptrs = calloc(s.n_ptrs + 1, sizeof *s.ptrs);
	BUG_ON(!s.deps || !s.varying || !s.fused || !s.cells || !s.ptrs);
	for (uint32_t k = 0; k < n->n_outer; k++) {
		s.var[k] = e->outer->var[k];
		s.opened |= 1u << k;
	}
	read_schedule(&s);
	analyse_nest(&s);
	prepare_nest(&s);
	emit_loop_body(&s, n->n_outer);
	vec_free(&s.journal);
	free(s.deps);
	free(s.varying);
	free(s.fused);
	free(s.cells);
	free(s.ptrs);
}

/* Schedules: the axes cover each loop once, with widths and tails that the printers know. */
#include "backend/loops/verify/verify_state.h"

static bool is_power_of_two(uint32_t x) { return x && !(x & (x - 1)); }

/* The part of the body that one axis leaves to those inside: axes of a loop are adjacent and divide each other's steps. */
static bool check_axis(const struct verifier *v, uint32_t at)
{
	const struct loop_schedule *s = &v->n->schedule;
	const struct loop_axis *a = &s->axes[at], *inner = at + 1 < s->n_axes && s->axes[at + 1].of == a->of ? a + 1 : NULL;
	if (a->of < v->n->n_outer || a->of >= (uint32_t)v->n->n_parallel + v->n->n_reduce)
		return verify_fail(v, "an axis of a loop that does not exist", at);
	if (v->outer && (a->kind == AXIS_PARALLEL || a->kind == AXIS_GROUP))
		return verify_fail(v, "a parallel axis inside of a block", at);
	if (!is_power_of_two(a->width) || a->width > (a->kind == AXIS_UNROLL ? LOOP_MAX_UNROLL : LOOP_MAX_LANES))
		return verify_fail(v, "bad width of an axis", at);
	if (at > 0 && a[-1].of >= v->n->n_parallel && a->of < v->n->n_parallel)
		return verify_fail(v, "a parallel loop inside of a reduction loop", at);
	if (a->step < 1 || a->step > LOOP_MAX_STEP || (inner && (inner->step < 1 || inner->step > LOOP_MAX_STEP)))
		return verify_fail(v, "bad step of an axis", at);
	if (inner && inner->kind != AXIS_UNROLL && inner->kind != AXIS_VECTOR && a->kind != AXIS_PARALLEL)
		return verify_fail(v, "axes of a loop in the wrong order", at);
	if ((a->kind == AXIS_VECTOR) != (inner == NULL && a->width > 1 && a->kind != AXIS_LANE))
		return verify_fail(v, "only the innermost axis of a loop is a vector", at);
	int64_t inside = inner ? inner->step * inner->width : 1;
	return (a->kind == AXIS_PARALLEL ? a->step % inside == 0 : a->step == inside) ||
	       verify_fail(v, "a step differs from what the inner axes cover", at);
}

/* True if the extent is a multiple of n for all values of the symbols. */
static bool is_multiple(const struct verifier *v, dim extent, int64_t n)
{
	int64_t known;
	return verify_const(v, extent, &known) ? known % n == 0 : dim_common_factor(v->f->dims, extent) % n == 0;
}

/* The tail that the printers expect if a loop has vectors. A reduction adds what is left of unrolled steps vector by vector. */
static bool check_tail(const struct verifier *v, const struct loop_axis *vector)
{
	dim of = v->n->extent[vector->of];
	bool copies = vector > v->n->schedule.axes && vector[-1].of == vector->of && vector[-1].kind == AXIS_UNROLL;
	int64_t extent, step = (int64_t)vector->width * (copies ? vector[-1].width : 1);
	bool known = verify_const(v, of, &extent), parallel = vector->of < v->n->n_parallel;
	if (v->n->schedule.tail == TAIL_OVERLAP && (!known || extent < (parallel ? step : vector->width)))
		return verify_fail(v, "the overlapping tail of a loop that may be too short", vector->of);
	if (v->n->schedule.tail == TAIL_REST && !parallel)
		return verify_fail(v, "the tail of a parallel loop at a reduction", vector->of);
	if (v->n->schedule.tail == TAIL_NONE && !is_multiple(v, of, parallel ? step : vector->width))
		return verify_fail(v, "a loop without a tail that its steps do not divide", vector->of);
	return true;
}

/* Copies and lanes that no axis repeats must be as many as the loop has iterations. */
static bool check_outer(const struct verifier *v, const struct loop_axis *a)
{
	int64_t extent;
	if (a->kind != AXIS_UNROLL && a->kind != AXIS_VECTOR)
		return true;
	return (verify_const(v, v->n->extent[a->of], &extent) && extent == a->step * a->width) ||
	       verify_fail(v, "copies that do not cover their loop", a->of);
}

bool verify_schedule(const struct verifier *v)
{
	const struct loop_schedule *s = &v->n->schedule;
	uint32_t seen = 0, vectors = 0;
	if (!s->index_bytes) /* it was not chosen yet */
		return s->n_axes == 0 || verify_fail(v, "a schedule without a size of indices", 0);
	if (s->apart && (!v->n->n_outer || !v->n->n_exprs))
		return verify_fail(v, "only a nest in a block can be a function of its own", 0);
	for (uint32_t k = 0; k < s->n_axes; k++) {
		const struct loop_axis *a = &s->axes[k];
		if (!check_axis(v, k))
			return false;
		if (k == 0 || a[-1].of != a->of) {
			if (seen >> a->of & 1)
				return verify_fail(v, "the axes of a loop are not adjacent", k);
			seen |= 1u << a->of;
			if (!check_outer(v, a))
				return false;
		}
		if (a->kind == AXIS_VECTOR && (vectors++ || !check_tail(v, a)))
			return verify_fail(v, "a second vector", k);
	}
	uint32_t loops = (uint32_t)v->n->n_parallel + v->n->n_reduce;
	return seen == (1u << loops) - (1u << v->n->n_outer) || verify_fail(v, "a loop without an axis", seen);
}

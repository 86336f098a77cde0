/* The loops of a plan that a test has made by hand. */
#ifndef TRIB_TESTS_UNIT_BACKEND_PLAN_LOOPS_H
#define TRIB_TESTS_UNIT_BACKEND_PLAN_LOOPS_H
#include "backend/plan/plan.h"

static inline struct loop_fn *plan_loops(struct arena *a, const struct plan *p)
{
	return loops_build(a, &(struct loop_source){.fn = p->run_fn, .slots = p->slots, .n_slots = p->n_slots}, &p->options, NULL);
}
#endif

/* Private to loops/: the parts of choosing a schedule. */
#ifndef TRIB_BACKEND_LOOPS_SCHEDULE_CHOOSE_H
#define TRIB_BACKEND_LOOPS_SCHEDULE_CHOOSE_H
#include "backend/loops/ir/loops.h"

struct plan_options;

/* schedule.c: adds an axis inside those of the schedule. */
void schedule_add(struct loop_schedule *s, enum axis_kind kind, uint32_t of, uint32_t width, int64_t step);
enum { LOOP_AXES = LOOP_MAX + 3 }; /* the most axes: one for each loop, the vector, the unrolling, the chunks */
/* schedule_parallel.c: if the nest or block is large, puts chunks of a loop outside of its schedule. */
void schedule_chunks(const struct loop_fn *f, struct loop_stmt *s);
/* schedule_vector.c, schedule_device.c: fill the empty schedule of a nest. */
void schedule_for_vectors(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o);
/* Returns the loop that would be vectorised, or LOOP_NONE. */
uint32_t schedule_vector_loop(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o);
void schedule_for_tile(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o);
/* True if the work items of a group share the reduction of the nest. */
bool schedule_is_shared(const struct loop_fn *f, const struct loop_nest *n);
/* Adds long float sums in blocks, where no vectors or work items share them. */
void schedule_sum_blocks(const struct loop_fn *f, struct loop_nest *n);
void schedule_for_device(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o);
#endif

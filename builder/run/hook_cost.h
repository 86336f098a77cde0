/* Takes what measuring costs from the times of statements. */
#ifndef TRIB_BUILDER_RUN_HOOK_COST_H
#define TRIB_BUILDER_RUN_HOOK_COST_H
#include <stdint.h>

struct profile;

/* The statements were measured in runs with the profile hook that took `measured_ns` on average; the total is that of a run without. Afterwards the
 * statements and `outside_ns` add up to the total. The facts `measured_ns`, `hook_ns` and `scale` say what was changed. */
void hook_cost_remove(struct profile *p, double measured_ns, int64_t clock_ns);
#endif

/* Makes a profile of runs from what the library itself sums of its statements (NAME_profile). */
#ifndef TRIB_BUILDER_RUN_RUN_PROFILE_H
#define TRIB_BUILDER_RUN_RUN_PROFILE_H
#include "backend/runtime/abi/tri.h"
#include "builder/profile/profile.h"

struct run_profiler;
struct run_profiler *run_profiler_new(const tri_model_desc *desc);
/* Says whose code runs, before the first run: tri_device.desc. */
void run_profiler_set_code(struct run_profiler *p, const tri_model_desc *code);
void run_profiler_free(struct run_profiler *p); /* NULL is accepted */
/* tri_options.profile; the profiler is tri_options.profile_user. */
void run_profiler_event(void *profiler, const tri_profile_event *event);
/* The statements since the last call are one run, or do not count. */
void run_profiler_end_run(struct run_profiler *p, struct tri_model *model);
void run_profiler_drop_run(struct run_profiler *p, struct tri_model *model);
/* What reading the clock costs in ns; 0: a device measures. After a run. */
int64_t run_profiler_clock(const struct run_profiler *p);
/* Adds the statements as items, and the fact `outside_ns`: means over the middle half of the runs, so that their sum is the time of a run, which is returned.
 * Statements of a unit are children of the statement that calls it. The spans are those of the last run. Further facts: how busy an OpenCL device was, and
 * transfers, of all runs; the ternary weights of the library. */
double run_profiler_finish(struct run_profiler *p, struct profile *out);
/* Takes what measuring costs from the times of statements. They were measured in runs with the profile hook that took `measured_ns` on average; the total is that
 * of a run without. Afterwards the statements and `outside_ns` add up to the total. The facts `measured_ns`, `hook_ns` and `scale` say what was changed. */
void run_profile_remove_hook(struct profile *p, double measured_ns, int64_t clock_ns);
#endif

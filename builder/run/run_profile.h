/* Makes a profile of runs from what the statements of a library report. */
#ifndef TRIB_BUILDER_RUN_RUN_PROFILE_H
#define TRIB_BUILDER_RUN_RUN_PROFILE_H
#include "backend/runtime/abi/tri.h"
#include "builder/profile/profile.h"

struct run_profiler;
struct run_profiler *run_profiler_new(void);
void run_profiler_free(struct run_profiler *p); /* NULL is accepted */
/* tri_options.profile; the profiler is tri_options.profile_user. */
void run_profiler_event(void *profiler, const tri_profile_event *event);
/* The events since the last call are one run, or are dropped. Several runs are read at once: work between two runs takes the caches from the model, and lets
 * its threads fall asleep. */
void run_profiler_end_run(struct run_profiler *p, const tri_model_desc *desc, struct tri_model *model);
void run_profiler_drop_run(struct run_profiler *p, const tri_model_desc *desc, struct tri_model *model);
/* Adds the statements as items, and the fact `outside_ns`: means over the middle half of the runs, so that their sum is the time of a run, which is returned.
 * Statements of a unit are children of the statement that calls it. The spans are those of the last run. */
double run_profiler_finish(struct run_profiler *p, struct profile *out);
#endif

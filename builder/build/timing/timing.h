/* Where the time of a build goes: a log of spans for each lane. Thread-safe. All functions accept NULL: nothing is measured. */
#ifndef TRIB_BUILDER_BUILD_TIMING_TIMING_H
#define TRIB_BUILDER_BUILD_TIMING_TIMING_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

enum phase {
#define PHASE(id, text) PHASE_##id,
#include "builder/build/timing/phases.def"
#undef PHASE
	PHASE_COUNT
};
struct plan_figures;
struct chain;
struct measure_log;
struct pool;
struct pool_idle;
struct timing;

struct timing *timing_new(void);
void timing_free(struct timing *t);
/* The spans of this thread go to a lane from now on: 0 is the main thread, w + 1 is worker w. Returns the log before, for
 * timing_leave. */
struct measure_log *timing_enter(struct timing *t, uint32_t lane);
void timing_leave(struct timing *t, struct measure_log *before);
/* Begins a span of a phase; measure_end ends it. `subject`, such as a unit, may be NULL. */
void phase_begin(enum phase p, const char *subject);
const char *phase_text(enum phase p);
/* The sum of all lanes. */
int64_t timing_wall(const struct timing *t, enum phase p);
uint32_t timing_lanes(const struct timing *t);
const struct measure_log *timing_lane(const struct timing *t, uint32_t lane); /* NULL: it did nothing */
/* The main thread waited for workers, or ran their tasks. */
void timing_add_wait(struct timing *t, int64_t ns);
int64_t timing_waited(const struct timing *t);
/* Workers were idle while the main thread waited: from `before` until now. */
void timing_add_idle(struct timing *t, struct pool *pool, const struct pool_idle *before);
const struct pool_idle *timing_idle(const struct timing *t);
/* The main thread waited for tasks, whose longest chain took `ns`. */
void timing_add_chain(struct timing *t, const struct chain *chain, int64_t ns);
int64_t timing_chains(const struct timing *t);
/* True if the lane ran a task of a longest chain at this time. */
bool timing_is_critical(const struct timing *t, uint32_t lane, int64_t at_ns);

/* The memory of the process, when tasks ended. */
struct timing_memory {
	int64_t at_ns;
	uint64_t resident;
	uint64_t private_dirty; /* 0: not measured, because that would take too long */
};
void timing_note_memory(struct timing *t);
/* The most private dirty memory so far; 0: unknown. */
uint64_t timing_private_dirty(const struct timing *t);
uint32_t timing_memory(const struct timing *t, const struct timing_memory **list);

/* From now on the passes of plans count what they change, too. Before the workers plan. */
void timing_watch_passes(struct timing *t);
bool timing_watches_passes(const struct timing *t);
void timing_add_passes(struct timing *t, const struct plan_figures *figures);
/* Calls fn for each pass that has run. */
struct pass_figures;
typedef void timing_pass_fn(void *ctx, const char *name, const struct pass_figures *f);
void timing_each_pass(const struct timing *t, timing_pass_fn *fn, void *ctx);
#endif

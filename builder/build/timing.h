/* The time of a build: sums for each phase, and for --trace an event for each task. Thread-safe. */
#ifndef TRIB_BUILDER_BUILD_TIMING_H
#define TRIB_BUILDER_BUILD_TIMING_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum phase {
#define PHASE(id, text) PHASE_##id,
#include "builder/build/phases.def"
#undef PHASE
	PHASE_COUNT
};
struct plan_figures;
struct timing;
/* Nanoseconds of the wall clock, and of the calling thread's CPU clock. */
struct tick {
	int64_t wall, cpu;
};

struct timing *timing_new(bool events);
void timing_free(struct timing *t); /* NULL is accepted */
struct tick timing_tick(void);
/* Adds work from `since` until now, on the same thread. `lane`: 0 is the main thread, w + 1 is worker w. Returns its wall time. */
int64_t timing_add(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since);
/* Adds only the event: timing_add_ns adds its time to the sums. */
void timing_event(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since);
/* Adds work that was measured elsewhere. */
void timing_add_ns(struct timing *t, enum phase p, int64_t wall, int64_t cpu);
int64_t timing_wall(const struct timing *t, enum phase p);
int64_t timing_cpu(const struct timing *t, enum phase p);
const char *phase_text(enum phase p);
/* From now on the passes of plans are measured, too. Before the workers plan. */
void timing_watch_passes(struct timing *t);
bool timing_watches_passes(const struct timing *t);
void timing_add_passes(struct timing *t, const struct plan_figures *f);
/* Calls fn for each pass that has run. */
struct pass_figures;
typedef void timing_pass_fn(void *ctx, const char *name, const struct pass_figures *f);
void timing_each_pass(const struct timing *t, timing_pass_fn *fn, void *ctx);
/* Calls fn for each event, in the order in which they ended. */
struct timing_event {
	const char *name;
	enum phase phase;
	uint32_t lane;
	int64_t start, length; /* ns of the monotonic clock */
	int64_t cpu;           /* of the thread */
};
typedef void timing_event_fn(void *ctx, const struct timing_event *e);
void timing_each_event(const struct timing *t, timing_event_fn *fn, void *ctx);
/* Prints the table of --timing. */
void timing_print(const struct timing *t, FILE *out, int64_t total_wall);
/* Writes all events in the Chrome trace format (chrome://tracing, Perfetto). Times are of the system's monotonic clock, so that traces
 * of several processes align. False: errno says why. */
bool timing_write(const struct timing *t, const char *path);
#endif

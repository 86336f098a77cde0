/* Where the time of a build went: sums per phase, and on request every single piece of work as an event for a trace viewer. Thread-safe. */
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
struct timing;
/* A moment: of the wall clock, and of the calling thread's CPU clock. Nanoseconds. */
struct tick {
	int64_t wall, cpu;
};

struct timing *timing_new(bool events);
void timing_free(struct timing *t); /* NULL is accepted */
struct tick timing_tick(void);
/* Work of a phase from `since` until now, on the same thread. `lane`: 0 is the main thread, worker w is w + 1. Returns its wall time. */
int64_t timing_add(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since);
/* Only the event: its time is in the sums by timing_add_ns. */
void timing_event(struct timing *t, enum phase p, uint32_t lane, const char *name, struct tick since);
/* Work that was measured elsewhere. */
void timing_add_ns(struct timing *t, enum phase p, int64_t wall, int64_t cpu);
int64_t timing_wall(const struct timing *t, enum phase p);
const char *phase_text(enum phase p);
/* A table for people. */
void timing_print(const struct timing *t, FILE *out, int64_t total_wall);
/* All events in the Chrome trace format (chrome://tracing, Perfetto), at times of the system's monotonic clock, so that traces of several processes fit
 * together. False: errno says why. */
bool timing_write(const struct timing *t, const char *path);
#endif

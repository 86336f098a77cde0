/* Telling people how a build goes: one line that is redrawn on a terminal, one line for each finished piece of work elsewhere. */
#ifndef TRIB_BUILDER_BUILD_PROGRESS_H
#define TRIB_BUILDER_BUILD_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum progress_mode { PROGRESS_QUIET, PROGRESS_LINES, PROGRESS_TERMINAL };
struct buf;
struct progress;
/* One that runs. */
struct progress_unit {
	const char *name;
	int64_t ran_ns, expected_ns;
};

struct progress *progress_new(FILE *out, enum progress_mode mode, uint32_t workers);
void progress_free(struct progress *p); /* NULL is accepted */
/* How many pieces of work there are, and what they took together in earlier builds. */
void progress_total(struct progress *p, uint32_t total, int64_t expected_ns);
/* From the worker itself, when it starts and ends a piece of work. `name` must last until the end. */
void progress_start(struct progress *p, uint32_t worker, const char *name, int64_t expected_ns);
void progress_done(struct progress *p, uint32_t worker);
/* From the main thread: redraws the line if it is time to; removes it, so that other text may be printed. */
void progress_draw(struct progress *p);
void progress_clear(struct progress *p);
/* The line for a terminal: counts, the time that is left, and of `running` what fits into that many columns. */
void progress_line(struct buf *out, uint32_t done, uint32_t total, int64_t left_ns, const struct progress_unit *running, uint32_t n,
		   uint32_t columns);
#endif

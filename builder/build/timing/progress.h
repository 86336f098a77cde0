/* Displays the progress of a build: a line that is redrawn on a terminal, else a line for each finished task. */
#ifndef TRIB_BUILDER_BUILD_TIMING_PROGRESS_H
#define TRIB_BUILDER_BUILD_TIMING_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* JSON: an object when a phase starts, and when a task starts and ends. */
enum progress_mode { PROGRESS_QUIET, PROGRESS_LINES, PROGRESS_TERMINAL, PROGRESS_JSON };
struct buf;
struct progress;
/* A running task. */
struct progress_task {
	const char *name;
	int64_t ran_ns, expected_ns;
};

struct progress *progress_new(FILE *out, enum progress_mode mode, uint32_t workers);
void progress_free(struct progress *p); /* NULL is accepted */
/* The number of tasks, and their time in earlier builds. */
void progress_total(struct progress *p, uint32_t total, int64_t expected_ns);
/* On the main thread: a phase starts. NULL is accepted. */
void progress_phase(struct progress *p, const char *phase);
/* Called by the worker when it starts and ends a task. `kind` and `name` must be valid until the end. */
void progress_start(struct progress *p, uint32_t worker, const char *kind, const char *name, int64_t expected_ns);
void progress_done(struct progress *p, uint32_t worker, bool ok);
/* On the main thread: redraws the line if it is old enough; removes it before other text is printed. */
void progress_draw(struct progress *p);
void progress_clear(struct progress *p);
/* The line for a terminal: counts, remaining time, and as many running tasks as fit into the columns. */
void progress_line(struct buf *out, uint32_t done, uint32_t total, int64_t left_ns, const struct progress_task *running, uint32_t n,
		   uint32_t columns);
#endif

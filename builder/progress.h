/* Telling people how a build goes: one line that is redrawn on a terminal, one line for each finished piece of work elsewhere. */
#ifndef TRIB_BUILDER_PROGRESS_H
#define TRIB_BUILDER_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum progress_mode { PROGRESS_QUIET, PROGRESS_LINES, PROGRESS_TERMINAL };
struct progress;

struct progress *progress_new(FILE *out, enum progress_mode mode, uint32_t workers);
void progress_free(struct progress *p); /* NULL is accepted */
void progress_total(struct progress *p, uint32_t total);
/* From the worker itself, when it starts and ends a piece of work. `name` must last until the end. */
void progress_start(struct progress *p, uint32_t worker, const char *name);
void progress_done(struct progress *p, uint32_t worker);
/* From the main thread: redraws the line if it is time to; removes it, so that other text may be printed. */
void progress_draw(struct progress *p);
void progress_clear(struct progress *p);
#endif

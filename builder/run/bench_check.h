/* Compares a library with the reference interpreter before it is timed: a wrong result is not worth its time. */
#ifndef TRIB_BUILDER_RUN_BENCH_CHECK_H
#define TRIB_BUILDER_RUN_BENCH_CHECK_H
#include "builder/run/run.h"

/* Builds the model for trib bench; `unit_entries`: as in the options. Returns the library's path; NULL: errors were printed. */
typedef const char *bench_build(void *ctx, uint32_t unit_entries, enum status *s);

/* Runs the model of the options, with made inputs of one row, on the library and in the interpreter. A difference beyond the tolerance of its type may be rounding that
 * the network amplifies (rounding.h). Then each unit is compared, too, with the reference's inputs. Returns STATUS_FAILED for a larger difference.
 * *report is a sentence in any case. */
enum status bench_check(struct arena *a, const struct options *o, const char *library, bench_build *build, void *ctx, struct buf *report);
#endif

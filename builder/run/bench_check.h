/* Compares a library with the reference interpreter before it is timed: a wrong result is not worth its time. */
#ifndef TRIB_BUILDER_RUN_BENCH_CHECK_H
#define TRIB_BUILDER_RUN_BENCH_CHECK_H
#include "builder/run/run.h"

/* Runs the model of the options, with made inputs of one row, on the library and in the interpreter. Returns STATUS_FAILED if an output is outside the
 * tolerance of its type, widened by what rounding changes (rounding.h). *report is a sentence in any case. */
enum status bench_check(struct arena *a, const struct options *o, const char *library, struct buf *report);
#endif

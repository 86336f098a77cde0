/* What `trib bench` prints: a table for each case, and one of all cases. */
#ifndef TRIB_BUILDER_CLI_COMMANDS_BENCH_REPORT_H
#define TRIB_BUILDER_CLI_COMMANDS_BENCH_REPORT_H
#include "builder/profile/report.h"
#include "builder/run/bench.h"

struct bench_report {
	struct report r;
	struct table summary; /* a row for each case */
	double first_rate;    /* rows a second of the first case; 0: none yet */
};

/* Appends to `out`, which must outlive it. */
void bench_report_begin(struct bench_report *b, const struct report_options *options, struct buf *out);
void bench_report_add(struct bench_report *b, const struct bench_case *bench, const struct profile *p);
/* Appends the table of all cases. */
void bench_report_end(struct bench_report *b);
#endif

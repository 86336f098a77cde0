/* Prints what a build reports at its end: diagnostics, and the summary or the JSON record. */
#ifndef TRIB_BUILDER_BUILD_REPORT_H
#define TRIB_BUILDER_BUILD_REPORT_H
#include "builder/build/build.h"

struct build_context;
struct build_result;
struct build_spec;
struct project;

/* Writes the timeline of --trace, and prints all but the summary that a caller prints (request.caller_reports). */
enum status report_print(struct build_context *c, const struct project *p, const struct build_result *r);
/* Prints the table of --timing. */
void report_timing(const struct build_context *c, const struct build_spec *spec, const struct build_result *r);
#endif

/* Prints what a build reports at its end: diagnostics, the summary or the JSON record, and what was measured. */
#ifndef TRIB_BUILDER_BUILD_REPORT_REPORT_H
#define TRIB_BUILDER_BUILD_REPORT_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/session/status.h"

struct buf;
struct build_context;
struct build_request;
struct build_result;
struct build_spec;
struct lookups;
struct profile;
struct project;
struct timing;

/* The JSON object that ends every build and check with --message-format=json. */
struct build_summary {
	const char *type; /* "build" or "check" */
	bool ok;
	int64_t wall_ns;
	uint32_t jobs;
	const struct build_result *result;
	const struct lookups *lookups; /* of each level */
};
/* Appends the object as one line. `timing` may be NULL: all times are zero. */
void build_summary_print(const struct build_summary *s, const struct timing *timing, struct buf *out);

/* Makes the profile, sets r->efficiency, and writes the files of --trace and --profile-out. NULL: nothing was measured. `set` may be NULL. */
struct profile *report_profile_of(struct build_context *c, const struct project *p, struct build_result *r);
/* Prints all but the summary that a caller prints (request.caller_reports). */
enum status report_print(struct build_context *c, const struct project *p, const struct build_result *r);
/* Prints the tables of --timing. `profile` may be NULL. */
void report_timing(const struct build_request *request, const struct build_spec *spec, const struct profile *profile);

void report_annotations(struct build_context *c);
#endif

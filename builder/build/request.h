/* What one build is asked to do. Read only while it runs. */
#ifndef TRIB_BUILDER_BUILD_REQUEST_H
#define TRIB_BUILDER_BUILD_REQUEST_H
#include <stdbool.h>
#include <stdio.h>

struct disk;
struct options;

struct build_request {
	const struct options *options;
	FILE *out, *err;
	const struct disk *disk; /* NULL: the real one */
	bool single;             /* `trib build FILE.tri`: no manifest, and no store beside the file */
	bool check;              /* `trib check`: the front end alone */
	bool caller_reports;     /* the caller prints the summary (build_start) */
};

/* True if lines that are neither errors nor warnings are printed. */
bool request_is_chatty(const struct build_request *r);
/* True if the text of a stage is printed in place of building libraries: --dump-…, --stop-after=…. */
bool options_print_stage(const struct options *o);
#endif

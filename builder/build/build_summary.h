/* The JSON object that ends every build and check with --message-format=json. */
#ifndef TRIB_BUILDER_BUILD_BUILD_SUMMARY_H
#define TRIB_BUILDER_BUILD_BUILD_SUMMARY_H
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct build_result;
struct timing;

struct build_summary {
	const char *type; /* "build" or "check" */
	bool ok;
	int64_t wall_ns;
	uint32_t jobs;
	const struct build_result *result;
};
/* Appends the object as one line. `t` may be NULL: all times are zero. */
void build_summary_print(const struct build_summary *s, const struct timing *t, struct buf *out);
#endif

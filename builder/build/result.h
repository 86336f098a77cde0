/* What a build has made, counted and measured. */
#ifndef TRIB_BUILDER_BUILD_RESULT_H
#define TRIB_BUILDER_BUILD_RESULT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct buf;
struct build_record_source;
struct timing;

struct build_result {
	VEC(const char *) outputs;                 /* paths */
	uint32_t units, compiled, reused, failed;  /* units: all of them */
	uint32_t later;                            /* units of lazy libraries that are compiled when they are called */
	uint32_t hits, misses;                     /* look-ups of fragments in the cache */
	uint32_t packed, packed_before;            /* weights that were packed now, and that were found packed */
	uint32_t linked;                           /* models */
	const struct build_record_source *sources; /* of a build that was found in the cache; else NULL */
	uint32_t n_sources;
	int64_t started, published; /* published: when the last output was written; 0: none was */
};

/* The JSON object that ends every build and check with --message-format=json. */
struct build_summary {
	const char *type; /* "build" or "check" */
	bool ok;
	int64_t wall_ns;
	uint32_t jobs;
	const struct build_result *result;
};
/* report.c: appends the object as one line. `t` may be NULL: all times are zero. */
void build_summary_print(const struct build_summary *s, const struct timing *t, struct buf *out);
#endif

/* What a build has made, counted and measured. */
#ifndef TRIB_BUILDER_BUILD_SESSION_BUILD_RESULT_H
#define TRIB_BUILDER_BUILD_SESSION_BUILD_RESULT_H
#include <stdint.h>
#include "base/vec.h"

struct build_record_source;

struct build_result {
	VEC(const char *) outputs;                /* paths */
	uint32_t units, compiled, reused, failed; /* units: all of them */
	uint32_t later;                           /* units of lazy libraries that are compiled when they are called */
	uint32_t hits, misses;                    /* look-ups of fragments in the cache */
	uint32_t packed, packed_before;           /* weights that were packed now, and that were found packed */
	uint32_t linked;                          /* models */
	uint64_t saved_ns;                        /* what compiling the units of a build in the cache took */
	const char *slowest;                      /* the task that took longest; NULL: there was none */
	int64_t slowest_ns;
	const struct build_record_source *sources; /* of a build that was found in the cache; else NULL */
	uint32_t n_sources;
	double efficiency;          /* share of the workers' time that was busy; 0: not measured */
	int64_t started, published; /* published: when the last output was written; 0: none was */
};
#endif

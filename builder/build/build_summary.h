/* The JSON object that ends every build and check with --message-format=json. */
#ifndef TRIB_BUILDER_BUILD_BUILD_SUMMARY_H
#define TRIB_BUILDER_BUILD_BUILD_SUMMARY_H
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct timing;

struct build_summary {
	const char *type; /* "build" or "check" */
	bool ok;
	int64_t wall_ns;
	uint32_t total, compiled, reused, failed; /* units */
	uint32_t later;                           /* units that a lazy library compiles when they are called */
	uint32_t hits, misses;                    /* look-ups of fragments in the cache */
	uint32_t packed, packed_before;           /* weights of the linked models: packed now; found packed */
	uint32_t jobs;
	const char *const *outputs;
	uint32_t n_outputs;
};
/* Appends the object as one line. `t` may be NULL: all times are zero. */
void build_summary_print(const struct build_summary *r, const struct timing *t, struct buf *out);
#endif

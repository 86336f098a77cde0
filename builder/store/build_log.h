/* A small record of each build that did something, in the project's store: the last thousand. */
#ifndef TRIB_BUILDER_STORE_BUILD_LOG_H
#define TRIB_BUILDER_STORE_BUILD_LOG_H
#include <stdint.h>
#include "builder/store/lookups.h"

struct arena;
struct store;

#define BUILD_LOG_MOST 1000
struct build_entry {
	uint64_t at;                /* seconds since 1970 */
	uint64_t wall_ns, saved_ns; /* saved: what compiling the reused units took earlier */
	uint32_t compiled, reused;  /* units */
	uint32_t hits, misses;      /* look-ups in the cache */
	const char *models;         /* "resnet18 vit_b16" */
	const char *slowest;        /* the task that took longest: "compile Block(64)"; "" if there was none */
	uint64_t slowest_ns;
	const char *command; /* "build", "run"; "": the entry is of a trib that did not record it, nor look-ups */
	struct lookups lookups[LOOKUP_LEVELS];
};

/* Adds an entry, in place of the oldest if there are BUILD_LOG_MOST. Queued for the store's next flush. `project` may be NULL. */
void build_log_add(struct store *project, const struct build_entry *e);
/* Returns the entries, the oldest first, in `a`; their texts are in the store, which must stay open. Damaged ones are skipped. */
struct build_entry *build_log_read(struct arena *a, struct store *project, uint32_t *n);
#endif

/* What pieces of work took in earlier builds: for the order in which they run, and for how many fit into memory. Kept in the project's store. */
#ifndef TRIB_BUILDER_STORE_COSTS_H
#define TRIB_BUILDER_STORE_COSTS_H
#include <stdint.h>
#include "base/hash.h"

struct store;

struct cost {
	uint64_t ns, memory; /* wall time; peak bytes */
};

/* `name`: of the piece of work, as edits of its body leave it, e.g. "link digits". */
hash128 cost_key(const char *name, hash128 target, uint8_t opt);
/* Of compiling a unit, by its name and its own level. */
hash128 cost_key_unit(const char *unit, hash128 target, uint8_t opt);
/* What is known, or `otherwise`. `project` may be NULL, here and below. */
struct cost cost_find(struct store *project, hash128 key, struct cost otherwise);
/* Halfway from what is known to `now`: one slow run does not decide. Queued for the store's next flush. */
void cost_note(struct store *project, hash128 key, struct cost now);
#endif

/* What tasks took in earlier builds. It decides the order of tasks, and how many fit into memory. It is in the project's store. */
#ifndef TRIB_BUILDER_STORE_COSTS_H
#define TRIB_BUILDER_STORE_COSTS_H
#include <stdint.h>
#include "base/hash.h"

struct serializer;
struct store;

struct cost {
	uint64_t ns, memory; /* wall time; peak bytes */
};

/* `name`: of the task, the same after edits, for instance "link digits". */
hash128 cost_key(const char *name, hash128 target, uint8_t opt);
/* The key of compiling a unit at this optimisation level. */
hash128 cost_key_unit(const char *unit, hash128 target, uint8_t opt);
/* Writes or reads a cost. */
void cost_serialize(struct serializer *s, struct cost *c);
/* The recorded cost, or `otherwise`. `project` may be NULL, here and below. */
struct cost cost_find(struct store *project, hash128 key, struct cost otherwise);
/* Records the mean of the recorded cost and `now`, so that one slow run does not decide. Queued for the store's next flush. */
void cost_note(struct store *project, hash128 key, struct cost now);
#endif

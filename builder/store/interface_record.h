/* What each entry of a model takes: run-time inputs, parameters, states. The project's store has it as it was last reported, so that a
 * build reports only a change. A build with nothing to do does not read it. */
#ifndef TRIB_BUILDER_STORE_INTERFACE_RECORD_H
#define TRIB_BUILDER_STORE_INTERFACE_RECORD_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct serializer;
struct store;

struct interface_value {
	const char *name, *type; /* "x", "float32[N, 784]" */
};
struct interface_entry {
	const char *name;
	struct interface_value *inputs, *states;
	uint32_t n_inputs, n_states;
	uint32_t tensors;         /* parameters */
	uint64_t elements, bytes; /* of all of them */
};
struct interface_record {
	struct interface_entry *entries;
	uint32_t n_entries;
};

/* Writes or reads a record. */
void interface_serialize(struct serializer *s, struct interface_record *r);
/* Makes `now` the model's record. Returns false if it was that already. Otherwise *before is the old one, with no entries if there was none,
 * and both are copies in `a`. `project` may be NULL. */
bool interface_replace(struct arena *a, struct store *project, const char *model, struct interface_record *now,
		       struct interface_record *before);
#endif

/* The stack machine of a pickle: pickle.c runs its instructions, pickle_call.c names and calls functions. */
#ifndef TRIB_BUILDER_WEIGHTS_PICKLE_STATE_H
#define TRIB_BUILDER_WEIGHTS_PICKLE_STATE_H
#include "base/vec.h"
#include "builder/weights/byte_reader.h"
#include "builder/weights/pickle.h"

struct machine {
	struct byte_reader in;
	VEC(struct pickle *) stack;
	VEC(struct pickle *) memo;
};

void pickle_fail(struct machine *m, const char *what); /* keeps the first error */
struct pickle *pickle_push(struct machine *m, enum pickle_kind kind);
struct pickle *pickle_pop(struct machine *m); /* never NULL */
struct pickle *pickle_top(struct machine *m);
void pickle_append(struct machine *m, struct pickle *to, struct pickle *value);

/* pickle_call.c: the named function; ("storage", a storage type, key, device, number of elements); a call; the attributes of an object. */
void pickle_push_global(struct machine *m, const char *module, const char *name);
void pickle_push_storage(struct machine *m);
void pickle_call(struct machine *m);
void pickle_set_state(struct machine *m);
#endif

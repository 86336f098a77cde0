/* Private to states.c and states_saved.c, and to the fuzz target of saved states. */
#ifndef TRI_STATES_MEMORY_H
#define TRI_STATES_MEMORY_H
#include <stddef.h>
#include "backend/runtime/states.h"

struct tri_state_memory {
	void *now, *next; /* handles of the space, or addresses. next: NULL if no entry replaces the state */
	size_t bytes;     /* of each */
};
struct tri_states {
	const tri_model_desc *desc;
	const struct tri_state_space *space; /* NULL: the memory of the process */
	struct tri_state_memory *memory;     /* for each state */
	int64_t *most;                       /* for each capacity */
	int64_t *length;                     /* for each capacity: filled */
	int64_t *after;                      /* for each capacity: filled if the run succeeds */
	tri_tensor *all;                     /* for the entry with most tensors */
};

/* Returns the bytes of state i that is filled to `lengths`, one for each capacity, none of which exceeds that of s. */
size_t tri_state_bytes(const struct tri_states *s, uint32_t i, const int64_t *lengths);

/* Copy the first bytes of a state's memory; `from` NULL: zeros. They return TRI_OK or the error. */
int tri_state_write(const struct tri_states *s, void *to, const void *from, size_t bytes, tri_error *err);
int tri_state_read(const struct tri_states *s, void *from, void *to, size_t bytes, tri_error *err);

/* Saved states: the header, the filled lengths, and the filled parts, one after the other. Little-endian. */
struct tri_saved_header {
	char magic[8];
	uint32_t version, n_states;
	uint64_t size;  /* of all */
	uint64_t model; /* hash of the names, types and shapes of the states */
	uint64_t check; /* checksum of all else */
};
/* Returns the checksum of a header and of the size - sizeof *h bytes after it. */
uint64_t tri_saved_check(const struct tri_saved_header *h, const void *rest);
#endif

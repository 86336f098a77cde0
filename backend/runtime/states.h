/* The states of an opened model: their memory, their filled lengths, and the check and the commit of each run. */
#ifndef TRI_STATES_H
#define TRI_STATES_H
#include <stdbool.h>
#include <stddef.h>
#include "backend/runtime/abi/tri.h"

struct tri_states;

/* The memory of a device, where states can be kept: tri_tensor.data of a state is then a handle of it. Functions that return false or NULL have set
 * the error. */
struct tri_state_space {
	void *device;
	/* `what`: the state, for the error. NULL: it has no room, or does not work */
	void *(*allocate)(void *device, size_t bytes, const char *what, tri_error *err);
	void (*release)(void *device, void *handle);
	/* Copy the first bytes. `from` NULL: zeros. */
	bool (*write)(void *device, void *handle, const void *from, size_t bytes, tri_error *err);
	bool (*read)(void *device, void *handle, void *to, size_t bytes, tri_error *err);
};

/* Stores the states of a model in *out; NULL if it has none. `space` outlives them; NULL: they are in the memory of the process. Returns TRI_OK or the
 * error. */
int tri_states_open(const tri_model_desc *desc, const tri_options *opt, const struct tri_state_space *space, struct tri_states **out,
		    tri_error *err);
void tri_states_close(struct tri_states *s); /* NULL is accepted */

/* Checks io against e as tri_io_check does, and that the states have room for this run. Stores in *all the tensors of the entry's code: the
 * inputs, states, outputs, and new values of states. `s` may be NULL. Returns TRI_OK or the error. */
int tri_states_begin(struct tri_states *s, const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, const tri_tensor **all,
		     tri_error *err);
/* After a run that succeeded: the new values are those of the next run. `s` may be NULL. */
void tri_states_commit(struct tri_states *s, const tri_entry_desc *e);
/* The entry with its states among its inputs and outputs, as in *all. */
static inline tri_entry_desc tri_states_entry(const tri_entry_desc *e)
{
	tri_entry_desc all = *e;
	all.n_inputs += e->n_states_in;
	all.n_outputs += e->n_states_out;
	return all;
}

/* These implement NAME_reset, NAME_state_save and NAME_state_load. `s` may be NULL. They return TRI_OK or the error. */
int tri_states_reset(struct tri_states *s, tri_error *err);
int tri_states_save(const struct tri_states *s, void *to, uint64_t *size, tri_error *err);
int tri_states_load(struct tri_states *s, const void *from, uint64_t size, tri_error *err);
#endif

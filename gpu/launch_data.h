/* Writes the launches of a model as data of its library: the structures of gpu/runtime/launch.h, with relocations for pointers. */
#ifndef TRIB_GPU_LAUNCH_DATA_H
#define TRIB_GPU_LAUNCH_DATA_H
#include <stdint.h>
#include "backend/link/model.h"
#include "backend/loops/loops.h"

struct object;

/* Adds program text, weights and launches to `o`. Stores the local symbol of the tri_cl_entry of entry e in entries[e]. */
void launch_data_add(struct object *o, const struct model_input *in, const struct model_weights *w, const struct loop_fn *const *units,
		     uint32_t *entries);
#endif

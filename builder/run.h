/* Running a compiled model on .npy files: the command `trib run`. */
#ifndef TRIB_BUILDER_RUN_H
#define TRIB_BUILDER_RUN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/tri.h"

struct arena;
struct buf;
struct options;

/* One entry's tensors: inputs, then outputs. */
struct run_io {
	const tri_entry_desc *entry;
	tri_tensor *tensors;
	int64_t *dims; /* values of the entry's dynamic dimensions */
};
/* The index of the entry that `name` means, by its own name or as the manifest writes it (`Net.prefill`); NULL is the first. -1: *error lists them. */
int run_find_entry(struct arena *a, const char *const *names, uint32_t n, const char *name, struct buf *error);
/* Do the options name inputs and outputs of the entry, and every input? */
bool run_check_names(struct arena *a, const tri_entry_desc *e, const struct options *o, struct buf *error);
/* Reads every input that the entry wants from the files that the options name; allocates the outputs. Memory in `a`. False: *error says why. */
bool run_prepare(struct arena *a, const tri_entry_desc *e, const struct options *o, struct run_io *io, struct buf *error);
/* Writes the outputs that the options name. */
bool run_publish(const struct run_io *io, const struct options *o, struct buf *error);
/* One line each: name, element type, shape. */
void run_print_outputs(const struct run_io *io);
#endif

/* Running a model, compiled or in the reference interpreter, on .npy files: what `trib run` and `trib test` share. */
#ifndef TRIB_BUILDER_RUN_RUN_H
#define TRIB_BUILDER_RUN_RUN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/tri.h"
#include "builder/build/build.h"

struct arena;
struct buf;
struct options;

/* An opened model. */
struct run_model {
	const char *name; /* in the manifest; NULL: it is a library given by its path */
	const tri_entry_desc *entries;
	uint32_t n_entries;
	/* Runs an entry: `io` has its inputs and room for its outputs. Not STATUS_OK: *error says why. */
	enum status (*run)(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error);
	void *ctx;
};
/* What is done with it, in memory of `a`, while it is open. */
typedef enum status run_visitor(struct arena *a, const struct run_model *m, void *ctx);
/* Opens the library at `path`, or reports why not. */
enum status run_visit_library(struct arena *a, const char *path, const char *name, const struct options *o, run_visitor *visit, void *ctx);

/* One entry's tensors: inputs, then outputs. */
struct run_io {
	const tri_entry_desc *entry;
	tri_tensor *tensors;
	int64_t *dims;    /* values of the entry's dynamic dimensions */
	bool environment; /* an input's file cannot be read, or a tensor does not fit into memory */
};
/* The index of the entry that `name` means, by its own name or as the manifest writes it (`Net.prefill`); NULL is the first. -1: *error lists them. */
int run_find_entry(struct arena *a, const struct run_model *m, const char *name, struct buf *error);
/* True if the options name inputs and outputs of the entry, and every input. */
bool run_check_names(struct arena *a, const struct run_model *m, const tri_entry_desc *e, const struct options *o, struct buf *error);
/* Reads or makes every input that the entry wants; allocates the outputs. Memory in `a`. False: *error says why. */
bool run_prepare(struct arena *a, const tri_entry_desc *e, const struct options *o, struct run_io *io, struct buf *error);
/* Runs the entry once, or in batches of options->batch_size along the first dimension. */
enum status run_execute(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io, const struct options *o,
			struct buf *error);
/* A run as the options describe it, with its outputs written or printed; what is wrong is reported on stderr. A run_visitor; ctx: struct options. */
enum status run_once(struct arena *a, const struct run_model *m, void *options);
#endif

/* Runs a model, compiled or in the reference interpreter, on .npy files: shared by `trib run` and `trib test`. */
#ifndef TRIB_BUILDER_RUN_RUN_H
#define TRIB_BUILDER_RUN_RUN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;
struct buf;
struct hir_unit;
struct model_job;
struct options;
struct run_options;
struct sources;
struct tensor;

#define RUN_INTERRUPTED "trib: interrupted\n" /* of os_end_at_interrupt while a model or a driver runs, since it may not end by itself */

/* An opened model. */
struct run_model {
	const char *name; /* in the manifest; NULL: it is a library given by its path */
	const tri_entry_desc *entries;
	uint32_t n_entries;
	/* Runs an entry: `io` has its inputs and room for its outputs. Not STATUS_OK: *error says why. */
	enum status (*run)(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error);
	void (*reset)(void *ctx); /* gives the states their initial values */
	void *ctx;
};
/* Uses the model while it is open. Memory in `a`. */
typedef enum status run_visitor(struct arena *a, const struct run_model *m, void *ctx);
/* How a library is opened. */
tri_options run_library_options(const struct run_options *how);
/* Opens the library at `path`, calls `visit` and closes it. Errors are reported. */
enum status run_visit_library(struct arena *a, const char *path, const char *name, const struct options *o, run_visitor *visit, void *ctx);

/* One entry's tensors: inputs, then outputs. */
struct run_io {
	const tri_entry_desc *entry;
	tri_tensor *tensors;
	int64_t *dims;    /* values of the entry's dynamic dimensions */
	bool environment; /* an input's file cannot be read, or a tensor does not fit into memory */
};
/* The index of the entry `name`, also as the manifest writes it (`Net.prefill`); NULL: the first. -1: *error lists the entries. */
int run_find_entry(struct arena *a, const struct run_model *m, const char *name, struct buf *error);
/* True if the options name inputs and outputs of the entry, and every input. */
bool run_check_names(struct arena *a, const struct run_model *m, const tri_entry_desc *e, const struct options *o, struct buf *error);
/* Reads or makes every input of the entry, and allocates the outputs. Memory in `a`. False: *error says why. */
bool run_prepare(struct arena *a, const tri_entry_desc *e, const struct options *o, struct run_io *io, struct buf *error);
/* The same with these inputs, which are not copied. */
bool run_prepare_tensors(struct arena *a, const tri_entry_desc *e, const tri_tensor *inputs, struct run_io *io, struct buf *error);
/* Runs the entry once, or in batches of o->batch_size along the first dimension. */
enum status run_execute(struct arena *a, const struct run_model *m, uint32_t entry, const struct run_io *io,
			const struct run_options *options, struct buf *error);
/* Runs as the options say, and writes or prints the outputs. Errors go to stderr. A run_visitor; ctx: struct options. */
enum status run_once(struct arena *a, const struct run_model *m, void *options);

/* ---- main_run.c: Runs `main` blocks in the reference interpreter: `trib run --main`. ---- */

/* Runs the main block of the file that the options name, or of the only file that has one. It prints to stdout. */
enum status main_run(const struct options *o);

/* ---- reference.c: Models in the reference interpreter: `--device reference`. ---- */

/* A run of a unit: its run-time inputs, its parameters, the values of its symbols. */
struct reference_call {
	const struct model_job *model;
	const struct sources *sources; /* for messages */
	const struct hir_unit *unit;
	const struct tensor *inputs, *weights;
	uint32_t n_weights;
	const int64_t *dims;
	bool no_print; /* of run_options */
	void *user;    /* the `ctx` of reference_visit */
};
/* Executes the call; outputs in `a`. False: *error says why. */
typedef bool reference_execute(const struct reference_call *c, struct arena *a, struct tensor *out, struct buf *error);
/* In the reference interpreter. Tests have other ways. */
reference_execute reference_interpret;
/* Elaborates the one model that the options name, or the first, and visits it. Errors go to stderr. */
enum status reference_visit(const struct options *o, reference_execute *execute, run_visitor *visit, void *ctx);

/* ---- run_build.c: Builds the library of a project before it is run. ---- */

/* True if the options name a valid device. False: reported. */
bool run_check_device(const struct run_options *options);
bool run_on_reference(const struct run_options *options);
/* Builds the models and prints only errors and warnings. With options->run.no_build it only warns about a stale library. */
enum status run_build_first(struct arena *a, const struct build_spec *spec, const struct options *o);
/* Returns the output of the model whose library has code for the device: that of the device itself, or one that has the device as its fallback. The model
 * may have no such output. */
enum emit run_emit_of(const struct model_spec *spec, const char *device);
/* The path of that library; the options have a device. NULL: it does not exist; reported. */
const char *run_library_path(struct arena *a, const struct model_spec *spec, const struct options *o, enum status *s);
#endif

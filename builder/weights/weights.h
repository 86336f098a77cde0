/* The weights file of a model, and the value of every parameter: from the file, else from the parameter's initializer. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "base/hash.h"
#include "base/source.h"
#include "builder/manifest/weights_options.h"

struct arena;
struct file_stamp;
struct hir_param;
struct hir_program;
struct diags;
struct elab_input;

struct weights; /* an open file */

/* Maps and checks a file: safetensors, the index of several, GGUF, or PyTorch. NULL: reported at `at`. */
struct weights *weights_open(struct arena *session, const char *path, span at, const struct weights_options *options, struct diags *diags);
/* The files that are open: the weights file, and those that it names. NULL: there is no file i. */
const char *weights_file_path(const struct weights *w, uint32_t i);
/* Returns the hash of open file i. Remembers that of its tensors, so that weights_bind does not read them. */
hash128 weights_digest(struct weights *w, uint32_t i);
const struct file_stamp *weights_stamp(const struct weights *w, uint32_t i); /* of file i before it was opened */
/* True if a file was written or replaced since it was opened: values in memory may be of either file. `w` may be NULL. Thread-safe. */
bool weights_changed(const struct weights *w);
void weights_close(struct weights *w); /* NULL is accepted. Values that point into the file become invalid */
/* The tensors of the file for the front end. Those with an unsupported type or rank are `unusable`. `w` may be NULL: none. */
const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n);

/* The name of tensor i of this list in the file, with the prefix that `weights.prefix` removed. */
const char *weights_full_name(const struct weights *w, uint32_t i);

struct stream_elements;
struct weights_host {
	/* Evaluates an initializer into *out, in `a`. False: *error. */
	bool (*init)(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error);
	/* Plans to evaluate parts of it, in `a`. NULL: `init` must evaluate it whole. */
	struct stream_elements *(*init_parts)(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed);
	hash128 (*init_hash)(void *ctx, const struct hir_param *p, uint64_t seed); /* of everything that `init` reads */
	void *ctx;
};
struct weights_bound {
	struct tensor *params; /* as program->params; data NULL: large, so that weights_load computes it */
	hash128 *hashes;       /* of type, shape and content, or of what the content is computed from */
	bool *is_initial;      /* not from the file */
};
/* Larger parameters are computed or converted when they are packed, one at a time: thousands of smaller ones must not stay in memory meanwhile. */
#define WEIGHTS_LARGE ((int64_t)1 << 16)
/* Returns for each parameter the type in which a library can store it: float32 that the file holds as 16-bit floats as those, others as declared. In
 * `a`. */
dtype *weights_types(struct arena *a, const struct weights *w, const struct hir_program *p);
/* `w`: NULL if the model names no file. types: of the values, for each parameter; NULL: as declared. Values point into the file if they need no conversion, else into `a`. False: all errors were
 * reported; one diagnostic at `at` lists the missing parameters. */
bool weights_bind(struct arena *a, const struct weights *w, const struct hir_program *p, const dtype *types, struct weights_host host,
		  span at, struct weights_bound *out, struct diags *diags);
/* Opens parameter i, which has no data, to read it in parts as elements of a type; in `a`. NULL: its initializer must be evaluated whole. Thread-safe. */
struct weights_reader *weights_open_param(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host,
					  uint32_t i, dtype elem);
/* Converts or computes elements first … first+n-1. One thread at a time. */
bool weights_read(struct weights_reader *reader, int64_t first, int64_t n, void *out, const char **error);
/* Computes parameter i, which has no data, into *out, in `a`, as elements of out->elem: converts its tensor, or evaluates the initializer. False: *error.
 * Thread-safe. */
bool weights_load(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, uint32_t i,
		  struct tensor *out, const char **error);
#endif

/* The weights file of a model, and a value for every parameter: from the file, else from the parameter's initializer. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "base/hash.h"
#include "base/source.h"
#include "builder/manifest/weights_options.h"

struct arena;
struct hir_param;
struct hir_program;
struct diags;
struct elab_input;

struct weights; /* an open file */

/* Maps and checks a .safetensors file. NULL: reported at `at`. */
struct weights *weights_open(struct arena *session, const char *path, span at, const struct weights_options *o, struct diags *diags);
/* Was the file written or replaced since just before it was opened? Then nobody knows which of its values are in memory. `w` may be NULL. Thread-safe. */
bool weights_changed(const struct weights *w);
void weights_close(struct weights *w); /* NULL is accepted; values that point into the file end here */
/* What the file holds, as the front end wants to know it; tensors of types or ranks that the language lacks are `unusable`. `w`: NULL, none. */
const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n);

/* Evaluates an initializer into *out, allocated in `a`. False: *error. */
struct weights_host {
	bool (*init)(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error);
	hash128 (*name)(void *ctx, const struct hir_param *p, uint64_t seed); /* hash of everything that `init` computes from */
	void *ctx;
};
struct weights_bound {
	struct tensor *params; /* per program->params; data NULL: too large to be kept, weights_load computes it */
	hash128 *hashes;       /* of content, type and shape; of one without data, what it is computed from */
};
/* Above this many bytes initial values are computed, and types converted, when they are packed: one parameter at a time. */
#define WEIGHTS_LARGE ((int64_t)1 << 20)
/* `w`: NULL when the model names no file. Values lie in the file where they can, else in `a`. False: every misfit was reported, what is missing in
 * one diagnostic at `at`. */
bool weights_bind(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, span at,
		  struct weights_bound *out, struct diags *diags);
/* Computes parameter i, one without data, into *out, in `a`: converts what is in the file, or evaluates the initializer. False: *error. Thread-safe. */
bool weights_load(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, uint32_t i,
		  struct tensor *out, const char **error);
#endif

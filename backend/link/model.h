/* From plans, fragments and parameters to the objects of one model: weight tables, packed weights, the descriptor and the entry points. */
#ifndef TRIB_BACKEND_LINK_MODEL_H
#define TRIB_BACKEND_LINK_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp.h"
#include "backend/plan.h"

struct object;

/* Cache of packed weights, owned by the builder. `get` returns bytes valid until the end of the build, or NULL. */
struct weight_cache {
	const void *(*get)(void *ctx, hash128 key, size_t *len);
	const void *(*put)(void *ctx, hash128 key, const void *bytes, size_t len); /* returns a copy that stays valid */
	void *ctx;
};

/* The weight tables of all unit instances reachable from the entries. */
struct model_blob {
	hash128 key;      /* of content inputs: slice, parameters' contents, layout */
	const void *bytes;
	size_t len;
	const struct core_unit *unit; /* which made it; for messages */
};
struct model_slot {
	bool is_table;
	uint32_t index; /* into blobs or tables */
};
struct model_table {
	const struct plan *plan;
	struct model_slot *slots; /* plan->n_slots */
};
struct model_weights {
	struct model_table *tables;
	uint32_t n_tables;
	struct model_blob *blobs;
	uint32_t n_blobs;
	uint32_t *entry_tables; /* per program entry */
};

struct model_input {
	const struct core_program *program;
	const struct plan *const *plans; /* per program->units, NULL where a unit is always taken in */
	const struct tensor *params;     /* per program->params, host layout */
	const hash128 *param_hashes;     /* content */
};
/* Evaluates slices and packs. NULL: *error. Memory in `a`. */
struct model_weights *model_weigh(struct arena *a, const struct model_input *in, const struct weight_cache *cache, const char **error);

struct model_info {
	const char *name, *version, *compiler, *target, *commit;
	bool dirty;
	const hash128 *unit_keys; /* per program->units */
};
/* The object with tables, weights, descriptor `NAME_desc` and `NAME_open/_run/_close`; link it with the units' fragments and the runtime. */
struct object *model_object(struct arena *a, const struct model_input *in, const struct model_weights *w, const struct model_info *info);
/* The exported names of that object. */
const char *const *model_exports(struct arena *a, const struct model_input *in, const struct model_info *info, uint32_t *n);
/* The generated C header's text. */
void model_header(const struct model_input *in, const struct model_info *info, struct buf *out);
#endif

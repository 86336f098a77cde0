/* From plans, fragments and parameters to the objects of one model: weight tables, packed weights, the descriptor and the entry points. */
#ifndef TRIB_BACKEND_LINK_MODEL_H
#define TRIB_BACKEND_LINK_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "backend/plan/plan.h"

struct object;

/* The weight tables of all unit instances reachable from the entries. */
struct model_blob {
	hash128 key;       /* of build_fn, parameters' contents and layout */
	const void *bytes; /* NULL: not made, or outside the library */
	size_t len;
	uint64_t offset;             /* in the weight file */
	uint32_t part;               /* which makes it */
	const struct hir_unit *unit; /* for messages */
};
struct model_slot {
	bool is_table;
	uint32_t index; /* into blobs or tables */
};
struct model_table {
	const struct plan *plan;
	struct model_slot *slots; /* plan->n_slots */
};
/* The weight file that a library is linked with (runtime/triw.h). */
struct model_file {
	const char *name; /* without a folder */
	uint64_t size;
	hash128 digest;
};
struct model_weights {
	struct model_table *tables;
	uint32_t n_tables;
	struct model_blob *blobs;
	uint32_t n_blobs;
	uint32_t *entry_tables; /* per program entry */
	uint32_t n_parts;
	uint64_t size;                     /* of all blobs, each rounded up to its alignment */
	const struct model_file *file;     /* NULL: the blobs' bytes go into the library */
	const struct blob_source *sources; /* private */
};

struct model_input {
	const struct hir_program *program;
	const struct plan *const *plans; /* for each of program->units; NULL: the unit is inlined everywhere */
	const struct tensor *params;     /* per program->params, host layout; data NULL: `load` makes it */
	const hash128 *param_hashes;     /* content, or what it is computed from */
	/* Gives a parameter its elements, in `a`; thread-safe. False: *error. */
	bool (*load)(void *ctx, struct arena *a, uint32_t param, struct tensor *out, const char **error);
	/* Returns the build_fn of a plan; makes it if the plan has none. Thread-safe. */
	const struct ir_fn *(*build_fn)(void *ctx, const struct plan *plan);
	void *ctx;
};
/* Lays out tables and blobs; nothing is computed. Memory in `a`. */
struct model_weights *model_layout_weights(struct arena *a, const struct model_input *in);

/* Where packed weights are kept. */
struct weight_host {
	bool (*find)(void *ctx, struct model_blob *b); /* true: it is there already, with b->bytes if it goes into the library */
	bool (*keep)(void *ctx, struct model_blob *b, const void *bytes,
		     const char **error); /* takes b->len bytes, valid for the call only */
	void *ctx;
};
/* Makes the blobs of one part (0 … n_parts - 1) that the host has not. Different parts may be packed by different threads; what is in memory at a time
 * is what one part needs. False: *error, in `a`. */
bool model_pack_weights(struct arena *a, const struct model_input *in, struct model_weights *w, uint32_t part,
			const struct weight_host *host, const char **error);
/* All bytes there: keeps one of blobs with equal bytes. */
void model_share(struct arena *a, struct model_weights *w);

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

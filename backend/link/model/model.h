/* The objects of one model: weight tables, packed weights, the descriptor and the entry points. */
#ifndef TRIB_BACKEND_LINK_MODEL_MODEL_H
#define TRIB_BACKEND_LINK_MODEL_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "backend/plan/plan.h"

struct object;
struct quantized;
struct stream_compiler;
struct unit_lines;

/* Packed weights. Slots with the same key share one. */
struct model_blob {
	hash128 key;       /* of build_fn, parameters' contents and layout */
	const void *bytes; /* NULL: at `offset` of the weights */
	size_t len;
	uint64_t offset;             /* a multiple of MODEL_BLOB_ALIGN; blobs with equal bytes may share it */
	uint32_t part;               /* the part that it is packed with */
	dtype elem;                  /* of the value before it is packed */
	int64_t indexed[2];          /* sizes of a matrix whose packed form has indices (trit_blocks.h); else 0 */
	bool is_initial;             /* made of initial values of parameters, which take long to compute */
	bool is_new;                 /* packed for this library: the last one had no equal bytes. Set while packing */
	const struct hir_unit *unit; /* for messages */
};
#define MODEL_BLOB_ALIGN 64u
#define MODEL_LARGE_BLOB 65536u /* at least so many bytes */
/* One pointer of a weight table: to packed weights, or to the table of a callee. */
struct model_slot {
	bool is_table;
	uint32_t index; /* into blobs or tables */
};
struct model_table {
	const struct plan *plan;
	struct model_slot *slots; /* plan->n_slots */
};
/* The weight file that a library is linked with (runtime/abi/triw.h). */
struct model_file {
	const char *name; /* without a folder */
	uint64_t size;
	hash128 digest;
};
/* The weight tables of all unit instances that the entries reach, and their packed weights. */
struct model_weights {
	struct model_table *tables;
	uint32_t n_tables;
	struct model_blob *blobs;
	uint32_t n_blobs;
	uint32_t *entry_tables; /* for each entry of the program */
	uint32_t n_parts;
	uint64_t size;                     /* of the weights: of all blobs at their offsets */
	const struct model_file *file;     /* NULL: the weights are part of the library (link_request.weights) */
	const struct blob_source *sources; /* private to this folder */
};

struct model_input {
	const struct hir_program *program;
	const struct unit_lines *const *lines; /* for each of program->units, or NULL. NULL: of none */
	const struct plan *const *plans;       /* for each of program->units; NULL: the unit is inlined everywhere */
	const struct tensor *params;           /* for each of program->params, in host layout; data NULL: `load` reads or computes it */
	const hash128 *param_hashes;           /* of the content, or of what the content is computed from */
	const int64_t *capacities;             /* for each of program->capacities: of the manifest, or 0 */
	const struct tensor *initial_states;   /* for each of program->states; data NULL: zeros */
	const bool *is_initial;                /* for each parameter: it has its initial value. NULL: none has */
	/* Reads or computes all elements of a parameter, into `a`. Thread-safe. Returns false with a message in *error. */
	bool (*load)(void *ctx, struct arena *a, uint32_t param, struct tensor *out, const char **error);
	/* Opens a parameter that `load` reads or computes, to do that in parts; in `a`. Returns NULL if it cannot be done in parts. Thread-safe. */
	void *(*open)(void *ctx, struct arena *a, uint32_t param);
	/* Reads elements first … first+n-1 of an open parameter, one thread at a time. */
	bool (*read)(void *reader, int64_t first, int64_t n, void *out, const char **error);
	/* Returns the build_fn of a plan; makes it if the plan has none. Thread-safe. */
	const struct ir_fn *(*build_fn)(void *ctx, const struct plan *plan);
	void *ctx;
};
/* Lays out tables and blobs in `a`, large blobs first. Computes no weights. */
struct model_weights *model_layout_weights(struct arena *a, const struct model_input *in);

/* Stores packed weights. */
struct weight_host {
	/* True if the blob is stored already, or can be copied from elsewhere. */
	bool (*find)(void *ctx, struct model_blob *b);
	/* Copies the next n of b->len bytes, from byte `at` on. Returns false with a message in *error. */
	bool (*write)(void *ctx, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error);
	void *ctx;
	void (*quantized)(void *ctx, const struct quantized *q); /* called for each parameter that is quantized; may be NULL */
	const struct stream_compiler *compiler;                  /* of build functions that run in blocks; NULL: all are interpreted */
};
/* Memory for one packed blob at a time; may be all zero. */
struct pack_buffer {
	void *at;
	size_t size;
};
void pack_buffer_free(struct pack_buffer *b);
/* Packs the blobs of one part (0 … n_parts - 1) that the host does not find. Threads may pack different parts, each with its own buffer; memory
 * then holds the weights of these parts. Returns false with a message in *error, in `a`. */
bool model_pack_weights(struct arena *a, const struct model_input *in, struct model_weights *w, uint32_t part, struct pack_buffer *buffer,
			const struct weight_host *host, const char **error);

/* A ternary weight as it is packed. */
struct model_trits {
	const char *name; /* of the first parameter that it is made of; "": of none */
	const char *layout;
	struct tensor type; /* without data */
	size_t len;
	bool is_new; /* as of its blob */
	struct packed_trits packed;
	double cost; /* estimated time for one row of activations, in dense trits */
};
/* Lists the ternary weights in `a`, those that take longest first. bytes: packed, of each blob. */
struct model_trits *model_list_trits(struct arena *a, const struct model_input *in, const struct model_weights *w, const void *const *bytes,
				     uint32_t *n);

enum model_role {
	MODEL_ALONE,
	MODEL_WITH_FALLBACK,
	MODEL_FALLBACK /* of the same model in the same library: it has no functions of its own */
};

struct model_info {
	const char *name, *version, *compiler, *target, *commit;
	bool dirty;
	enum model_role role;
	bool profile_hook;        /* code reports to tri_options.profile */
	const hash128 *unit_keys; /* for each of program->units */
	const struct model_trits *trits;
	uint32_t n_trits;
};
/* Returns the object with tables, weights, descriptor and NAME_open, _run and _close. It is linked with the units' fragments and the
 * runtime. */
struct object *model_object(struct arena *a, const struct model_input *in, const struct model_weights *w, const struct model_info *info);
/* The exported names of that object. */
const char *const *model_exports(struct arena *a, const struct model_input *in, const struct model_info *info, uint32_t *n);
/* NULL, or why no model can have this name, which is a C identifier: it means something else in C. */
const char *model_name_fault(const char *name);
/* The generated C header's text. */
void model_header(const struct model_input *in, const struct model_info *info, struct buf *out);
#endif

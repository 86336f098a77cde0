/* Private to this folder: weight tables before any weight is computed. */
#ifndef TRIB_BACKEND_LINK_MODEL_LAYOUT_WEIGHTS_H
#define TRIB_BACKEND_LINK_MODEL_LAYOUT_WEIGHTS_H
#include "backend/buildtime/stream.h"
#include "backend/link/model/model.h"
#include "base/map.h"
#include "base/vec.h"

#define VALUE_COMPUTED UINT32_MAX

/* A value known at build time. */
struct value {
	hash128 hash;
	uint32_t param; /* the parameter; VALUE_COMPUTED: output `output` of `maker` */
	uint32_t output;
	struct evaluation *maker;
	bool is_transposed; /* it is the transpose of that, a matrix; the hash is of that */
};

/* Returns its type and shape, without data. */
struct tensor value_type(const struct model_input *in, const struct value *v);

/* The build_fn of one unit instance: its arguments, and its outputs once they are needed. */
struct evaluation {
	const struct plan *plan;
	const struct value *args;      /* plan->interface.n_weights */
	hash128 hash;                  /* of the build_fn and the arguments */
	hash128 *piece_hashes;         /* for each piece: of its code and the arguments that it reads */
	bool *is_initial;              /* for each piece: it reads initial values of parameters */
	uint32_t first_node;           /* its pieces are nodes from first_node on, in weight_layout.groups */
	struct stream_result *outputs; /* data NULL: not evaluated yet */
};

struct blob_source {
	struct value value;
	enum layout layout;
};
struct weight_layout {
	struct arena *a;
	const struct model_input *in;
	struct map plans, tables, blobs; /* from unit address, instance hash, blob key to the index */
	VEC(struct model_table) table_list;
	VEC(struct model_blob) blob_list;
	VEC(struct blob_source) sources; /* for each blob */
	VEC(uint32_t) groups;            /* union-find: pieces that read each other's results */
};
#endif

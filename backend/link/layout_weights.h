/* Private to model_weights.c and model_pack.c: what the weight tables are made of before anything is computed. */
#ifndef TRIB_BACKEND_LINK_LAYOUT_WEIGHTS_H
#define TRIB_BACKEND_LINK_LAYOUT_WEIGHTS_H
#include "backend/link/model.h"
#include "base/map.h"
#include "base/vec.h"

#define WEIGH_COMPUTED UINT32_MAX

/* A value known at build time. */
struct value {
	hash128 hash;
	uint32_t param; /* WEIGH_COMPUTED: output `output` of `maker` */
	uint32_t output;
	struct evaluation *maker;
};

/* A unit instance: what it was given, and the outputs of its slice once they are needed. */
struct evaluation {
	const struct plan *plan;
	const struct value *args; /* plan->face.n_weights */
	hash128 hash;             /* of the slice and the arguments */
	hash128 *piece_hashes;    /* per piece: of it and the arguments that it reads */
	uint32_t first_node;      /* its pieces are nodes first_node … of weigher.groups */
	struct tensor *outputs;   /* data NULL: not evaluated */
};

struct blob_source {
	struct value value;
	enum layout layout;
};
struct weight_layout {
	struct arena *a;
	const struct model_input *in;
	struct map plans, tables, blobs; /* unit address, instance hash, blob key -> index */
	VEC(struct model_table) table_list;
	VEC(struct model_blob) blob_list;
	VEC(struct blob_source) sources; /* per blob */
	VEC(uint32_t) groups;            /* union-find: pieces that need one another's results */
};

uint32_t weigh_group(struct weight_layout *w, uint32_t node); /* its representative */
void weigh_join(struct weight_layout *w, uint32_t a, uint32_t b);
#endif

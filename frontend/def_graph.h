/* Which definitions name which, and a hash of each together with all that it names: the grain of `trib deps`, `trib graph` and `trib affected`. */
#ifndef TRIB_FRONTEND_DEF_GRAPH_H
#define TRIB_FRONTEND_DEF_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/frontend.h"
#include "frontend/index/index.h"

struct arena;

struct def_node {
	const struct frontend_def *def;
	uint32_t symbol; /* its number in the index; SYMBOL_NONE: of a main block */
	bool std;
	const uint32_t *uses; /* the definitions that it names, each once, ascending; never itself */
	uint32_t n_uses;
	hash128 deep; /* its tokens and those of everything that it names, and that names, and so on */
};
struct def_graph {
	struct def_node *nodes; /* by source and place */
	uint32_t n;
};

/* Of all loaded files, once they are checked; `ix` was given to the front end before they were loaded, and is finished. What it points to must outlive it. */
struct def_graph *def_graph_new(struct arena *a, const struct frontend *f, const struct index *ix);
/* The definition that covers the byte, or UINT32_MAX. */
uint32_t def_graph_at(const struct def_graph *g, uint32_t source, uint32_t offset);
#endif

/* The graph of definitions and their uses, with a hash of each definition and everything that it uses. For `trib deps`, `graph` and
 * `affected`. */
#ifndef TRIB_FRONTEND_DEF_GRAPH_H
#define TRIB_FRONTEND_DEF_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/frontend.h"
#include "frontend/index/index.h"

struct arena;

struct def_node {
	const struct frontend_def *def;
	uint32_t symbol; /* its index in the editor's index; SYMBOL_NONE: a main block */
	bool std;
	const uint32_t *uses; /* the definitions that it uses, each once, ascending, without itself */
	uint32_t n_uses;
	hash128 deep; /* of its tokens and those of everything that it uses, directly or not */
};
struct def_graph {
	struct def_node *nodes; /* by source and position */
	uint32_t n;
};

/* The graph of all loaded files, after their check. `ix` is the index that the front end filled, after index_finish; it must outlive the
 * graph. */
struct def_graph *def_graph_new(struct arena *a, const struct frontend *f, const struct index *ix);
/* The definition that covers the byte, or UINT32_MAX. */
uint32_t def_graph_at(const struct def_graph *g, uint32_t source, uint32_t offset);
#endif

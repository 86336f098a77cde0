/* Private to this folder: nests that become the prologue or epilogue of a kernel. Their loops become axes of its operand or result. */
#ifndef TRIB_BACKEND_LOOPS_PASSES_TILE_H
#define TRIB_BACKEND_LOOPS_PASSES_TILE_H
#include "backend/loops/build/build.h"

/* How the loops of a nest run over the axes of a result: loops that are joined to an axis, innermost first. */
struct tile_map {
	dim size[TILE_AXES];
	uint32_t loop[LOOP_MAX], axis[LOOP_MAX], n;
	bool spans; /* the last loop runs over its axis and all axes outside of it */
};
/* Finds the loops of each axis by their strides in the dense tensor. Returns false if they do not visit each element of it once. */
bool tile_map_loops(struct dims *d, const struct loop_nest *n, const struct loop_access *tensor, struct tile_map *m);
/* Replaces the strides along the loops by strides along the axes. Returns false if the loops of an axis are not linear in the access. */
bool tile_map_access(struct dims *d, const struct loop_nest *n, const struct tile_map *m, struct loop_access *a);
/* True if the nest has no reductions and does not know where it is. */
bool tile_is_plain(const struct loop_nest *n);
#endif

/* The sizes of a call of a unit: those of the caller become symbols of the unit. */
#ifndef TRIB_FRONTEND_ELAB_UNIT_SIZES_H
#define TRIB_FRONTEND_ELAB_UNIT_SIZES_H
#include "frontend/elab/elab.h"

struct sizes {
	struct elab *e;
	VEC(dim) exprs; /* the distinct sizes of the arguments that are not constant; of the caller's dims */
	VEC(const char *) names;
	VEC(uint32_t) syms; /* scratch: symbols of one expression */
	uint32_t *uses;     /* by caller's symbol: the number of exprs that contain it */
	dim *map;           /* by caller's symbol: the unit's dim */
	bool *mapped;
	VEC(dim) values; /* by the unit's symbol: the caller's dim */
	VEC(dim) own;    /* by index of exprs: the unit's dim */
};

/* Adds the sizes in argument number `arg` of a call; UINT32_MAX: in a state. */
void collect_sizes(struct sizes *z, const struct func *fn, struct value v, uint32_t arg);
/* Makes the unit's symbols. A size whose symbols occur in no other size becomes a new symbol or a multiple of one. The others keep their
 * relations. */
void map_sizes(struct sizes *z, struct dims *to);
/* The unit's size for one of the caller's. */
dim unit_size(struct sizes *z, struct dims *to, dim d);
void sizes_free(struct sizes *z);
#endif

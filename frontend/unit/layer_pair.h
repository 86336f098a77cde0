/* The two layers of a shape error: the one that gives a tensor, and the one that takes it. */
#ifndef TRIB_FRONTEND_UNIT_LAYER_PAIR_H
#define TRIB_FRONTEND_UNIT_LAYER_PAIR_H
#include "frontend/unit/emit.h"

/* Notes that the tensors in v are results of a call of the layer. */
void note_layer_results(struct emitter *e, struct value v, const struct named_layer *layer);
/* The layer that gave tensor r of builder b, or one from which r follows without a change of that dimension; NULL: none is known. */
const struct named_layer *layer_of_result(const struct builder *b, hir_ref r, uint32_t axis);
/* "`fc1`" */
const char *layer_name(struct emitter *e, const struct named_layer *layer);
/* Labels where both layers were made: what one gives, and what the other takes. */
void label_layers(struct emitter *e, struct diag *g, const struct named_layer *giver, const char *gives, const struct named_layer *taker,
		  const char *takes);
#endif

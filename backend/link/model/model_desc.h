/* The part of a model's object that all back ends share: the descriptor of tri.h and the functions of the generated header. */
#ifndef TRIB_BACKEND_LINK_MODEL_MODEL_DESC_H
#define TRIB_BACKEND_LINK_MODEL_MODEL_DESC_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model/model.h"

struct object;

struct model_backend {
	const char *name;      /* tri_model_desc.backend */
	const char *engine;    /* the runtime's symbol of tri_model_desc.engine */
	const uint32_t *codes; /* for each entry the symbol that tri_entry_desc.code points to */
	bool calls_hook;       /* with model_info.profile_hook its units call SYMBOL_profile */
};
/* Adds the packed weights to o and returns the symbol of each blob, in an array of o's arena. */
uint32_t *model_blob_symbols(struct object *o, const struct model_weights *w);
/* Adds them to o. NAME_open, NAME_run and NAME_close jump to the runtime's tri_model_open, tri_model_run and tri_model_close. A fallback has
 * only the descriptor, which that of the model with it refers to. */
void model_describe(struct object *o, const struct model_input *in, const struct model_info *info, const struct model_backend *backend);
#endif

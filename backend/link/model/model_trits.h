/* The part of a descriptor that lists ternary weights. */
#ifndef TRIB_BACKEND_LINK_MODEL_MODEL_TRITS_H
#define TRIB_BACKEND_LINK_MODEL_MODEL_TRITS_H
#include "backend/link/elf/section_builder.h"

struct model_info;

/* Appends the members of tri_model_desc from `weights` on. */
void model_trits_put(struct section_builder *desc, struct section_builder *strings, const struct model_info *info);
#endif

/* The part of a descriptor that says where code comes from: tri_statement, tri_origin and their texts. It has no addresses, so that it costs
 * nothing when a library is loaded. */
#ifndef TRIB_BACKEND_LINK_MODEL_MODEL_LINES_H
#define TRIB_BACKEND_LINK_MODEL_MODEL_LINES_H
#include <stdint.h>
#include "backend/link/elf/section_builder.h"
#include "base/map.h"

struct unit_lines;

struct model_lines {
	struct section_builder statements, origins, members, texts;
	struct map offsets; /* of texts */
	uint32_t n_statements, n_origins, n_members;
};
struct model_lines model_lines_begin(struct object *o);
/* Adds a unit with this tag. l may be NULL. Appends the members of its tri_unit_desc after the key to `unit`. */
void model_lines_put(struct model_lines *m, const struct unit_lines *l, uint32_t tag, struct buf *unit);
/* Appends the members of tri_model_desc from `statements` to `texts`. */
void model_lines_end(struct model_lines *m, struct section_builder *desc);
#endif

/* Assembles the files of a variant: texts, and the objects that a library is linked from: its units, its descriptor, the runtime. */
#ifndef TRIB_BUILDER_BUILD_LINK_LINK_OBJECTS_H
#define TRIB_BUILDER_BUILD_LINK_LINK_OBJECTS_H
#include <stdbool.h>
#include <stdint.h>

struct backend_output;
struct build_context;
struct model_info;
struct model_input;
struct object;
struct unit_lines;
struct variant;

struct object_list {
	struct object **at;
	const struct unit_lines **lines; /* of each */
	uint32_t n;
	const struct variant *runtime_of; /* whose runtime it has; NULL: none */
};
/* Fills *out, which the caller frees with model_free_output, and adds the objects of a library to *l. In memory of the model's link. False:
 * reported. */
bool link_assemble(struct build_context *c, struct variant *v, const struct model_input *in, const struct model_info *info,
		   struct backend_output *out, struct object_list *l);
#endif

/* Lays out the weights of one variant, and packs them. On workers. */
#ifndef TRIB_BUILDER_BUILD_LINK_PACK_H
#define TRIB_BUILDER_BUILD_LINK_PACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct build_context;
struct build_outcome;
struct model_input;
struct stores;
struct variant;

/* What the linker needs to know of a variant. */
struct packing {
	const struct stores *stores;
	struct variant *variant;
};
/* `p` must outlive the result. */
struct model_input pack_model_input(struct packing *p);
/* Earlier variants of the model are packed: what they have is shared. Errors go to the model's diags. */
void pack_lay_out(struct build_context *c, struct variant *v);
/* Packs parts until none is left. Several workers may do so at once, each with its own `a`, which holds the packed weights that no cache
 * holds. NULL, or the error. */
const char *pack_weights(struct build_context *c, struct variant *v, struct arena *a, uint32_t worker);
/* Merges equal weights. Completes the weight file, before the library that opens it is written. False: reported. */
bool pack_finish(struct build_outcome *outcome, struct variant *v);
/* Gives the blobs of the library their bytes, for an outside linker. False: reported. */
bool pack_map(struct variant *v);
/* Completes the library: the first `before` bytes of `library` are its start, the others follow `gap` bytes later. False: reported. */
bool pack_publish(struct build_outcome *outcome, struct variant *v, const struct buf *library, size_t before, uint64_t gap);
#endif

/* Lays out the weights of one model, and packs them. On workers. */
#ifndef TRIB_BUILDER_BUILD_PACK_H
#define TRIB_BUILDER_BUILD_PACK_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct model_input;
struct model_job;

/* What the linker needs to know of a model. */
struct model_input pack_model_input(const struct model_job *m);
/* Errors go to m->diags. */
void pack_lay_out(struct model_job *m, uint32_t worker);
/* Packs parts until none is left. Several workers may do so at once, each with its own `a`, which holds the packed weights that no cache
 * holds. NULL, or the error. */
const char *pack_weights(struct model_job *m, struct arena *a, uint32_t worker);
/* Completes the weight file before the library that opens it is written. False: reported. */
bool pack_publish(struct model_job *m);
#endif

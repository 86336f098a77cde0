/* A model as one portable C file and its header. */
#ifndef TRIB_BACKEND_TEXT_C_MODEL_H
#define TRIB_BACKEND_TEXT_C_MODEL_H
#include <stdint.h>

struct arena;
struct buf;
struct loop_fn;
struct model_info;
struct model_input;
struct model_weights;

/* A C file whose entries run on a device, in memory of it that the caller gives. It has a copy of the weights, from NAME_open to NAME_close. */
struct c_device {
	const char *files;  /* what is compiled: it ends the first line of the header */
	const char *memory; /* a comment on the tensors and the memory that it gets */
	const char *open;   /* an expression that copies the weights of tri_memory and returns a code */
	const char *close;  /* one that frees them */
};
/* Appends the weights with bytes, as arrays tri_weight0 …; returns which of them has each blob. In `a`. */
const uint32_t *c_weights_put(struct arena *a, const struct model_weights *w, struct buf *out);
/* Appends the lines of the statements that may fail. `units`: as of c_model_put. */
void c_places_put(const struct model_input *in, const struct loop_fn *const *units, struct buf *out);
/* Appends NAME.c. `units`: the loops of each of program->units, or NULL. Weights without bytes are in w->file. */
void c_model_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w,
		 const struct loop_fn *const *units, struct buf *out);
/* Appends NAME.h. `device`: NULL if entries run on the CPU. */
void c_header_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, const struct c_device *device,
		  struct buf *out);
#endif

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

/* The text of a C file whose entries run on a device. Tensors and scratch are in the memory of the device, which also has a copy of the weights from
 * NAME_open to NAME_close. */
struct c_device {
	const char *files;  /* a sentence that ends the first comment of the header: how to compile the files */
	const char *memory; /* a comment before NAME_open: where tensors, scratch and states must be */
	const char *open;   /* a C expression: copies the weights of tri_memory to the device; its value is a code */
	const char *close;  /* a C expression: frees that copy */
};
/* Appends the weights that have bytes as arrays tri_weight0 … Returns the number of the array of each blob, in `a`. */
const uint32_t *c_weights_put(struct arena *a, const struct model_weights *w, struct buf *out);
/* Appends the table of source lines of statements that may fail. `units`: as in c_model_put. */
void c_places_put(const struct model_input *in, const struct loop_fn *const *units, struct buf *out);
/* Appends NAME.c. `units`: the loops of each of program->units, or NULL. Weights without bytes are in w->file. */
void c_model_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w,
		 const struct loop_fn *const *units, struct buf *out);
/* Appends NAME.h. `device`: NULL if entries run on the CPU. */
void c_header_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, const struct c_device *device,
		  struct buf *out);
#endif

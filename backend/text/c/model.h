/* A model as one portable C file and its header. */
#ifndef TRIB_BACKEND_TEXT_C_MODEL_H
#define TRIB_BACKEND_TEXT_C_MODEL_H
#include <stdint.h>

struct buf;
struct loop_fn;
struct model_info;
struct model_input;
struct model_weights;

/* Appends NAME.c. `units`: the loops of each of program->units, or NULL. Weights without bytes are in w->file. */
void c_model_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w,
		 const struct loop_fn *const *units, struct buf *out);
/* Appends NAME.h. */
void c_header_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, struct buf *out);
#endif

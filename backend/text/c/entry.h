/* The functions of a C file that a program calls. */
#ifndef TRIB_BACKEND_TEXT_C_ENTRY_H
#define TRIB_BACKEND_TEXT_C_ENTRY_H
#include <stdint.h>

struct buf;
struct model_info;
struct model_input;
struct model_weights;

/* Appends NAME_open, and NAME_state_bytes and NAME_reset of a model with states. */
void c_states_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, struct buf *out);
/* Appends PREFIX_scratch_bytes and PREFIX_run of an entry. */
void c_entry_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, uint32_t entry,
		 struct buf *out);
#endif

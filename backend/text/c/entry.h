/* The functions of a C file that a program calls. */
#ifndef TRIB_BACKEND_TEXT_C_ENTRY_H
#define TRIB_BACKEND_TEXT_C_ENTRY_H
#include <stdint.h>

struct buf;
struct c_device;
struct model_info;
struct model_input;
struct model_weights;

/* `device`: NULL if entries run on the CPU. Appends NAME_open, and NAME_state_bytes and NAME_reset of a model with states; on a device NAME_close, too. */
void c_states_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, const struct c_device *device,
		  struct buf *out);
/* Appends PREFIX_scratch_bytes and PREFIX_run of an entry, which call the functions of its unit (unit.h); on a device tri_steps_PREFIX and
 * tri_steps_PREFIX_scratch, which have the same arguments but no weight table. */
void c_entry_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, uint32_t entry,
		 const struct c_device *device, struct buf *out);
#endif

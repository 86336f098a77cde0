/* Opens the device of a model. */
#ifndef TRI_OPENING_H
#define TRI_OPENING_H
#include "gpu/runtime/device.h"

/* Chooses the device that the options want, builds the program of d->desc, uploads its weights. Returns false with the error. If that takes longer than
 * opt->open_timeout_ms, a thread goes on with it: d->hangs, and `d` must last for ever. Then takes the time-out of runs from the options. */
bool tri_cl_open(struct tri_cl_device *d, const tri_options *opt, tri_error *err);
/* Releases the buffers, the program, the queue and the context of `d`. */
void tri_cl_close(struct tri_cl_device *d);
#endif

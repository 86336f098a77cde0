/* Copies between buffers and the memory of the host, which wait for the device no longer than the time-out of the model. */
#ifndef TRI_QUEUE_H
#define TRI_QUEUE_H
#include "gpu/runtime/device.h"

/* Takes the time-out of runs from the options. */
void tri_cl_set_timeout(struct tri_cl_device *d, const tri_options *opt);
/* For what may be left behind: keeps the library in the process. */
void tri_cl_stay_loaded(const tri_model_desc *desc);
/* When so many milliseconds will have passed, for tri_cl_wait. 0: never. */
int64_t tri_cl_deadline(uint32_t timeout_ms);
/* Waits while *at is `value`. Returns false once the deadline has passed. */
bool tri_cl_wait(_Atomic uint32_t *at, uint32_t value, int64_t deadline_ns);
/* A run, or another use of the device, begins: its time counts from now. */
void tri_cl_begin(struct tri_cl_device *d);
/* Copy bytes, and wait for all commands so far if `waits`. With a time-out they always wait, and the device never sees the memory of the caller, since
 * it may touch it later. TRI_CL_TIMED_OUT: the device hangs. *event, unless event is NULL: of the command. */
cl_int tri_cl_read(struct tri_cl_device *d, cl_mem from, size_t at, void *to, size_t bytes, bool waits, cl_event *event);
cl_int tri_cl_write(struct tri_cl_device *d, cl_mem to, const void *from, size_t bytes, bool waits, cl_event *event);
/* After an error: waits until no command uses the memory of the caller. */
void tri_cl_finish(struct tri_cl_device *d);
#endif

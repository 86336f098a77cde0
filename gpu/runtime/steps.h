/* Executes the steps of a prepared entry. */
#ifndef TRI_STEPS_H
#define TRI_STEPS_H
#include "gpu/runtime/prepare.h"

/* Enqueues the launches that run; waits for the device only where a step needs a value of it. Returns TRI_OK or the error. */
int tri_cl_steps(struct tri_cl_device *d, struct tri_cl_prepared *p, const tri_entry_desc *e, tri_error *err);
/* Returns TRI_OK, or the error of the kernel that failed first, of which `failed` was read. */
int tri_cl_failed(struct tri_cl_device *d, const cl_long failed[4], tri_error *err);
#endif

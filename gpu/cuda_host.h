/* The host file of a CUDA model, in C. */
#ifndef TRIB_GPU_CUDA_HOST_H
#define TRIB_GPU_CUDA_HOST_H

struct backend_model;
struct buf;
struct loop_fn;

/* Appends the kernels' table, which ends the file of the kernels; the host file; its header. `units`: the loops of each of program->units for devices with
 * work groups, or NULL. */
void cuda_host_put(const struct backend_model *m, const struct loop_fn *const *units, struct buf *table, struct buf *host,
		   struct buf *header);
#endif

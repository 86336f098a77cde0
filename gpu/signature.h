/* The arguments of a kernel, for the printer of its text and for its launches. */
#ifndef TRIB_GPU_SIGNATURE_H
#define TRIB_GPU_SIGNATURE_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct loop_fn;
struct loop_nest;
struct loop_stmt;

/* Arguments in order: for each buffer a `global uchar *` and a byte offset as `ulong`; for each symbol its value as `long`; if `fails`, a
 * `global long *` for the first run-time error. */
struct opencl_signature {
	uint32_t *buffers; /* of loop_fn.buffers, ascending */
	uint32_t n_buffers;
	uint32_t *syms; /* of loop_fn.dims, ascending */
	uint32_t n_syms;
	bool fails;
	uint32_t group; /* the size of the work group for each point of the parallel loops; 0: a work item for each */
};

/* Computes the signature of a nest of f, or of a nest or block; memory in `a`. */
void opencl_signature_of(struct arena *a, const struct loop_fn *f, const struct loop_nest *n, struct opencl_signature *out);
void opencl_signature_of_stmt(struct arena *a, const struct loop_fn *f, const struct loop_stmt *s, struct opencl_signature *out);
/* Returns the loops whose iterations are work items or groups. */
const struct loop_nest *opencl_outer_loops(const struct loop_stmt *s);
/* True if the buffer is a small constant in the program text, for which kernels have no argument. */
bool opencl_is_baked(const struct loop_fn *f, uint32_t buffer);
/* Returns the size of a buffer in bytes; its dims must be constant. */
int64_t opencl_buffer_bytes(const struct loop_fn *f, uint32_t buffer);
#endif

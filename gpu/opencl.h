/* OpenCL back end: one kernel per loop nest, templates for the anchors, and a host library of the same C interface as the CPU's. Needs no OpenCL
 * installation to emit. */
#ifndef TRIB_GPU_OPENCL_H
#define TRIB_GPU_OPENCL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model.h"
#include "backend/loops/loops.h"

/* Appends OpenCL C 1.2: the kernels of one unit, named <symbol>_k<statement>. Deterministic; golden-tested without a device. */
void opencl_unit(const struct loop_fn *f, struct buf *out);
/* The whole program text of a model: helpers, the anchor templates used, every unit's kernels. */
void opencl_program(const struct loop_fn *const *units, uint32_t n, struct buf *out);

/* The object of the host library: kernels' text, packed weights, the flattened list of launches of every entry, the descriptor and NAME_open,
 * NAME_run, NAME_close. Link it with the OpenCL runtime object (opencl_runtime_object) and need libOpenCL.so.1. `units`: per program->units, NULL
 * where always taken in. */
struct object *opencl_model_object(struct arena *a, const struct model_input *in, const struct model_weights *w,
				   const struct model_info *info, const struct loop_fn *const *units);
const void *opencl_runtime_object(uint32_t i, size_t *len); /* NULL past the last */
#endif

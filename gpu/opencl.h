/* The OpenCL back end: a kernel for each loop nest, templates for anchors, and a host library with the C interface of CPU libraries.
 * Emitting needs no OpenCL installation. */
#ifndef TRIB_GPU_OPENCL_H
#define TRIB_GPU_OPENCL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model/model.h"
#include "backend/loops/ir/loops.h"
#include "gpu/runtime/launch.h"

/* Appends the kernels of one unit as OpenCL C 1.2. Their names are SYMBOL_kSTATEMENT. */
void opencl_unit(enum tri_cl_variant variant, const struct loop_fn *f, struct buf *out);
/* Appends the program text of a model: helpers, the templates of its anchors, the kernels of all units. */
void opencl_program(enum tri_cl_variant variant, const struct loop_fn *const *units, uint32_t n, struct buf *out);

/* For each variant and each of program->units its loops, NULL if it is inlined everywhere. */
struct opencl_units {
	const struct loop_fn *const *of[TRI_CL_VARIANTS];
};

/* Returns the object of the host library: program text, packed weights, launches of every entry, descriptor, NAME_open, NAME_run and
 * NAME_close. It is linked with the objects of opencl_runtime_object and libOpenCL.so.1. */
struct object *opencl_model_object(struct arena *a, const struct model_input *in, const struct model_weights *w,
				   const struct model_info *info, const struct opencl_units *units);
const void *opencl_runtime_object(uint32_t i, size_t *len); /* NULL: there is no object i */
#endif

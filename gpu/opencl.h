/* The OpenCL back end: a kernel for each loop nest, templates for anchors, and a host library with the C interface of CPU libraries.
 * Emitting needs no OpenCL installation. */
#ifndef TRIB_GPU_OPENCL_H
#define TRIB_GPU_OPENCL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/backend.h"
#include "backend/link/model/model.h"
#include "backend/loops/ir/loops.h"
#include "gpu/runtime/launch.h"

struct dialect;
/* Returns the language of a variant's kernels. */
const struct dialect *opencl_dialect(enum tri_cl_variant variant);
/* Appends the kernels of one unit; in CUDA C++, from its loops for devices with work groups. */
void opencl_unit(enum tri_cl_variant variant, const struct loop_fn *f, struct buf *out);
void cuda_unit(const struct loop_fn *f, struct buf *out);
/* True if the kernels compute in float64, for which a device needs cl_khr_fp64. */
bool opencl_uses_float64(const struct loop_fn *const *units, uint32_t n);
/* Appends where statement `stmt` of unit `unit` of the program comes from. */
struct opencl_notes {
	void (*note)(const void *ctx, uint32_t unit, const struct loop_fn *f, uint32_t stmt, struct buf *out);
	const void *ctx;
};
/* Appends the program text of a model in OpenCL C 1.2: helpers, the templates of its anchors, and the kernels of all units, SYMBOL_kSTATEMENT. With notes
 * (which may be NULL), a comment before each kernel says where it comes from. */
void opencl_program(enum tri_cl_variant variant, const struct loop_fn *const *units, uint32_t n, const struct opencl_notes *notes,
		    struct buf *out);
/* The same in CUDA C++, from the loops for devices with work groups. */
void cuda_program(const struct loop_fn *const *units, uint32_t n, const struct opencl_notes *notes, struct buf *out);
/* For each variant and each of program->units its loops, NULL if it is inlined everywhere. */
struct opencl_units {
	const struct loop_fn **of[TRI_CL_VARIANTS];
};
/* Units whose constants have no room in the program's constant memory become copies in `a` that get them as arguments. */
void opencl_fit_constants(struct arena *a, enum tri_cl_variant variant, const struct loop_fn **units, uint32_t n);
/* A fragment is the loops of both variants. The first is emit of struct backend. The second reads those of a model into its arena; it returns false with
 * a message in *error. */
bool opencl_emit_fragment(const struct emit_request *r, struct buf *fragment, struct buf *error);
bool opencl_read_fragments(const struct backend_model *m, struct opencl_units *out, const char **error);

/* Returns the object of the host library: program text, packed weights, launches of every entry, descriptor, NAME_open, NAME_run and
 * NAME_close. It is linked with the objects of opencl_runtime_object and libOpenCL.so.1. */
struct object *opencl_model_object(struct arena *a, const struct model_input *in, const struct model_weights *w,
				   const struct model_info *info, const struct opencl_units *units);
const void *opencl_runtime_object(uint32_t i, const char **name, size_t *len); /* NULL: there is no object i */
#endif

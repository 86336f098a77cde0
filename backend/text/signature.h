/* The arguments of a kernel, for the printer of its text and for its launches and calls. */
#ifndef TRIB_BACKEND_TEXT_SIGNATURE_H
#define TRIB_BACKEND_TEXT_SIGNATURE_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct dialect;
struct loop_fn;
struct loop_nest;
struct loop_stmt;

/* Arguments in order: each buffer, in OpenCL as a pointer and a byte offset; for each symbol its value as int64; if `fails`, where the first
 * run-time error goes. */
struct text_signature {
	uint32_t *buffers; /* of loop_fn.buffers, ascending */
	bool *written;     /* for each of them */
	uint32_t n_buffers;
	uint32_t *syms; /* of loop_fn.dims, ascending */
	uint32_t n_syms;
	bool fails;
	bool frame;     /* a block that keeps buffers in the frame that it gets */
	uint32_t group; /* the size of the work group for each point of the parallel loops; 0: a work item for each */
};

/* Computes the signature of a nest of f, or of a nest or block; memory in `a`. */
void text_signature_of(struct arena *a, const struct dialect *d, const struct loop_fn *f, const struct loop_nest *n,
		       struct text_signature *out);
void text_signature_of_stmt(struct arena *a, const struct dialect *d, const struct loop_fn *f, const struct loop_stmt *s,
			    struct text_signature *out);
/* The same of all nests, epilogues included, of the launch that begins with a statement (loops/ir/beside.h). */
void text_signature_of_launch(struct arena *a, const struct dialect *d, const struct loop_fn *f, uint32_t first,
			      struct text_signature *out);
/* Returns the loops whose iterations are work items or groups. */
const struct loop_nest *text_outer_loops(const struct loop_stmt *s);
/* True if the buffer is a constant in the text, for which kernels have no argument. */
bool text_is_baked(const struct dialect *d, const struct loop_fn *f, uint32_t buffer);
/* Returns the size of a buffer in bytes; its dims must be constant. */
int64_t text_buffer_bytes(const struct loop_fn *f, uint32_t buffer);
#endif

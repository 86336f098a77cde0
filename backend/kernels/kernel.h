/* The micro-kernels, and which of them computes an operation. Nothing else decides that. */
#ifndef TRIB_BACKEND_KERNELS_KERNEL_H
#define TRIB_BACKEND_KERNELS_KERNEL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/kernels/record.h"

struct target;

enum kernel {
#define KERNEL(name, ...) KERNEL_##name,
#include "backend/runtime/kernels/kernels.def"
#undef KERNEL
	KERNEL_COUNT
};

/* In place of an element type or a layout in kernels.def. */
enum kernel_elem { KERNEL_SAME_ELEM = DT_COUNT, KERNEL_NO_OPERAND };
enum kernel_layout { KERNEL_ROWS = LAYOUT_COUNT, KERNEL_ANY_LAYOUT };
/* An operand of a row: a dtype or kernel_elem, an enum layout or kernel_layout. */
struct kernel_stored {
	int elem, layout;
};
/* A row of kernels.def. */
struct kernel_info {
	const char *symbol, *fits;
	struct kernel_stored operands[KERNEL_OPERANDS]; /* of the record */
	const char *prologue;                           /* the function that takes a prologue; NULL: none */
	uint32_t cost;
};
const struct kernel_info *kernel_info(enum kernel k);
enum kernel_family kernel_family(enum kernel k);
const struct kernel_record *kernel_record(enum kernel k);
/* True if it has this operand of the record. */
bool kernel_has(enum kernel k, const char *operand);
/* True if the target has the kernel. */
bool kernel_is_of(enum kernel k, const struct target *t);
/* True if it passes finished tiles to an epilogue. */
bool kernel_takes_epilogue(enum kernel k);
/* True if an index may be out of range: its last field is the place of the statement. */
bool kernel_fails(enum kernel k);

/* ---- the buffers of a call: operands that the kernel has, the result last ---- */

uint32_t kernel_buffer_count(enum kernel k);
const struct kernel_operand *kernel_operand(enum kernel k, uint32_t buffer);
/* Its element type; constant dims of the call may choose it. DT_COUNT: that of the first buffer. */
dtype kernel_buffer_elem(enum kernel k, uint32_t buffer, const struct dims *d, const dim *dims);
/* An enum layout or kernel_layout. */
int kernel_layout(enum kernel k, uint32_t buffer);
int kernel_result_layout(enum kernel k);
/* True if a buffer of this rank may be stored so. */
bool kernel_takes_layout(enum kernel k, uint32_t buffer, enum layout l, uint32_t rank);

/* How a kernel computes an operation. */
struct kernel_match {
	enum kernel kernel;
	uint32_t n_operands;
	ir_ref operands
		[KERNEL_OPERANDS]; /* the values that it reads: below reshapes, below broadcasts that repeat a matrix, below casts that it does itself; those of
					 the operation, then scales */
};
/* True if a kernel of the target computes r once its operands have the layouts that the kernel wants. `m` may be NULL. */
bool target_takes(const struct target *t, const struct ir_fn *f, ir_ref r, struct kernel_match *m);
/* True if a kernel of the target computes r with the layouts that its operands have. `m` may be NULL. */
bool kernel_for(const struct target *t, const struct ir_fn *f, ir_ref r, struct kernel_match *m);
/* True if a kernel of the target multiplies by matrices of this element type in a layout. */
bool target_multiplies(const struct target *t, dtype w, enum layout layout);

/* Returns the value below reshapes, which has the same elements in the same order. */
ir_ref ir_below_reshapes(const struct ir_fn *f, ir_ref v);
#endif

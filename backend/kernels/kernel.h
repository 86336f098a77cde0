/* The micro-kernels, and which of them computes an operation. Nothing else decides that. */
#ifndef TRIB_BACKEND_KERNELS_KERNEL_H
#define TRIB_BACKEND_KERNELS_KERNEL_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

struct target;

enum kernel {
#define KERNEL(id, ...) KERNEL_##id,
#include "backend/kernels/kernels.def"
#undef KERNEL
	KERNEL_COUNT
};
enum { KERNEL_OPERANDS = 6 }; /* the most buffers that a kernel reads */

/* In place of a layout in kernels.def. */
enum kernel_layout { KERNEL_ROWS = LAYOUT_COUNT, KERNEL_ANY_LAYOUT };
/* A row of kernels.def. */
struct kernel_info {
	const char *symbol;
	enum ir_op op, other_op;
	uint32_t targets;                     /* a bit for each enum target_arch */
	int layouts[KERNEL_OPERANDS], result; /* an enum layout or kernel_layout */
	uint32_t n_buffers, n_dims;
	bool epilogue;        /* passes finished tiles to an epilogue */
	const char *prologue; /* the function that takes a prologue; NULL: none */
	uint32_t cost;
};
const struct kernel_info *kernel_info(enum kernel k);
/* True if an index may be out of range: the dims of the kernel are followed by its place (tri_fail_at). */
bool kernel_fails(enum kernel k);
/* True if an operand of this rank may be stored so. */
bool kernel_takes_layout(enum kernel k, uint32_t operand, enum layout l, uint32_t rank);
/* True if the result may be stored so. */
bool kernel_makes_layout(enum kernel k, enum layout l);

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

/* Returns the value below reshapes, which has the same elements in the same order. */
ir_ref ir_below_reshapes(const struct ir_fn *f, ir_ref v);
#endif

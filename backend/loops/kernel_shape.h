/* Element types and sizes of the buffers of micro-kernels, which kernels.def describes in words. */
#ifndef TRIB_BACKEND_LOOPS_KERNEL_SHAPE_H
#define TRIB_BACKEND_LOOPS_KERNEL_SHAPE_H
#include "backend/loops/loops.h"

enum { KERNEL_SHAPES = 5 }; /* the most buffers of a kernel */
struct kernel_operand {
	dtype elem;    /* DT_COUNT: any */
	uint32_t dims; /* a bit for each dim of the kernel: the size is their product */
	bool bytes;    /* the size is in bytes, not in elements */
	bool written;
	bool in_place; /* it may be the first operand */
	bool is_mask;  /* of the type of the first operand, or of bools if the last dim is 1 */
};
/* The operands of a kernel, as many as it has buffers; NULL: they are not listed here. */
const struct kernel_operand *kernel_operands(enum kernel k);
#endif

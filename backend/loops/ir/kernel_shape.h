/* Element types and sizes of the buffers of micro-kernels, which kernels.def describes in words. */
#ifndef TRIB_BACKEND_LOOPS_IR_KERNEL_SHAPE_H
#define TRIB_BACKEND_LOOPS_IR_KERNEL_SHAPE_H
#include "backend/loops/ir/loops.h"

enum { KERNEL_SHAPES = 7 }; /* the most buffers of a kernel */
enum { KERNEL_DIMS = 28 };  /* the most dims */
struct kernel_operand {
	dtype elem;    /* DT_COUNT: any */
	uint32_t dims; /* a bit for each dim of the kernel: the size is their product */
	bool bytes;    /* the size is in bytes, not in elements */
	bool written;
	bool in_place;   /* it may be the first operand */
	uint8_t type;    /* of keys, values and masks: the dim that is its element type, a tri_attention_elem; else 0 */
	uint8_t strides; /* of rows: the first of three dims, strides of batch, head and row; else 0 */
};
/* The operands of a kernel, as many as it has buffers; NULL: they are not listed here. */
const struct kernel_operand *kernel_operands(enum kernel k);
/* The number of the operand that is buffer `buffer` of the call. */
static inline uint32_t kernel_operand_at(const struct loop_kernel *x, uint32_t buffer) { return buffer + (x->prologue != NULL); }
/* The element type of an operand, from the value of its dim `type` if it has one; DT_COUNT: that of the first operand. */
dtype kernel_operand_elem(const struct kernel_operand *o, int64_t type);
/* Rows: the elements from the first to the last one, of the values of the kernel's dims; `elements`: as their product gives it. */
int64_t kernel_operand_reach(const struct kernel_operand *o, const int64_t *dims, int64_t elements);
#endif

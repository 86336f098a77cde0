/* The table of the micro-kernels, which printers need too. */
#include "backend/kernels/kernel.h"
#include "backend/target/target.h"

#define CPU (1u << ARCH_X86_64)
#define ANY (CPU | 1u << ARCH_OPENCL)
#define ANY_LAYOUT KERNEL_ANY_LAYOUT
#define PLAIN LAYOUT_PLAIN
#define CHANNELS_LAST LAYOUT_CHANNELS_LAST
#define TRIT2 LAYOUT_TRIT2
#define TRIT1_6 LAYOUT_TRIT1_6
#define TRIT2_WINDOWS LAYOUT_TRIT2_WINDOWS
#define PLANES LAYOUT_PLANES
#define TRIT_BLOCKS LAYOUT_TRIT_BLOCKS
#define TRIT_LISTS LAYOUT_TRIT_LISTS
#define PANELS LAYOUT_PANELS
#define WINDOW_PANELS LAYOUT_WINDOW_PANELS
#define ROWS KERNEL_ROWS
#define OPERANDS(...) {__VA_ARGS__}
static const struct kernel_info kernels[] = {
#define KERNEL(id, symbol, op, other, fits, targets, layouts, result, buffers, dims, epilogue, prologue, cost) \
	[KERNEL_##id] = {symbol, OP_##op, OP_##other, targets, layouts, result, buffers, dims, epilogue, prologue, cost},
#include "backend/kernels/kernels.def"
#undef KERNEL
};
#undef CPU
#undef ANY
#undef ANY_LAYOUT
#undef PLAIN
#undef CHANNELS_LAST
#undef TRIT2
#undef TRIT1_6
#undef TRIT2_WINDOWS
#undef PLANES
#undef TRIT_BLOCKS
#undef TRIT_LISTS
#undef PANELS
#undef WINDOW_PANELS
#undef ROWS
#undef OPERANDS

const struct kernel_info *kernel_info(enum kernel k) { return &kernels[k]; }

bool kernel_fails(enum kernel k) { return kernels[k].op == OP_SCATTER || kernels[k].op == OP_PUT; }

bool kernel_takes_layout(enum kernel k, uint32_t operand, enum layout l, uint32_t rank)
{
	int want = operand < KERNEL_OPERANDS ? kernels[k].layouts[operand] : LAYOUT_PLAIN;
	if (want == KERNEL_ANY_LAYOUT)
		return true;
	return want == KERNEL_ROWS ? l == LAYOUT_PLAIN || l == ir_layout_along(rank - 2, rank) : (int)l == want;
}

bool kernel_makes_layout(enum kernel k, enum layout l) { return kernels[k].result == KERNEL_ANY_LAYOUT || kernels[k].result == (int)l; }

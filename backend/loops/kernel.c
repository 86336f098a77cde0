/* Symbols of the micro-kernels, and operations that are micro-kernels. */
#include "backend/loops/build.h"

const char *kernel_symbol(enum kernel k)
{
	static const char *const symbols[] = {
#define KERNEL(id, symbol, buffers, dims) symbol,
#include "backend/target/kernels.def"
#undef KERNEL
	};
	return symbols[k];
}

bool loops_find_op_kernel(enum ir_op op, enum kernel *kernel)
{
	switch (op) {
	case OP_SORT: *kernel = KERNEL_SORT_F32; return true;
	case OP_SCAN_SUM:
	case OP_SCAN_PROD: *kernel = KERNEL_SCAN_F32; return true;
	case OP_SCATTER:
	case OP_SCATTER_ADD: *kernel = KERNEL_SCATTER_F32; return true;
	case OP_PUT: *kernel = KERNEL_PUT; return true;
	default: return false;
	}
}

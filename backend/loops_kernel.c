/* The micro-kernels' names. */
#include "backend/loops.h"

const char *kernel_symbol(enum kernel k)
{
	static const char *const symbols[] = {
#define KERNEL(id, symbol, buffers, dims) symbol,
#include "backend/kernels.def"
#undef KERNEL
	};
	return symbols[k];
}

/* The errors of operations whose run-time sizes do not fit. */
#ifndef TRIB_BACKEND_IR_SIZE_ERROR_H
#define TRIB_BACKEND_IR_SIZE_ERROR_H
#include "backend/ir/ir.h"
#include "backend/runtime/abi/unit.h"

static inline enum tri_size_error ir_size_error(enum ir_op op)
{
	switch (op) {
	case OP_RESHAPE: return TRI_SIZE_ERROR_RESHAPE;
	case OP_SLICE:
	case OP_GATHER: return TRI_SIZE_ERROR_SLICE;
	case OP_PAD:
	case OP_CONCAT: return TRI_SIZE_ERROR_PAD;
	case OP_WINDOW:
	case OP_POOL:
	case OP_CONV: return TRI_SIZE_ERROR_WINDOW;
	case OP_BROADCAST: return TRI_SIZE_ERROR_BROADCAST;
	default: return TRI_SIZE_ERROR_EXTENT;
	}
}
#endif

/* Elements of host tensors of every dtype, read and written one at a time. */
#ifndef TRIB_BACKEND_IR_TENSOR_H
#define TRIB_BACKEND_IR_TENSOR_H
#include <stdint.h>
#include "base/half.h"
#include "frontend/hir/dtype.h"

/* A dense row-major tensor in host layout (a trit is an int8). */
struct tensor {
	dtype elem;
	uint8_t rank;
	int64_t dims[8];
	void *data; /* not owned */
};
int64_t tensor_count(const struct tensor *t);
int64_t tensor_bytes(const struct tensor *t);
/* Returns a matrix with its dims exchanged; its elements stay where they are. */
static inline struct tensor tensor_transposed(const struct tensor *t)
{
	struct tensor out = *t;
	out.dims[0] = t->dims[1];
	out.dims[1] = t->dims[0];
	return out;
}

/* Element i of `data`. elem_float is for float dtypes (exact), elem_int for the others. */
double elem_float(dtype t, const void *data, int64_t i);
int64_t elem_int(dtype t, const void *data, int64_t i);
/* Stores v rounded to nearest even, or wrapped (bool: v != 0). */
void elem_put_float(dtype t, void *data, int64_t i, double v);
void elem_put_int(dtype t, void *data, int64_t i, int64_t v);
/* Converts as OP_CAST does. */
void elem_cast(dtype to, void *out, int64_t k, dtype from, const void *in, int64_t i);
#endif

/* Element-wise operations and reductions, element by element, as ops.def defines them. The interpreters of the tensor IR and of the loop IR share it. */
#ifndef TRIB_BACKEND_INTERP_ELEMENT_H
#define TRIB_BACKEND_INTERP_ELEMENT_H
#include "backend/ir/ir.h"

/* Of a float operation that is neither a comparison nor RSQRT: in double, not rounded to the type. */
double element_float(enum ir_op op, double x, double y);
/* Of an integer operation that is no comparison: in 64 bits, not wrapped to the type. */
int64_t element_int(enum ir_op op, int64_t x, int64_t y);

static inline bool element_compares(enum ir_op op) { return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE; }
/* For comparisons of either kind of number. */
#define ELEMENT_COMPARE(op, x, y) ((op) == OP_EQ ? (x) == (y) : (op) == OP_NE ? (x) != (y) : (op) == OP_LT ? (x) < (y) : (x) <= (y))

/* A reduction of elements one by one: `f` of floats, in double, `i` of others. `at`: of ARGMAX and ARGMIN the position of the result. */
struct accumulator {
	double f;
	int64_t i, at;
};
struct accumulator accumulator_start(enum ir_op op, dtype elem);
/* Adds the element at position `at`. */
void accumulate_float(enum ir_op op, struct accumulator *a, double v, int64_t at);
void accumulate_int(enum ir_op op, struct accumulator *a, int64_t v, int64_t at);
#endif

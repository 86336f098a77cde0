/* Private to this folder: operations with vectors. Each gives the bits of the interpreter. */
#ifndef TRIB_BACKEND_BUILDTIME_OPERATIONS_H
#define TRIB_BACKEND_BUILDTIME_OPERATIONS_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

struct ir_inst;
struct ir_random;
struct tensor;

/* Computes an element-wise operation on operands of one size. Returns false for operations without vectors, after writing nothing. */
bool buildtime_ewise(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
/* As random_elements. */
void buildtime_random(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out);
/* Adds n numbers, and their absolute values, in any order. */
void buildtime_sum(const float *x, int64_t n, double *sum, double *size);
#endif

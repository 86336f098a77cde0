/* Private to this folder: the dims of a tensor that an operation reduces or keeps, and reading elements as real numbers. */
#ifndef TRIB_BACKEND_INTERP_AXES_H
#define TRIB_BACKEND_INTERP_AXES_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"

struct axis {
	int64_t size, stride;
};
struct axes {
	struct axis at[8]; /* in row-major order */
	uint32_t n;
	int64_t count; /* of elements */
	bool row;      /* the elements are consecutive in memory */
};
/* Returns the dims of x that are in the mask (want = 1), or those that are not (0). */
struct axes axes_of(const struct tensor *x, uint32_t mask, uint32_t want);
/* Returns the offset of element `index` of the axes. */
int64_t axes_offset(const struct axes *a, int64_t index);

/* Element i of a tensor of any type. */
static inline double element_at(const struct tensor *t, int64_t i)
{
	if (t->elem == DT_FLOAT32)
		return ((const float *)t->data)[i];
	return dtype_class(t->elem) == DTC_FLOAT ? elem_float(t->elem, t->data, i) : (double)elem_int(t->elem, t->data, i);
}
/* Returns the greater one; NaN wins. */
static inline double greater(double a, double b) { return a != a || a > b ? a : b; }
/* Returns v rounded to a float type. */
double rounded_to(dtype elem, double v);
/* Returns x repeated to the shape of `out`, in its own element type. The caller frees the data. */
struct tensor broadcast_to(const struct tensor *x, const struct tensor *out);
#endif

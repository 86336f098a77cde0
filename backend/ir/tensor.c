/* Host tensors: sizes and elements. */
#include "backend/ir/tensor.h"
#include <math.h>
#include <string.h>
#include "base/bug.h"

int64_t tensor_count(const struct tensor *t)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < t->rank; k++)
		n *= t->dims[k];
	return n;
}

int64_t tensor_bytes(const struct tensor *t) { return tensor_count(t) * (int64_t)dtype_size(t->elem); }

/* ---- elements ---- */

double elem_float(dtype t, const void *data, int64_t i)
{
	switch (t) {
	case DT_FLOAT16: return float16_value(((const uint16_t *)data)[i]);
	case DT_BFLOAT16: return bfloat16_value(((const uint16_t *)data)[i]);
	case DT_FLOAT32: return ((const float *)data)[i];
	case DT_FLOAT64: return ((const double *)data)[i];
	default: BUG("not a float");
	}
}

int64_t elem_int(dtype t, const void *data, int64_t i) { return dtype_int(t, data, i); }

void elem_put_float(dtype t, void *data, int64_t i, double v)
{
	switch (t) {
	case DT_FLOAT16: ((uint16_t *)data)[i] = float16_bits(v); return;
	case DT_BFLOAT16: ((uint16_t *)data)[i] = bfloat16_bits(v); return;
	case DT_FLOAT32: ((float *)data)[i] = (float)v; return;
	case DT_FLOAT64: ((double *)data)[i] = v; return;
	default: BUG("not a float");
	}
}

void elem_put_int(dtype t, void *data, int64_t i, int64_t v) { dtype_put_int(t, data, i, v); }

/* Truncated, saturating at the limits of t; NaN is 0, and true. */
static int64_t tensor_float_to_int(dtype t, double v)
{
	if (t == DT_BOOL)
		return v != 0;
	if (isnan(v))
		return 0;
	int64_t least = dtype_least_int(t), largest = dtype_largest_int(t);
	if (v <= (double)least)
		return least;
	if (v >= (double)largest) /* 2^63 if t is int64 */
		return largest;
	return (int64_t)v;
}

void elem_cast(dtype to, void *out, int64_t k, dtype from, const void *in, int64_t i)
{
	bool whole = dtype_class(to) != DTC_FLOAT;
	if (dtype_class(from) == DTC_FLOAT) {
		double v = elem_float(from, in, i);
		if (whole)
			elem_put_int(to, out, k, tensor_float_to_int(to, v));
		else
			elem_put_float(to, out, k, v);
		return;
	}
	int64_t v = elem_int(from, in, i);
	if (to == DT_TRIT)
		elem_put_int(to, out, k, (v > 0) - (v < 0));
	else if (whole)
		elem_put_int(to, out, k, v);
	else if (to == DT_FLOAT32)
		((float *)out)[k] = (float)v; /* not by way of double: rounded once */
	else
		elem_put_float(to, out, k, (double)v);
}

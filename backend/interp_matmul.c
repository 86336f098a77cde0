/* Matrix products: float results are one sum in double, rounded once; integers wrap at the result's width. */
#include "backend/interp_state.h"
#include "backend/tensor.h"

static double as_float(const struct tensor *t, int64_t i)
{
	return t->elem == DT_TRIT ? (double)((const int8_t *)t->data)[i] : elem_float(t->elem, t->data, i);
}

static void float_product(const struct tensor *a, const struct tensor *b, struct tensor *out, int64_t batch, int64_t m, int64_t k,
			  int64_t n)
{
	for (int64_t r = 0; r < batch * m; r++)
		for (int64_t c = 0; c < n; c++) {
			double sum = 0;
			for (int64_t j = 0; j < k; j++)
				sum += as_float(a, r * k + j) * as_float(b, (r / m * k + j) * n + c);
			elem_put_float(out->elem, out->data, r * n + c, sum);
		}
}

static void int_product(const struct tensor *a, const struct tensor *b, struct tensor *out, int64_t batch, int64_t m, int64_t k, int64_t n)
{
	for (int64_t r = 0; r < batch * m; r++)
		for (int64_t c = 0; c < n; c++) {
			uint64_t sum = 0;
			for (int64_t j = 0; j < k; j++)
				sum += (uint64_t)elem_int(a->elem, a->data, r * k + j) *
				       (uint64_t)elem_int(b->elem, b->data, (r / m * k + j) * n + c);
			elem_put_int(out->elem, out->data, r * n + c, (int64_t)sum);
		}
}

void interp_matmul(const struct tensor *const *x, struct tensor *out)
{
	uint32_t r = out->rank;
	int64_t batch = 1;
	for (uint32_t d = 0; d + 2 < r; d++)
		batch *= out->dims[d];
	int64_t m = out->dims[r - 2], n = out->dims[r - 1], k = x[0]->dims[r - 1];
	if (dtype_class(out->elem) == DTC_FLOAT)
		float_product(x[0], x[1], out, batch, m, k, n);
	else
		int_product(x[0], x[1], out, batch, m, k, n);
}

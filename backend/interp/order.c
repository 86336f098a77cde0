/* Sorting, running sums and products, scattering, storing a part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"
#include "base/bug.h"

static bool order_is_float(const struct tensor *x) { return dtype_class(x->elem) == DTC_FLOAT; }

/* True if element a of x is ordered before element b. NaN is the greatest. */
static bool order_is_before(const struct tensor *x, int64_t a, int64_t b, bool descending)
{
	if (descending) {
		int64_t swap = a;
		a = b;
		b = swap;
	}
	if (!order_is_float(x))
		return elem_int(x->elem, x->data, a) < elem_int(x->elem, x->data, b);
	double va = elem_float(x->elem, x->data, a), vb = elem_float(x->elem, x->data, b);
	return va < vb || (isnan(vb) && !isnan(va));
}

/* Merges the sorted halves at[0 … half) and at[half … n) of positions in the row that starts at `row`. */
static void merge_sort(const struct tensor *x, int64_t row, int64_t *at, int64_t *work, int64_t n, bool descending)
{
	if (n < 2)
		return;
	int64_t half = n / 2, l = 0, r = half;
	merge_sort(x, row, at, work, half, descending);
	merge_sort(x, row, at + half, work, n - half, descending);
	for (int64_t k = 0; k < n; k++)
		work[k] = r == n || (l < half && !order_is_before(x, row + at[r], row + at[l], descending)) ? at[l++] : at[r++];
	memcpy(at, work, (size_t)n * sizeof *at);
}

void interp_sort(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	int64_t n = x->dims[x->rank - 1], *at = out->data, *work = malloc((size_t)n * sizeof *work);
	if (!work)
		bug_no_memory();
	for (int64_t row = 0; row < tensor_count(x); row += n) {
		for (int64_t k = 0; k < n; k++)
			at[row + k] = k;
		merge_sort(x, row, at + row, work, n, ir_order(i)->descending);
	}
	free(work);
}

/* Computes the distance of neighbours along the axis, and the number of elements before and after it. */
struct axis {
	int64_t outer, n, inner;
};

static struct axis axis_at(const struct tensor *x, uint32_t axis)
{
	struct axis a = {1, x->dims[axis], 1};
	for (uint32_t k = 0; k < axis; k++)
		a.outer *= x->dims[k];
	for (uint32_t k = axis + 1; k < x->rank; k++)
		a.inner *= x->dims[k];
	return a;
}

static void scan_line(enum ir_op op, const struct tensor *x, struct tensor *out, int64_t at, const struct axis *a)
{
	double f = op == OP_SCAN_PROD;
	uint64_t u = op == OP_SCAN_PROD;
	for (int64_t k = 0; k < a->n; k++, at += a->inner) {
		if (order_is_float(x)) {
			double v = elem_float(x->elem, x->data, at);
			f = op == OP_SCAN_PROD ? f * v : f + v;
			elem_put_float(out->elem, out->data, at, f);
		} else {
			uint64_t v = (uint64_t)elem_int(x->elem, x->data, at);
			u = op == OP_SCAN_PROD ? u * v : u + v;
			elem_put_int(out->elem, out->data, at, (int64_t)u);
		}
	}
}

void interp_scan(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	struct axis a = axis_at(x, ir_axis(i)->axis);
	for (int64_t o = 0; o < a.outer; o++)
		for (int64_t k = 0; k < a.inner; k++)
			scan_line(i->op, x, out, o * a.n * a.inner + k, &a);
}

static void order_add_element(struct tensor *out, int64_t to, const struct tensor *v, int64_t from)
{
	if (order_is_float(out))
		elem_put_float(out->elem, out->data, to, elem_float(out->elem, out->data, to) + elem_float(v->elem, v->data, from));
	else
		elem_put_int(out->elem, out->data, to,
			     (int64_t)((uint64_t)elem_int(out->elem, out->data, to) + (uint64_t)elem_int(v->elem, v->data, from)));
}

void interp_scatter(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	struct axis a = axis_at(out, ir_axis(i)->axis), from = axis_at(x[1], ir_axis(i)->axis);
	size_t size = dtype_size(out->elem);
	memcpy(out->data, x[0]->data, (size_t)tensor_bytes(out));
	for (int64_t k = 0; k < from.outer * from.n * from.inner; k++) {
		int64_t at = elem_int(x[1]->elem, x[1]->data, k), to;
		to = (k / (from.n * from.inner) * a.n + at) * a.inner + k % from.inner;
		if (i->op == OP_SCATTER_ADD)
			order_add_element(out, to, x[2], k);
		else
			memcpy((char *)out->data + (size_t)to * size, (const char *)x[2]->data + (size_t)k * size, size);
	}
}

void interp_put(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	struct axis a = axis_at(out, ir_axis(i)->axis);
	int64_t at = elem_int(x[2]->elem, x[2]->data, 0);
	size_t row = dtype_size(out->elem) * (size_t)a.inner;
	memcpy(out->data, x[0]->data, (size_t)tensor_bytes(out));
	for (int64_t o = 0; o < a.outer && row; o++)
		memcpy((char *)out->data + (size_t)(o * a.n + at) * row, (const char *)x[1]->data + (size_t)o * row, row);
}

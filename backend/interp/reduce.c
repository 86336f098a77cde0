/* Reductions visit the reduced dimensions in row-major order. Float sums and products are computed in double and rounded once. */
#include "backend/interp/element.h"
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

struct axis {
	int64_t size, stride;
};

/* Collects the dimensions of x that are reduced (want = 1) or kept (0), in row-major order. */
static uint32_t axes_of(const struct tensor *x, uint32_t mask, uint32_t want, struct axis *out)
{
	int64_t stride = 1, strides[8];
	uint32_t n = 0;
	for (uint32_t k = x->rank; k-- > 0;) {
		strides[k] = stride;
		stride *= x->dims[k];
	}
	for (uint32_t k = 0; k < x->rank; k++)
		if ((mask >> k & 1) == want)
			out[n++] = (struct axis){x->dims[k], strides[k]};
	return n;
}

static int64_t offset_at(const struct axis *a, uint32_t n, int64_t index)
{
	int64_t offset = 0;
	for (uint32_t k = n; k-- > 0;) {
		offset += index % a[k].size * a[k].stride;
		index /= a[k].size;
	}
	return offset;
}

/* True if the reduced dimensions are consecutive in memory. */
static bool is_consecutive(const struct axis *a, uint32_t n)
{
	int64_t stride = 1;
	for (uint32_t k = n; k-- > 0; stride *= a[k].size)
		if (a[k].stride != stride)
			return false;
	return true;
}

void interp_reduce(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	struct axis reduced[8], kept[8];
	uint32_t n_reduced = axes_of(x, ir_axes(i)->mask, 1, reduced), n_kept = axes_of(x, ir_axes(i)->mask, 0, kept);
	bool floats = dtype_class(x->elem) == DTC_FLOAT, arg = i->op == OP_ARGMAX || i->op == OP_ARGMIN;
	int64_t count = 1, n = tensor_count(out);
	bool row = is_consecutive(reduced, n_reduced);
	for (uint32_t k = 0; k < n_reduced; k++)
		count *= reduced[k].size;
	for (int64_t o = 0; o < n; o++) {
		struct accumulator a = accumulator_start(i->op, x->elem);
		int64_t base = count ? offset_at(kept, n_kept, o) : 0;
		for (int64_t k = 0; k < count; k++) {
			int64_t at = base + (row ? k : offset_at(reduced, n_reduced, k));
			if (floats)
				accumulate_float(i->op, &a, elem_float(x->elem, x->data, at), k);
			else
				accumulate_int(i->op, &a, elem_int(x->elem, x->data, at), k);
		}
		if (arg)
			elem_put_int(out->elem, out->data, o, a.at);
		else if (floats)
			elem_put_float(out->elem, out->data, o, a.f);
		else
			elem_put_int(out->elem, out->data, o, a.i);
	}
}

/* Reductions visit the reduced dimensions in row-major order. Float sums and products are computed in double and rounded once. */
#include <math.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

struct axis {
	int64_t size, stride;
};
struct acc {
	double f;
	int64_t i, at;
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

static int64_t int_limit(dtype t, bool high)
{
	if (t == DT_BOOL)
		return high;
	if (t == DT_TRIT)
		return high ? 1 : -1;
	int64_t top = (int64_t)(UINT64_MAX >> (65 - 8 * (int)dtype_size(t)));
	return high ? top : -top - 1;
}

static struct acc start(enum ir_op op, dtype elem)
{
	bool lowest = op == OP_REDUCE_MAX || op == OP_ARGMAX, highest = op == OP_REDUCE_MIN || op == OP_ARGMIN;
	struct acc a = {0, 0, 0};
	if (op == OP_REDUCE_PROD)
		a.f = 1, a.i = 1;
	if (!lowest && !highest)
		return a;
	a.f = lowest ? -INFINITY : INFINITY;
	if (dtype_class(elem) != DTC_FLOAT)
		a.i = int_limit(elem, highest);
	return a;
}

static bool is_better(enum ir_op op, double v, double best)
{
	if (isnan(best))
		return false;
	return isnan(v) || (op == OP_REDUCE_MAX || op == OP_ARGMAX ? v > best : v < best);
}

static void add_float(enum ir_op op, struct acc *a, double v, int64_t at)
{
	if (op == OP_REDUCE_SUM) {
		a->f += v;
	} else if (op == OP_REDUCE_PROD) {
		a->f *= v;
	} else if (is_better(op, v, a->f)) {
		a->f = v;
		a->at = at;
	}
}

static void add_int(enum ir_op op, struct acc *a, int64_t v, int64_t at)
{
	if (op == OP_REDUCE_SUM) {
		a->i = (int64_t)((uint64_t)a->i + (uint64_t)v);
	} else if (op == OP_REDUCE_PROD) {
		a->i = (int64_t)((uint64_t)a->i * (uint64_t)v);
	} else if (op == OP_REDUCE_MAX || op == OP_ARGMAX ? v > a->i : v < a->i) {
		a->i = v;
		a->at = at;
	}
}

void interp_reduce(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	struct axis reduced[8], kept[8];
	uint32_t n_reduced = axes_of(x, i->mask, 1, reduced), n_kept = axes_of(x, i->mask, 0, kept);
	bool floats = dtype_class(x->elem) == DTC_FLOAT, arg = i->op == OP_ARGMAX || i->op == OP_ARGMIN;
	int64_t count = 1, n = tensor_count(out);
	bool row = is_consecutive(reduced, n_reduced);
	for (uint32_t k = 0; k < n_reduced; k++)
		count *= reduced[k].size;
	for (int64_t o = 0; o < n; o++) {
		struct acc a = start(i->op, x->elem);
		int64_t base = count ? offset_at(kept, n_kept, o) : 0;
		for (int64_t k = 0; k < count; k++) {
			int64_t at = base + (row ? k : offset_at(reduced, n_reduced, k));
			if (floats)
				add_float(i->op, &a, elem_float(x->elem, x->data, at), k);
			else
				add_int(i->op, &a, elem_int(x->elem, x->data, at), k);
		}
		if (arg)
			elem_put_int(out->elem, out->data, o, a.at);
		else if (floats)
			elem_put_float(out->elem, out->data, o, a.f);
		else
			elem_put_int(out->elem, out->data, o, a.i);
	}
}

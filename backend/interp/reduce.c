/* Reductions visit the reduced dimensions in row-major order. Float sums and products are computed in double and rounded once. */
#include "backend/interp/axes.h"
#include "backend/interp/element.h"
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

void interp_reduce(const struct ir_inst *i, const struct tensor *x, struct tensor *out)
{
	struct axes reduced = axes_of(x, ir_axes(i)->mask, 1), kept = axes_of(x, ir_axes(i)->mask, 0);
	bool floats = dtype_class(x->elem) == DTC_FLOAT, arg = i->op == OP_ARGMAX || i->op == OP_ARGMIN;
	int64_t n = tensor_count(out);
	for (int64_t o = 0; o < n; o++) {
		struct accumulator a = accumulator_start(i->op, x->elem);
		int64_t base = reduced.count ? axes_offset(&kept, o) : 0;
		for (int64_t k = 0; k < reduced.count; k++) {
			int64_t at = base + axes_offset(&reduced, k);
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

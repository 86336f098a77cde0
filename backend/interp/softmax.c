/* Softmax and its logarithm, in double. The maximum is subtracted, so that exp does not overflow. */
#include <math.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

void interp_softmax(const struct ir_softmax *a, const struct tensor *x, struct tensor *out)
{
	struct axes over = axes_of(x, a->mask, 1), kept = axes_of(x, a->mask, 0);
	for (int64_t o = 0; o < kept.count; o++) {
		int64_t base = axes_offset(&kept, o);
		double most = -INFINITY, sum = 0;
		for (int64_t k = 0; k < over.count; k++)
			most = greater(most, element_at(x, base + axes_offset(&over, k)));
		for (int64_t k = 0; k < over.count; k++)
			sum += exp(element_at(x, base + axes_offset(&over, k)) - most);
		for (int64_t k = 0; k < over.count; k++) {
			int64_t at = base + axes_offset(&over, k);
			double v = element_at(x, at) - most;
			elem_put_float(out->elem, out->data, at, a->log ? v - log(sum) : exp(v) / sum);
		}
	}
}

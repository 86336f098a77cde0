#include "backend/link/model/quantized.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include "backend/buildtime/stream.h"

/* Trits or int8 codes of each element. */
static const struct stream_result *quantized_find_codes(const struct tensor *weight, const struct stream_result *results, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tensor *t = &results[i].tensor;
		if ((t->elem == DT_TRIT || t->elem == DT_INT8) && tensor_count(t) == tensor_count(weight))
			return &results[i];
	}
	return NULL;
}

/* One scale, or one for each row; NULL: none. */
static const struct tensor *find_scales(const struct tensor *weight, const struct stream_result *results, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tensor *t = &results[i].tensor;
		if (dtype_class(t->elem) == DTC_FLOAT && (tensor_count(t) == 1 || (weight->rank && tensor_count(t) == weight->dims[0])))
			return t;
	}
	return NULL;
}

bool quantized_measure(const struct tensor *w, const struct stream_result *results, uint32_t n, const char *name, struct quantized *out)
{
	const struct stream_result *codes = dtype_class(w->elem) == DTC_FLOAT ? quantized_find_codes(w, results, n) : NULL;
	const struct tensor *scales = codes ? find_scales(w, results, n) : NULL;
	int64_t count = tensor_count(w), n_scales = scales ? tensor_count(scales) : 1;
	double lost = 0, all = 0, sum = 0;
	if (!codes || !count)
		return false;
	*out = (struct quantized){.name = name, .type = &codes->tensor};
	for (int64_t k = 0; k < count; k++) {
		double v = elem_float(w->elem, w->data, k);
		double scale = scales ? elem_float(scales->elem, scales->data, k / (count / n_scales)) : 1;
		int64_t code = elem_int(codes->tensor.elem, codes->tensor.data, k);
		out->zeros += code == 0;
		lost += (v - scale * (double)code) * (v - scale * (double)code);
		all += v * v;
	}
	for (int64_t k = 0; k < n_scales; k++)
		sum += scales ? elem_float(scales->elem, scales->data, k) : 1;
	out->scale = sum / (double)n_scales;
	out->error = all > 0 ? sqrt(lost / all) : 0;
	return true;
}

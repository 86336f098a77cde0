/* Quantisation. Codes jump between values, so every step is rounded to the element type: the results equal those of the expansion. */
#include <math.h>
#include <stdlib.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

/* Elements that share a scale. */
struct cell {
	const struct ir_quantize *a;
	const struct tensor *x;
	const struct axes *over;
	int64_t base;
};

static double quantize_value(const struct cell *c, int64_t k) { return element_at(c->x, c->base + axes_offset(c->over, k)); }

static double mean_size(const struct cell *c)
{
	dtype e = c->x->elem;
	double sum = 0;
	for (int64_t k = 0; k < c->over->count; k++)
		sum += fabs(quantize_value(c, k));
	return rounded_to(e, rounded_to(e, sum) / rounded_to(e, (double)c->over->count));
}

static double greatest_size(const struct cell *c)
{
	double most = -INFINITY;
	for (int64_t k = 0; k < c->over->count; k++)
		most = greater(most, fabs(quantize_value(c, k)));
	return most;
}

/* Ternary weight networks: elements whose size is above the limit are 1 or -1. */
static double adaptive_limit(const struct cell *c)
{
	dtype e = c->x->elem;
	return rounded_to(e, mean_size(c) * rounded_to(e, c->a->factor));
}

/* The mean size above the limit. */
static double adaptive_scale(const struct cell *c)
{
	dtype e = c->x->elem;
	double limit = adaptive_limit(c), sum = 0, n = 0;
	for (int64_t k = 0; k < c->over->count; k++)
		if (fabs(quantize_value(c, k)) > limit) {
			sum += fabs(quantize_value(c, k));
			n++;
		}
	return rounded_to(e, rounded_to(e, sum) / greater(rounded_to(e, n), 1));
}

static double quantize_scale_of(const struct cell *c)
{
	dtype e = c->x->elem;
	double least = rounded_to(e, 1e-5);
	switch (c->a->kind) {
	case QUANTIZE_ABSMEAN: return greater(mean_size(c), least);
	case QUANTIZE_ABSMAX: return rounded_to(e, greater(greatest_size(c), least) / 127);
	case QUANTIZE_ADAPTIVE: return adaptive_scale(c);
	default: return mean_size(c);
	}
}

static int64_t sign_of(double x) { return (x > 0) - (x < 0); }

/* x / scale, rounded half to even, at most `limit` in size. NaN gives 0. */
static int64_t rounded_code(dtype e, double x, double scale, double limit)
{
	double q = rint(rounded_to(e, x / scale));
	return isnan(q) ? 0 : (int64_t)(q > limit ? limit : q < -limit ? -limit : q);
}

static int64_t quantize_code_of(const struct cell *c, double x, double bound)
{
	switch (c->a->kind) {
	case QUANTIZE_ABSMEAN: return rounded_code(c->x->elem, x, bound, 1);
	case QUANTIZE_ABSMAX: return rounded_code(c->x->elem, x, bound, 127);
	case QUANTIZE_ADAPTIVE: return fabs(x) > bound ? sign_of(x) : 0;
	case QUANTIZE_SIGN: return sign_of(x);
	default: return x >= 0 ? 1 : -1;
	}
}

/* The threshold is operand 1, which is repeated to the shape of operand 0. */
static void threshold(const struct tensor *const *x, struct tensor *out)
{
	struct tensor t = broadcast_to(x[1], out);
	int64_t n = tensor_count(out);
	for (int64_t k = 0; k < n; k++) {
		double e = element_at(x[0], k), limit = element_at(&t, k);
		elem_put_int(out->elem, out->data, k, e > limit ? 1 : e < -limit ? -1 : 0);
	}
	free(t.data);
}

void interp_quantize(const struct ir_quantize *a, const struct tensor *const *x, struct tensor *out)
{
	if (a->kind == QUANTIZE_THRESHOLD) {
		threshold(x, out);
		return;
	}
	struct axes over = axes_of(x[0], a->mask, 1), kept = axes_of(x[0], a->mask, 0);
	bool scales = a->kind == QUANTIZE_ABSMEAN || a->kind == QUANTIZE_ABSMAX;
	for (int64_t o = 0; o < kept.count; o++) {
		struct cell c = {a, x[0], &over, axes_offset(&kept, o)};
		double bound = scales ? quantize_scale_of(&c) : a->kind == QUANTIZE_ADAPTIVE ? adaptive_limit(&c) : 0;
		for (int64_t k = 0; k < over.count; k++)
			elem_put_int(out->elem, out->data, c.base + axes_offset(&over, k),
				     quantize_code_of(&c, quantize_value(&c, k), bound));
	}
}

void interp_quant_scale(const struct ir_quantize *a, const struct tensor *x, struct tensor *out)
{
	struct axes over = axes_of(x, a->mask, 1), kept = axes_of(x, a->mask, 0);
	for (int64_t o = 0; o < kept.count; o++) {
		struct cell c = {a, x, &over, over.count ? axes_offset(&kept, o) : 0};
		elem_put_float(out->elem, out->data, o, quantize_scale_of(&c));
	}
}

void interp_dequantize(const struct tensor *const *x, struct tensor *out)
{
	struct tensor q = broadcast_to(x[0], out), scale = broadcast_to(x[1], out);
	int64_t n = tensor_count(out);
	for (int64_t k = 0; k < n; k++)
		elem_put_float(out->elem, out->data, k, rounded_to(out->elem, element_at(&q, k)) * element_at(&scale, k));
	free(q.data);
	free(scale.data);
}

/* Normalisations, in double: (x - mean) / sqrt(variance + eps) * weight + bias. */
#include <math.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

/* The operands; NULL: absent. */
struct operands {
	const struct tensor *x, *mean, *variance, *weight, *bias;
};

static struct operands interp_norm_operands_of(const struct ir_norm *a, const struct tensor *const *x)
{
	struct operands o = {.x = *x++};
	o.mean = a->has_mean ? *x++ : NULL;
	o.variance = a->has_variance ? *x++ : NULL;
	o.weight = a->has_weight ? *x++ : NULL;
	o.bias = a->has_bias ? *x++ : NULL;
	return o;
}

/* Elements that are normalised together: those of `over`, from `base` on. */
struct cell {
	const struct tensor *x;
	const struct axes *over;
	int64_t base;
};

/* Returns the mean of (x - away) ^ power. */
static double moment(const struct cell *c, double away, int power)
{
	double sum = 0;
	for (int64_t k = 0; k < c->over->count; k++) {
		double v = element_at(c->x, c->base + axes_offset(c->over, k)) - away;
		sum += power == 2 ? v * v : v;
	}
	return sum / (double)c->over->count;
}

/* Returns x as the tensor whose dim is normalised: that of groups has the shape [N, groups, …]. */
static struct tensor view_of(const struct ir_norm *a, const struct tensor *x)
{
	struct tensor t = *x;
	if (a->kind != NORM_GROUP)
		return t;
	t.rank = 3;
	t.dims[1] = a->groups;
	t.dims[2] = x->dims[0] ? tensor_count(x) / (x->dims[0] * a->groups) : 0;
	return t;
}

static uint32_t axes_mask(const struct ir_norm *a, const struct tensor *view)
{
	if (a->kind == NORM_BATCH)
		return ((1u << view->rank) - 1) & ~2u;
	return a->kind == NORM_GROUP ? 4 : a->mask;
}

static double parameter(const struct tensor *t, int64_t k, double absent) { return t ? element_at(t, k) : absent; }

static bool interp_norm_per_channel(const struct ir_norm *a) { return a->kind == NORM_BATCH || a->kind == NORM_GROUP; }

/* Returns the index of an element's parameter: there is one for each channel, or for each of the normalised elements. */
static int64_t parameter_index(const struct ir_norm *a, const struct tensor *x, int64_t at)
{
	int64_t inner = 1;
	for (uint32_t k = 0; k < x->rank; k++)
		if (interp_norm_per_channel(a) ? k > 1 : a->mask >> k & 1)
			inner *= x->dims[k];
	return interp_norm_per_channel(a) ? at / inner % x->dims[1] : at % inner;
}

/* The numbers by which elements are normalised together. */
struct statistics {
	double mean, inverse; /* of the deviation */
};

/* Of a batch, alpha and beta are one multiplication and one addition for each element, also if they are infinite. */
static double normalised(const struct operands *o, const struct ir_norm *a, const struct statistics *s, int64_t at)
{
	int64_t p = parameter_index(a, o->x, at);
	double x = element_at(o->x, at), weight = parameter(o->weight, p, 1), bias = parameter(o->bias, p, 0);
	if (a->kind != NORM_BATCH)
		return (x - s->mean) * s->inverse * weight + bias;
	double alpha = s->inverse * weight;
	return x * alpha + (bias - s->mean * alpha);
}

void interp_norm(const struct ir_norm *a, const struct tensor *const *x, struct tensor *out)
{
	struct operands o = interp_norm_operands_of(a, x);
	struct tensor view = view_of(a, o.x);
	uint32_t mask = axes_mask(a, &view);
	struct axes over = axes_of(&view, mask, 1), kept = axes_of(&view, mask, 0);
	for (int64_t c = 0; c < kept.count; c++) {
		struct cell cell = {&view, &over, axes_offset(&kept, c)};
		struct statistics s = {.mean = o.mean ? element_at(o.mean, c) : a->kind == NORM_RMS ? 0 : moment(&cell, 0, 1)};
		s.inverse = 1 / sqrt((o.variance ? element_at(o.variance, c) : moment(&cell, s.mean, 2)) + a->eps);
		for (int64_t k = 0; k < over.count; k++) {
			int64_t at = cell.base + axes_offset(&over, k);
			elem_put_float(out->elem, out->data, at, normalised(&o, a, &s, at));
		}
	}
}

bool interp_norm_fits(const struct ir_norm *a, const struct tensor *const *x, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++)
		for (uint32_t d = 0; d < x[k]->rank; d++)
			if (x[k]->dims[d] != x[0]->dims[interp_norm_per_channel(a) ? 1 : x[0]->rank - x[k]->rank + d])
				return false;
	return a->kind != NORM_GROUP || x[0]->dims[1] % a->groups == 0;
}

/* Convolutions. An element is one sum over channels and window, in this order: of floats in double, rounded once; integers wrap at the
 * result's width. Outside of the input are zeros. A trit 0 skips the float, so 0 times infinity is 0. */
#include <stdlib.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"
#include "base/bug.h"

enum { N, C, H, W }; /* dims; of the weights: O, C, KH, KW */

/* A number of either class. */
union number {
	double f;
	uint64_t i;
};

struct conv {
	const struct ir_conv *a;
	const struct tensor *w;
	struct tensor *out;
	union number *x;       /* padded */
	int64_t height, width; /* padded */
	bool floats, trit_x, trit_w;
};

static union number *conv_allocate(int64_t n)
{
	union number *p = calloc((size_t)n + 1, sizeof *p);
	if (!p)
		bug_no_memory();
	return p;
}

static union number read(const struct tensor *t, int64_t k, bool floats)
{
	return floats ? (union number){.f = element_at(t, k)} : (union number){.i = (uint64_t)elem_int(t->elem, t->data, k)};
}

static union number *pad(const struct conv *v, const struct tensor *x)
{
	int64_t planes = x->dims[N] * x->dims[C], at = 0;
	union number *to = conv_allocate(planes * v->height * v->width);
	for (int64_t p = 0; p < planes; p++)
		for (int64_t h = 0; h < x->dims[H]; h++)
			for (int64_t w = 0; w < x->dims[W]; w++)
				to[(p * v->height + h + v->a->pad[0]) * v->width + w + v->a->pad[2]] = read(x, at++, v->floats);
	return to;
}

/* Adds w times a row of the input to a row of sums. */
static void conv_add_row(const struct conv *v, union number *sum, const union number *x, union number w)
{
	int64_t n = v->out->dims[W], stride = v->a->stride[1];
	if (!v->floats)
		for (int64_t k = 0; k < n; k++)
			sum[k].i += w.i * x[k * stride].i;
	else if (v->trit_x)
		for (int64_t k = 0; k < n; k++)
			sum[k].f += x[k * stride].f == 0 ? 0 : w.f * x[k * stride].f;
	else if (!v->trit_w || w.f != 0)
		for (int64_t k = 0; k < n; k++)
			sum[k].f += w.f * x[k * stride].f;
}

/* Sums channel o of item n. */
static void add_channel(const struct conv *v, union number *sum, int64_t n, int64_t o)
{
	const int64_t *k = v->w->dims;
	int64_t channels = k[C] * v->a->groups, first = o / (v->out->dims[C] / v->a->groups) * k[C], at = o * k[C] * k[H] * k[W];
	for (int64_t c = first; c < first + k[C]; c++)
		for (int64_t i = 0; i < k[H]; i++)
			for (int64_t j = 0; j < k[W]; j++) {
				union number w = read(v->w, at++, v->floats);
				const union number *plane = v->x + (n * channels + c) * v->height * v->width + j * v->a->dilation[1];
				for (int64_t h = 0; h < v->out->dims[H]; h++)
					conv_add_row(v, sum + h * v->out->dims[W],
						     plane + (h * v->a->stride[0] + i * v->a->dilation[0]) * v->width, w);
			}
}

void interp_conv(const struct ir_conv *a, const struct tensor *const *x, struct tensor *out)
{
	struct conv v = {.a = a, .w = x[1], .out = out, .floats = dtype_class(out->elem) == DTC_FLOAT};
	v.trit_x = v.floats && x[0]->elem == DT_TRIT && x[1]->elem != DT_TRIT;
	v.trit_w = v.floats && x[1]->elem == DT_TRIT;
	v.height = x[0]->dims[H] + a->pad[0] + a->pad[1];
	v.width = x[0]->dims[W] + a->pad[2] + a->pad[3];
	v.x = pad(&v, x[0]);
	int64_t plane = out->dims[H] * out->dims[W], channels = out->dims[C];
	for (int64_t p = 0; p < out->dims[N] * channels; p++) {
		union number *sum = conv_allocate(plane);
		add_channel(&v, sum, p / channels, p % channels);
		for (int64_t k = 0; k < plane; k++)
			if (v.floats)
				elem_put_float(out->elem, out->data, p * plane + k, sum[k].f);
			else
				elem_put_int(out->elem, out->data, p * plane + k, (int64_t)sum[k].i);
		free(sum);
	}
	free(v.x);
}

/* At least one window fits each of the last two dims. Windows of one element, one apart, are those elements. */
static bool windows_fit(const struct ir_conv *a, const struct tensor *const *x, const struct tensor *out)
{
	bool single = x[1]->dims[H] == 1 && x[1]->dims[W] == 1 && a->stride[0] == 1 && a->stride[1] == 1, ok = true;
	for (uint32_t k = 0; k < 2; k++) {
		int64_t size = x[0]->dims[H + k] + a->pad[2 * k] + a->pad[2 * k + 1], n = out->dims[H + k];
		int64_t last = (n - 1) * a->stride[k] + (x[1]->dims[H + k] - 1) * a->dilation[k];
		ok = ok && (single ? n == size : n > 0 && last < size);
	}
	return ok;
}

bool interp_conv_fits(const struct ir_conv *a, const struct tensor *const *x, const struct tensor *out)
{
	bool channels = x[0]->dims[C] == x[1]->dims[C] * a->groups && out->dims[C] == x[1]->dims[0] && out->dims[C] % a->groups == 0;
	return channels && x[0]->dims[N] == out->dims[N] && windows_fit(a, x, out);
}

/* Resizing of the last two dims. Positions are computed in float32, as PyTorch computes them; the elements in double. */
#include <math.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

enum { H = 2, W = 3 };

/* An element of the result is between `low` and `high`, at `part` of the way. */
struct place {
	int64_t low, high;
	double part;
};

static float step_of(const struct ir_resize *a, uint32_t k, int64_t size, int64_t n)
{
	if (a->corners)
		return n == 1 ? 0 : ((float)size - 1) / ((float)n - 1);
	return a->scaled ? (float)(1 / a->scale[k]) : (float)size / (float)n;
}

static struct place resize_place_of(const struct ir_resize *a, uint32_t k, int64_t size, int64_t n, int64_t i)
{
	float step = step_of(a, k, size, n), at = (float)i * step;
	if (a->mode == RESIZE_LINEAR && !a->corners) {
		at = ((float)i + 0.5f) * step;
		at = fmaxf(at - 0.5f, 0);
	}
	struct place p = {(int64_t)fminf(at, (float)size), 0, 0};
	p.low = p.low < size - 1 ? p.low : size - 1;
	p.high = p.low + 1 < size - 1 ? p.low + 1 : size - 1;
	p.part = a->mode == RESIZE_LINEAR ? at - (float)p.low : 0;
	return p;
}

/* Returns the mean of two elements by their distance. */
static double between(const struct tensor *x, int64_t low, int64_t high, double part)
{
	return element_at(x, low) * (1 - part) + element_at(x, high) * part;
}

void interp_resize(const struct ir_resize *a, const struct tensor *x, struct tensor *out)
{
	int64_t n = tensor_count(out), height = out->dims[H], width = out->dims[W], row = x->dims[W];
	for (int64_t o = 0; o < n; o++) {
		int64_t plane = o / (height * width) * x->dims[H] * row;
		struct place h = resize_place_of(a, 0, x->dims[H], height, o / width % height),
			     w = resize_place_of(a, 1, row, width, o % width);
		int64_t top = plane + h.low * row, bottom = plane + h.high * row;
		if (a->mode == RESIZE_NEAREST) {
			elem_cast(out->elem, out->data, o, x->elem, x->data, top + w.low);
			continue;
		}
		double above = between(x, top + w.low, top + w.high, w.part), below = between(x, bottom + w.low, bottom + w.high, w.part);
		elem_put_float(out->elem, out->data, o, above * (1 - h.part) + below * h.part);
	}
}

bool interp_resize_fits(const struct tensor *x, const struct tensor *out)
{
	bool empty = !tensor_count(x) && tensor_count(out); /* there is nothing to take */
	return x->dims[0] == out->dims[0] && x->dims[1] == out->dims[1] && !empty;
}

/* Pooling over windows of the last two dims. Sums of floats are computed in double. */
#include <math.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"

enum { H = 2, W = 3 };

/* Positions of one dim that a window has: from, from + step … below `to`. `extent`: the number by which a mean divides. */
struct window {
	int64_t from, to, step, extent;
};

static int64_t pooling_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pooling_most(int64_t a, int64_t b) { return a > b ? a : b; }

static struct window adaptive_window(int64_t size, int64_t n, int64_t i)
{
	int64_t from = i * size / n, to = ((i + 1) * size + n - 1) / n;
	return (struct window){from, to, 1, to - from};
}

static struct window window_at(const struct ir_pool *a, uint32_t k, int64_t size, int64_t n, int64_t i)
{
	if (a->kind == POOL_ADAPTIVE_AVERAGE)
		return adaptive_window(size, n, i);
	int64_t from = i * a->stride[k] - a->pad[k], step = a->dilation[k];
	struct window w = {from, from + (a->kernel[k] - 1) * step + 1, step, 0};
	w.extent =
		pooling_least(from + a->kernel[k], size + (a->count_pad ? a->pad[k] : 0)) - (a->count_pad ? from : pooling_most(from, 0));
	while (w.from < 0)
		w.from += step;
	w.to = pooling_least(w.to, size);
	return w;
}

static void put_mean(const struct ir_pool *a, const struct tensor *x, int64_t plane, const struct window w[2], struct tensor *out,
		     int64_t o)
{
	double sum = 0, n = a->divisor ? (double)a->divisor : (double)(w[0].extent * w[1].extent);
	for (int64_t h = w[0].from; h < w[0].to; h += w[0].step)
		for (int64_t j = w[1].from; j < w[1].to; j += w[1].step)
			sum += element_at(x, plane + h * x->dims[W] + j);
	elem_put_float(out->elem, out->data, o, sum / n);
}

/* Elements outside of x are the least value of the type. */
static void put_greatest(const struct tensor *x, int64_t plane, const struct window w[2], struct tensor *out, int64_t o)
{
	double none = -INFINITY;
	elem_cast(out->elem, out->data, o, DT_FLOAT64, &none, 0);
	for (int64_t h = w[0].from; h < w[0].to; h += w[0].step)
		for (int64_t j = w[1].from; j < w[1].to; j += w[1].step) {
			int64_t at = plane + h * x->dims[W] + j;
			if (dtype_class(x->elem) == DTC_FLOAT)
				elem_put_float(out->elem, out->data, o, greater(element_at(out, o), element_at(x, at)));
			else
				elem_put_int(out->elem, out->data, o,
					     pooling_most(elem_int(out->elem, out->data, o), elem_int(x->elem, x->data, at)));
		}
}

void interp_pool(const struct ir_pool *a, const struct tensor *x, struct tensor *out)
{
	int64_t n = tensor_count(out), height = out->dims[H], width = out->dims[W];
	for (int64_t o = 0; o < n; o++) {
		int64_t plane = o / (height * width) * x->dims[H] * x->dims[W];
		struct window w[2] = {window_at(a, 0, x->dims[H], height, o / width % height),
				      window_at(a, 1, x->dims[W], width, o % width)};
		if (a->kind == POOL_MAX)
			put_greatest(x, plane, w, out, o);
		else
			put_mean(a, x, plane, w, out, o);
	}
}

/* There is a window, and the last one ends less than a stride after the padding. */
static bool pooling_fits(const struct ir_pool *a, uint32_t k, int64_t size, int64_t n)
{
	int64_t padded = size + 2 * a->pad[k] + (a->ceil ? a->stride[k] - 1 : 0);
	return n > 0 && (n - 1) * a->stride[k] + (a->kernel[k] - 1) * a->dilation[k] < padded;
}

bool interp_pool_fits(const struct ir_pool *a, const struct tensor *x, const struct tensor *out)
{
	if (x->dims[0] != out->dims[0] || x->dims[1] != out->dims[1])
		return false;
	if (a->kind == POOL_ADAPTIVE_AVERAGE)
		return true;
	return pooling_fits(a, 0, x->dims[H], out->dims[H]) && pooling_fits(a, 1, x->dims[W], out->dims[W]);
}

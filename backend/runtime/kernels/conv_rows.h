/* Pointers to the inputs of a convolution, channels-last: for some positions of the result, the pixels under each element of the window. So
 * kernels read their rows where they are, and no matrix of windows exists. Padding is a pointer to zeros. */
#ifndef TRI_CONV_ROWS_H
#define TRI_CONV_ROWS_H
#include <stdbool.h>
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/kernels/f32_rows.h"

enum { TRI_CONV_ROWS = 96, TRI_CONV_POINTERS = 64 }; /* most positions; most elements of the window for which pointers are held */

/* Positions p … p+n-1 of one image. */
struct tri_conv_rows {
	const struct tri_conv_dims *c;
	const float *x; /* the image */
	int64_t n;
	int64_t row[TRI_CONV_ROWS], column[TRI_CONV_ROWS]; /* of the window's first element in x; may be outside */
	int64_t pixel[TRI_CONV_ROWS];                      /* the offset of that element */
	const float *at[TRI_CONV_POINTERS * TRI_CONV_ROWS];
};

static inline void tri_conv_rows_begin(struct tri_conv_rows *r, const struct tri_conv_dims *c, const float *x, int64_t p, int64_t n)
{
	int64_t h = p / c->out_width, w = p % c->out_width;
	r->c = c;
	r->x = x;
	r->n = n;
	for (int64_t i = 0; i < n; i++) {
		r->row[i] = h * c->stride_height - c->pad_top;
		r->column[i] = w * c->stride_width - c->pad_left;
		r->pixel[i] = (r->row[i] * c->width + r->column[i]) * c->channels;
		if (++w == c->out_width) {
			w = 0;
			h++;
		}
	}
}

/* Stores the pointers to channel `channel` of element `element` of the windows, or to `zeros`. */
static inline void tri_conv_rows_point(const struct tri_conv_rows *r, int64_t element, int64_t channel, const float *zeros,
				       const float **to)
{
	const struct tri_conv_dims *c = r->c;
	int64_t dh = element / c->kernel_width * c->dilation_height, dw = element % c->kernel_width * c->dilation_width;
	int64_t step = (dh * c->width + dw) * c->channels + channel;
	uint64_t height = (uint64_t)c->height, width = (uint64_t)c->width;
	for (int64_t i = 0; i < r->n; i++) {
		uint64_t h = (uint64_t)(r->row[i] + dh), w = (uint64_t)(r->column[i] + dw);
		to[i] = h < height && w < width ? r->x + (r->pixel[i] + step) : zeros;
	}
}
#endif

/* Sizes of a convolution: the dims of its kernels, in the order of kernels.def. Groups are 1. */
#ifndef TRI_CONV_H
#define TRI_CONV_H
#include <stdint.h>

/* The largest C · KH · KW that the int8 kernel takes: it copies windows to the stack. */
enum { TRI_CONV_MOST_TERMS = 1 << 14 };

struct tri_conv {
	int64_t batch, channels, height, width;
	int64_t out, kernel_height, kernel_width, out_height, out_width;
	int64_t stride_height, stride_width, pad_top, pad_left, dilation_height, dilation_width;
};

static inline struct tri_conv tri_conv_of(const int64_t *d)
{
	return (struct tri_conv){d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d[12], d[13], d[14]};
}
static inline int64_t tri_conv_terms(const struct tri_conv *c) { return c->channels * c->kernel_height * c->kernel_width; }
static inline int64_t tri_conv_positions(const struct tri_conv *c) { return c->out_height * c->out_width; }
#endif

/* Sizes of a convolution, from the dims of its kernels. */
#ifndef TRI_CONV_H
#define TRI_CONV_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/kernels/records.h"

/* The ternary kernels copy what windows read to the stack, at most so many elements for one position. */
enum { TRI_CONV_MOST_TERMS = 1 << 14, TRI_CONV_MOST_COPIED = 1 << 15, TRI_CONV_QUAD = 4 };

static inline int64_t tri_conv_terms(const struct tri_conv_dims *c) { return c->channels * c->kernel_height * c->kernel_width; }
static inline int64_t tri_conv_positions(const struct tri_conv_dims *c) { return c->out_height * c->out_width; }

/* Packed trits have a run of terms for each row of the kernel, [KW, C], padded with zeros to whole quads. */
static inline int64_t tri_conv_run(int64_t channels, int64_t kernel_width)
{
	return (channels * kernel_width + TRI_CONV_QUAD - 1) / TRI_CONV_QUAD * TRI_CONV_QUAD;
}
static inline int64_t tri_conv_packed_terms(const struct tri_conv_dims *c)
{
	return c->kernel_height * tri_conv_run(c->channels, c->kernel_width);
}
/* True if windows of this shape can be packed for the ternary kernels. */
static inline bool tri_conv_fits(int64_t channels, int64_t height, int64_t width)
{
	int64_t run, terms;
	return !__builtin_mul_overflow(channels, width, &run) && run <= TRI_CONV_MOST_TERMS &&
	       !__builtin_mul_overflow(height, tri_conv_run(channels, width), &terms) && terms <= TRI_CONV_MOST_TERMS;
}
/* True if they can copy what a position reads of all channels: of a line, all remainders of its dilated columns. */
static inline bool tri_conv_copies(int64_t channels, int64_t height, int64_t width, int64_t dilation)
{
	int64_t copied;
	return !__builtin_mul_overflow(channels, width, &copied) && !__builtin_mul_overflow(copied, height, &copied) &&
	       !__builtin_mul_overflow(copied, dilation, &copied) && copied <= TRI_CONV_MOST_COPIED;
}
#endif

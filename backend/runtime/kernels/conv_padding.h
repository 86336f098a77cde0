/* Copies of what the windows of a block read, with zeros where they leave the image: the padding of convolutions with ternary weights. */
#ifndef TRI_CONV_PADDING_H
#define TRI_CONV_PADDING_H
#include <string.h>
#include "backend/runtime/kernels/conv_block.h"

/* memcpy of long lines with vectors. The C library may take `rep movsb`, which is slower and does not leave the bytes in the L1 cache. */
TRI_INLINE void conv_copy(char *out, const char *x, int64_t n)
{
	int64_t i = 0;
	for (; i + 64 <= n; i += 64)
		memcpy(out + i, x + i, 64);
	memcpy(out + i, x + i, (size_t)(n - i));
}

/* Copies a line from column `from` of a row of x on. NULL: a row outside. */
static void conv_copy_line(const struct conv_blocks *b, const char *x, int64_t from, int64_t span, char *out)
{
	int64_t d = b->c.dilation_width, size = b->size;
	int64_t low = conv_clamp(-from, 0, span), high = x ? conv_clamp(b->c.width - from, low, span) : low;
	if (d == 1 && b->pixel == size) {
		memset(out, 0, (size_t)(low * size));
		if (high > low)
			conv_copy(out + low * size, x + (from + low) * size, (high - low) * size);
		memset(out + high * size, 0, (size_t)((span - high) * size));
		return;
	}
	for (int64_t i = 0; i < span; i++) {
		char *to = out + (i % d * b->slots + i / d) * size;
		if (i < low || i >= high)
			memset(to, 0, (size_t)size);
		else
			memcpy(to, x + (from + i) * b->pixel, (size_t)size);
	}
}

/* Returns the first window of a block of x, the channels of an image. `copy`: CONV_COPY_BYTES + CONV_SLACK bytes. */
static const char *conv_block_read(const struct conv_blocks *b, const struct conv_block *k, const char *x, char *copy)
{
	const struct tri_conv_dims *c = &b->c;
	int64_t h = k->row * c->stride_height - c->pad_top, w = k->column * c->stride_width - c->pad_left;
	int64_t lines = conv_lines(b, k->rows);
	if (!b->copied)
		return x + (h * c->width + w) * b->pixel;
	for (int64_t l = 0; l < lines; l++) {
		int64_t at = b->sliding ? h + l : h + l / c->kernel_height * c->stride_height + l % c->kernel_height * c->dilation_height;
		const char *row = at >= 0 && at < c->height ? x + at * c->width * b->pixel : NULL;
		conv_copy_line(b, row, w, conv_span(c, k->columns), copy + l * b->line);
	}
	memset(copy + lines * b->line, 0, CONV_SLACK);
	return copy;
}
#endif

/* Blocks of positions of a channels-last convolution, and where their windows are read. A window is a line of KW elements of C channels for
 * each row of the kernel. If no window leaves the image, it is read there. Otherwise what the windows of a block read is copied once
 * (conv_padding.h); dilated columns are sorted by their remainder, so that the elements of a line are neighbours. A group of channels is read
 * like an image of its own. */
#ifndef TRI_CONV_BLOCK_H
#define TRI_CONV_BLOCK_H
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/kernels/kernel.h"

enum { CONV_POSITIONS = 64, CONV_COPY_BYTES = 128 << 10, CONV_SLACK = 64 };

struct conv_blocks {
	struct tri_conv_dims c;
	int64_t size, pixel;               /* bytes from one element of a line to the next, and in x */
	int64_t rows, columns;             /* of a block; all columns, or one row */
	int64_t row_blocks, column_blocks; /* of an image */
	int64_t line, row;                 /* bytes from one line of a window to the next, from a window to the one below it */
	int64_t slots;                     /* of a copied line, for each remainder */
	_Bool copied, sliding;             /* sliding: windows share the lines of a copy */
};
struct conv_block {
	int64_t image, row, column, rows, columns;
};

TRI_INLINE int64_t conv_clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }
TRI_INLINE int64_t conv_parts(int64_t n, int64_t most) { return (n + most - 1) / most; }

/* True if every window is inside the image, and lines are whole quads of neighbours. `channels`: of x. */
static _Bool conv_is_inside(const struct tri_conv_dims *c, int64_t channels)
{
	return (c->channels == channels || c->kernel_width == 1) && c->pad_top <= 0 && c->pad_left <= 0 && c->dilation_width == 1 &&
	       c->channels * c->kernel_width % TRI_CONV_QUAD == 0 &&
	       (c->out_height - 1) * c->stride_height - c->pad_top + (c->kernel_height - 1) * c->dilation_height < c->height &&
	       (c->out_width - 1) * c->stride_width - c->pad_left + c->kernel_width <= c->width;
}

/* Columns of x that `columns` positions read. */
TRI_INLINE int64_t conv_span(const struct tri_conv_dims *c, int64_t columns)
{
	return (columns - 1) * c->stride_width + (c->kernel_width - 1) * c->dilation_width + 1;
}
static int64_t conv_line(const struct conv_blocks *b, int64_t columns)
{
	return conv_parts(conv_span(&b->c, columns), b->c.dilation_width) * b->c.dilation_width * b->size;
}
static int64_t conv_lines(const struct conv_blocks *b, int64_t rows)
{
	return (rows - 1) * (b->sliding ? b->c.stride_height : b->c.kernel_height) + b->c.kernel_height;
}

/* Divides an image into blocks of about the same size. c: of a group. `channels`: of x. `bytes`: of a number. */
static struct conv_blocks conv_blocks_make(const struct tri_conv_dims *c, int64_t channels, int64_t bytes)
{
	struct conv_blocks b = {.c = *c, .pixel = channels * bytes, .copied = !conv_is_inside(c, channels)};
	b.size = b.copied ? c->channels * bytes : b.pixel;
	b.sliding = c->dilation_height == 1 && c->stride_height < c->kernel_height;
	b.columns = conv_parts(c->out_width, conv_parts(c->out_width, CONV_POSITIONS));
	while (b.copied && b.columns > 1 && c->kernel_height * conv_line(&b, b.columns) > CONV_COPY_BYTES)
		b.columns--;
	b.rows = b.columns == c->out_width ? conv_clamp(CONV_POSITIONS / b.columns, 1, c->out_height) : 1;
	while (b.copied && b.rows > 1 && conv_lines(&b, b.rows) * conv_line(&b, b.columns) > CONV_COPY_BYTES)
		b.rows--;
	b.rows = conv_parts(c->out_height, conv_parts(c->out_height, b.rows));
	b.row_blocks = conv_parts(c->out_height, b.rows);
	b.column_blocks = conv_parts(c->out_width, b.columns);
	b.slots = conv_parts(conv_span(c, b.columns), c->dilation_width);
	b.line = b.copied ? conv_line(&b, b.columns) : c->dilation_height * c->width * b.pixel;
	b.row = b.copied ? (b.sliding ? c->stride_height : c->kernel_height) * b.line : c->stride_height * c->width * b.pixel;
	return b;
}

static struct conv_block conv_block_at(const struct conv_blocks *b, int64_t i)
{
	struct conv_block k = {.image = i / (b->row_blocks * b->column_blocks)};
	k.row = i / b->column_blocks % b->row_blocks * b->rows;
	k.column = i % b->column_blocks * b->columns;
	k.rows = conv_clamp(b->c.out_height - k.row, 0, b->rows);
	k.columns = conv_clamp(b->c.out_width - k.column, 0, b->columns);
	return k;
}

/* Returns the element of the first window's line that the window of a column of the block begins with. */
TRI_INLINE int64_t conv_element(const struct conv_blocks *b, int64_t column)
{
	int64_t from = column * b->c.stride_width, d = b->c.dilation_width;
	return d == 1 ? from : from % d * b->slots + from / d;
}
#endif

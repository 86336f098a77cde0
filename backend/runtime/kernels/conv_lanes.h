/* Convolutions in small groups: a vector has 16 columns of the result, of several groups. What a block of positions reads is copied once, and
 * spread: for each pixel and each unit of a group's channels, 16 lanes with the unit that each column multiplies. Then all groups of a vector are
 * multiplied like single channels, and no product is wasted. A unit is four bytes: a float32, or four int8. */
#ifndef TRI_CONV_LANES_H
#define TRI_CONV_LANES_H
#include <string.h>
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/kernels/kernel.h"
#if defined(__SSSE3__)
#include <immintrin.h>
#endif

enum {
	LANES_COLUMNS = 16,
	LANES_BYTES = LANES_COLUMNS * 4, /* of a spread unit */
	LANES_SPREAD = 128 << 10,        /* most bytes of a block */
	LANES_POSITIONS = 512,
	LANES_WIDE = 64, /* most positions of a row */
	LANES_TILE = 8,  /* most positions of a register tile */
	LANES_TAPS = 64,
	SPREAD = 2,
	BESIDES_I8 = 32,
	BESIDES_F32 = 8,
	LANES_TERMS = 384 /* as many as conv_f32.c adds in one block, so that the order of sums is the same */
};

/* How a convolution is divided. */
struct lanes {
	struct tri_conv_dims c;
	int64_t channels, out, units;      /* of a group; units of its channels */
	int64_t pixel;                     /* bytes, of x */
	int64_t rows, columns;             /* of a block */
	int64_t row_blocks, column_blocks; /* of an image */
	int64_t row_step, column_step;     /* of x, from one line or slot of a block to the next */
	int64_t row_stride, column_stride; /* in lines and slots, from one position to the next */
	int64_t slots;                     /* of a line */
	int64_t vectors;                   /* of columns */
};
/* A block of positions. */
struct lanes_block {
	int64_t image, row, column, rows, columns;
};
/* The units that the lanes of a vector read, in bytes of a pixel, and how. */
struct spread {
	int64_t at[LANES_COLUMNS];
	int64_t reach; /* bytes from the start of a pixel that are read */
	_Bool quads;   /* four lanes from 16 bytes each */
	_Bool whole;   /* all lanes from 128 bytes, as elements */
	_Alignas(64) int32_t element[LANES_COLUMNS];
	_Alignas(64) uint8_t byte[LANES_BYTES];
};

static inline int64_t lanes_lines(const struct lanes *l, int64_t rows)
{
	return (rows - 1) * l->row_stride + (l->c.kernel_height - 1) * l->c.dilation_height + 1;
}
static inline int64_t lanes_slots(const struct lanes *l, int64_t columns)
{
	return (columns - 1) * l->column_stride + (l->c.kernel_width - 1) * l->c.dilation_width + 1;
}
static inline int64_t lanes_bytes(const struct lanes *l, int64_t rows, int64_t columns)
{
	return lanes_lines(l, rows) * lanes_slots(l, columns) * l->units * LANES_BYTES;
}
static inline int64_t lanes_even(int64_t n, int64_t most)
{
	int64_t parts = (n + most - 1) / most;
	return (n + parts - 1) / parts;
}

/* True if this is estimated to be faster than a product for each group. In products of a unit by 16 columns: spreading a unit takes as long as
 * SPREAD of them, and what a product does for a group and a position besides as long as `besides`. */
static inline _Bool lanes_pay(const struct lanes *l, int64_t besides)
{
	int64_t taps = l->c.kernel_height * l->c.kernel_width, halves = (l->out + LANES_COLUMNS - 1) / LANES_COLUMNS;
	int64_t positions = l->rows * l->columns, spread = lanes_lines(l, l->rows) * l->slots;
	return l->out * (taps * positions + SPREAD * spread) * l->units < LANES_COLUMNS * (halves * taps * l->units + besides) * positions;
}

/* Divides a convolution; `size`: bytes of a channel. Returns false if another kernel is faster or has to take it. */
static inline _Bool lanes_make(const int64_t *dims, int64_t size, struct lanes *l)
{
	*l = (struct lanes){.c = *tri_conv_of(dims), .channels = tri_conv_of(dims)->group_channels};
	const struct tri_conv_dims *c = &l->c;
	int64_t channels = l->channels, taps = c->kernel_height * c->kernel_width;
	if (channels < 1 || channels == c->channels || c->batch < 1 || c->out < 1 || c->out_height < 1 || c->out_width < 1)
		return 0;
	l->out = c->out / (c->channels / channels);
	l->units = (channels * size + 3) / 4;
	l->pixel = c->channels * size;
	if (l->out < 1 || taps > LANES_TAPS || taps * channels > LANES_TERMS)
		return 0;
	l->row_step = c->kernel_height == 1 ? c->stride_height : 1; /* what no window reads is left out */
	l->column_step = c->kernel_width == 1 ? c->stride_width : 1;
	l->row_stride = c->stride_height / l->row_step;
	l->column_stride = c->stride_width / l->column_step;
	if (c->dilation_height > LANES_SPREAD || c->dilation_width > LANES_SPREAD || lanes_bytes(l, 1, 1) > LANES_SPREAD)
		return 0;
	int64_t columns = c->out_width < LANES_WIDE ? c->out_width : LANES_WIDE, rows = c->out_height;
	while (lanes_bytes(l, 1, columns) > LANES_SPREAD)
		columns--;
	l->columns = lanes_even(c->out_width, columns);
	if (rows > LANES_POSITIONS / l->columns)
		rows = LANES_POSITIONS / l->columns;
	while (lanes_bytes(l, rows, l->columns) > LANES_SPREAD)
		rows--;
	l->rows = lanes_even(c->out_height, rows);
	l->row_blocks = (c->out_height + l->rows - 1) / l->rows;
	l->column_blocks = (c->out_width + l->columns - 1) / l->columns;
	l->slots = lanes_slots(l, l->columns);
	l->vectors = (c->out + LANES_COLUMNS - 1) / LANES_COLUMNS;
	return lanes_pay(l, size == 1 ? BESIDES_I8 : BESIDES_F32);
}

static inline struct lanes_block lanes_block_at(const struct lanes *l, int64_t i)
{
	struct lanes_block b = {.image = i / (l->row_blocks * l->column_blocks)};
	b.row = i / l->column_blocks % l->row_blocks * l->rows;
	b.column = i % l->column_blocks * l->columns;
	b.rows = l->c.out_height - b.row < l->rows ? l->c.out_height - b.row : l->rows;
	b.columns = l->c.out_width - b.column < l->columns ? l->c.out_width - b.column : l->columns;
	return b;
}

/* Columns from o on. */
static inline struct spread lanes_spread(const struct lanes *l, int64_t o)
{
	struct spread s = {.quads = 1, .whole = 1};
	int64_t group_bytes = l->pixel / (l->c.channels / l->channels), last = l->c.out - 1;
	for (int i = 0; i < LANES_COLUMNS; i++) {
		s.at[i] = (o + i < last ? o + i : last) / l->out * group_bytes;
		int64_t from = s.at[i] - s.at[0], in_quad = s.at[i] - s.at[i / 4 * 4];
		s.whole = s.whole && from % 4 == 0 && from < 2 * LANES_BYTES;
		s.quads = s.quads && in_quad <= 12;
		s.element[i] = (int32_t)(from / 4);
		for (int k = 0; k < 4; k++)
			s.byte[4 * i + k] = (uint8_t)(in_quad + k);
	}
#if !defined(__AVX512F__)
	s.whole = 0;
#endif
#if !defined(__SSSE3__)
	s.quads = 0;
#endif
	s.reach = (l->units - 1) * 4 + (s.whole ? s.at[0] + 2 * LANES_BYTES : s.quads ? s.at[12] + 16 : s.at[LANES_COLUMNS - 1] + 4);
	return s;
}

/* Stores the units of n pixels that are `step` bytes apart. */
static inline void lanes_pixels(const struct lanes *l, const struct spread *s, const char *x, int64_t step, int64_t n, uint32_t flip,
				char *out)
{
#if defined(__AVX512F__)
	const __m512i element = _mm512_load_si512(s->element), flips = _mm512_set1_epi32((int32_t)flip);
	const _Bool one = s->element[LANES_COLUMNS - 1] < LANES_COLUMNS;
	for (int64_t i = 0; s->whole && i < n; i++, x += step) {
		const char *at = x + s->at[0];
		for (int64_t u = 0; one && u < l->units; u++, at += 4, out += LANES_BYTES)
			_mm512_storeu_si512(out, _mm512_xor_si512(_mm512_permutexvar_epi32(element, _mm512_loadu_si512(at)), flips));
		for (int64_t u = 0; !one && u < l->units; u++, at += 4, out += LANES_BYTES) {
			__m512i low = _mm512_loadu_si512(at), high = _mm512_loadu_si512(at + LANES_BYTES);
			_mm512_storeu_si512(out, _mm512_xor_si512(_mm512_permutex2var_epi32(low, element, high), flips));
		}
	}
	if (s->whole)
		return;
#endif
	for (int64_t i = 0; i < n; i++, x += step)
		for (int64_t u = 0; u < l->units; u++, out += LANES_BYTES)
			for (int k = 0; k < LANES_COLUMNS; k += 4) {
#if defined(__SSSE3__)
				if (s->quads) {
					__m128i four = _mm_loadu_si128((const __m128i *)(x + s->at[k] + 4 * u));
					four = _mm_shuffle_epi8(four, _mm_load_si128((const __m128i *)(s->byte + 4 * k)));
					_mm_storeu_si128((__m128i *)(out + 4 * k), _mm_xor_si128(four, _mm_set1_epi32((int32_t)flip)));
					continue;
				}
#endif
				for (int m = k; m < k + 4; m++) {
					uint32_t unit;
					memcpy(&unit, x + s->at[m] + 4 * u, 4);
					unit ^= flip;
					memcpy(out + 4 * m, &unit, 4);
				}
			}
}

/* The same of one pixel, without reading beyond the end of the tensor. */
static inline void lanes_pixel(const struct lanes *l, const struct spread *s, const char *x, const char *end, uint32_t flip, char *out)
{
	for (int64_t u = 0; u < l->units; u++, out += LANES_BYTES)
		for (int i = 0; i < LANES_COLUMNS; i++) {
			const char *at = x + s->at[i] + 4 * u;
			uint32_t unit = 0;
			memcpy(&unit, at, end - at < 4 ? (size_t)(end - at) : 4);
			unit ^= flip;
			memcpy(out + 4 * i, &unit, 4);
		}
}

static inline void lanes_fill(char *out, int64_t bytes, uint32_t unit)
{
	for (int64_t k = 0; k < bytes; k += 4)
		memcpy(out + k, &unit, 4);
}

/* Spreads a line of a block; slot 0 is column w of row x, which is NULL outside of the image. */
static inline void lanes_line(const struct lanes *l, const struct spread *s, const char *x, int64_t w, int64_t slots, const char *end,
			      uint32_t zero, char *out)
{
	int64_t element = l->units * LANES_BYTES, from = 0, to = 0, step = l->column_step * l->pixel, safe = 0;
	if (x) { /* slots inside of the image */
		while (from < slots && w + from * l->column_step < 0)
			from++;
		to = from;
		if (w + from * l->column_step < l->c.width)
			to += (l->c.width - 1 - w - from * l->column_step) / l->column_step + 1;
		to = to < slots ? to : slots;
		x += (w + from * l->column_step) * l->pixel;
		int64_t left = end - x - s->reach;
		safe = left < 0 ? 0 : left / step + 1;
		safe = safe < to - from ? safe : to - from;
		lanes_pixels(l, s, x, step, safe, zero, out + from * element);
	}
	for (int64_t j = from + safe; j < to; j++)
		lanes_pixel(l, s, x + (j - from) * step, end, zero, out + j * element);
	lanes_fill(out, from * element, zero);
	lanes_fill(out + to * element, (slots - to) * element, zero);
}

/* Spreads what the windows of a block read. x: the tensor. `zero`: a unit of zeros; others are changed by it, too. */
static inline void lanes_read(const struct lanes *l, const struct spread *s, const struct lanes_block *b, const char *x, uint32_t zero,
			      char *out)
{
	const struct tri_conv_dims *c = &l->c;
	const char *end = x + c->batch * c->height * c->width * l->pixel, *image = x + b->image * c->height * c->width * l->pixel;
	int64_t lines = lanes_lines(l, b->rows), slots = lanes_slots(l, b->columns);
	for (int64_t i = 0; i < lines; i++) {
		int64_t h = b->row * c->stride_height - c->pad_top + i * l->row_step;
		lanes_line(l, s, h >= 0 && h < c->height ? image + h * c->width * l->pixel : NULL,
			   b->column * c->stride_width - c->pad_left, slots, end, zero, out + i * l->slots * l->units * LANES_BYTES);
	}
}

/* Stores where windows begin, and where their terms are: unit u of element e is places[e * units + u] bytes from there. */
static inline void lanes_places(const struct lanes *l, int32_t *places)
{
	const struct tri_conv_dims *c = &l->c;
	for (int64_t e = 0; e < c->kernel_height * c->kernel_width; e++) {
		int64_t line = e / c->kernel_width * c->dilation_height, slot = e % c->kernel_width * c->dilation_width;
		for (int64_t u = 0; u < l->units; u++)
			*places++ = (int32_t)(((line * l->slots + slot) * l->units + u) * LANES_BYTES);
	}
}
/* Windows are repeated to whole tiles of `tile`. */
static inline void lanes_windows(const struct lanes *l, const struct lanes_block *b, const char *spread, int64_t tile, const char **windows)
{
	int64_t n = b->rows * b->columns;
	for (int64_t r = 0; r < b->rows; r++)
		for (int64_t j = 0; j < b->columns; j++)
			windows[r * b->columns + j] =
				spread + (r * l->row_stride * l->slots + j * l->column_stride) * l->units * LANES_BYTES;
	for (; n % tile; n++)
		windows[n] = spread;
}

/* Passes the tile of a block and the columns from o on to the epilogue, or stores it in y. */
static inline void lanes_store(const struct lanes *l, const struct lanes_block *b, int64_t o, const char *tile, void *y,
			       const struct tri_epilogue *epilogue)
{
	const struct tri_conv_dims *c = &l->c;
	int64_t width = c->out - o < LANES_COLUMNS ? c->out - o : LANES_COLUMNS;
	int64_t rows = b->columns == c->out_width ? 1 : b->rows, n = b->rows * b->columns / rows;
	for (int64_t r = 0; r < rows; r++, tile += n * LANES_BYTES) {
		int64_t p = (b->row + r) * c->out_width + b->column;
		if (epilogue) {
			epilogue->fn(epilogue, tile, LANES_COLUMNS, (int64_t[]){b->image, p, o}, n, width);
			continue;
		}
		char *to = (char *)y + ((b->image * tri_conv_positions(c) + p) * c->out + o) * 4;
		for (int64_t i = 0; i < n; i++, to += c->out * 4)
			if (width == LANES_COLUMNS)
				memcpy(to, tile + i * LANES_BYTES, LANES_BYTES);
			else
				memcpy(to, tile + i * LANES_BYTES, (size_t)width * 4);
	}
}

/* The kernels of small groups. False: the groups are not small, and nothing is computed. */
_Bool tri_conv_lanes_i8(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue);
struct tri_trits;
/* `trits`: in place of the weights in bufs, or NULL. `chooses`: x has numbers that a zero trit must skip. */
_Bool tri_conv_lanes_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_trits *trits, _Bool chooses,
			 const struct tri_epilogue *epilogue);
#endif

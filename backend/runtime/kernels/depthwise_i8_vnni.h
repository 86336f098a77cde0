/* Depthwise windows with AVX-512 VNNI. The bytes of four lines of an input column become a quad of each channel, which vpdpbusd multiplies by the
 * trits of a column of the window; the windows of a row share the quads. Inputs count as unsigned x + 128: sum((x + 128)·t) is sum(x·t) and
 * 128·sum(t), with which the sums begin. */
#include <immintrin.h>

enum { QUAD = 4, QUADS = PANEL * QUAD /* bytes of a column */, MOST_TAPS = 32, MOST_QUADS = 64 << 10, TILE = 8 };

/* What a thread uses for a block. Groups of four lines of a window follow each other in `quads` and `trits`. */
struct quads_space {
	_Alignas(64) uint8_t quads[MOST_QUADS + 2 * QUADS];
	_Alignas(64) int32_t trits[MOST_TAPS][PANEL];
	_Alignas(64) int32_t start[PANEL];
	int32_t places[MOST_TAPS]; /* of the quads of a window */
};

static int64_t quads_groups(const struct job *job) { return conv_parts(job->b.c.kernel_height, QUAD); }
static int64_t quads_span(const struct job *job) { return conv_span(&job->b.c, job->b.columns); }
static _Bool quads_fit(const struct job *job)
{
	return quads_groups(job) * job->b.c.kernel_width <= MOST_TAPS && quads_groups(job) * quads_span(job) * QUADS <= MOST_QUADS;
}

/* Element k of the window of a channel: bits 8 (k % 4) + 2 (k / 4 % 4) of the word of its step. */
static void quads_expand(const struct job *job, int64_t panel, struct quads_space *v)
{
	const struct tri_conv_dims *c = &job->b.c;
	int64_t run = tri_conv_run(1, c->kernel_width), terms = c->kernel_height * run;
	int halves = tri_trit2_halves(c->out, panel);
	const uint8_t *w = job->w + tri_trit2_offset(terms, panel);
	memset(v->trits, 0, (size_t)(quads_groups(job) * c->kernel_width) * sizeof v->trits[0]);
	for (int h = 0; h < halves; h++) {
		__m512i sum = _mm512_setzero_si512();
		for (int64_t line = 0; line < c->kernel_height; line++)
			for (int64_t column = 0; column < c->kernel_width; column++) {
				int64_t k = line * run + column;
				const uint8_t *at = w + (k / TRI_TRIT2_STEP * halves + h) * TRI_TRIT2_BLOCK;
				int32_t *to = v->trits[line / QUAD * c->kernel_width + column] + h * TRI_TRIT2_LANES;
				__m512i t = _mm512_srl_epi32(_mm512_loadu_si512(at),
							     _mm_cvtsi64_si128(8 * (k % 4) + k % TRI_TRIT2_STEP / 4 * 2));
				t = _mm512_sub_epi32(_mm512_and_si512(t, _mm512_set1_epi32(3)), _mm512_set1_epi32(1));
				sum = _mm512_sub_epi32(sum, t);
				t = _mm512_sll_epi32(_mm512_and_si512(t, _mm512_set1_epi32(255)), _mm_cvtsi64_si128(line % QUAD * 8));
				_mm512_store_si512(to, _mm512_or_si512(_mm512_load_si512(to), t));
			}
		_mm512_store_si512(v->start + h * TRI_TRIT2_LANES, _mm512_slli_epi32(sum, 7));
	}
}

/* Four lines of the image, and the bytes from one column to the next: 0 for a line outside. */
struct lines {
	const int8_t *at[QUAD];
	int64_t step[QUAD];
};
static const int8_t outside[PANEL];

static struct lines lines_at(const struct job *job, const int8_t *image, int64_t row, int64_t group)
{
	const struct tri_conv_dims *c = &job->b.c;
	struct lines l;
	for (int64_t i = 0; i < QUAD; i++) {
		int64_t k = group * QUAD + i, h = row * c->stride_height - c->pad_top + k * c->dilation_height;
		_Bool inside = k < c->kernel_height && h >= 0 && h < c->height;
		l.at[i] = inside ? image + h * c->width * c->channels : outside;
		l.step[i] = inside ? c->channels : 0;
	}
	return l;
}

/* One line of two columns, as unsigned numbers, in the order in which unpacking the bytes of four lines gives quads in order. */
TRI_INLINE __m512i two_columns(const int8_t *a, const int8_t *b, __mmask32 lanes)
{
	const __m512i order = _mm512_setr_epi32(0, 4, 16, 20, 1, 5, 17, 21, 2, 6, 18, 22, 3, 7, 19, 23);
	__m512i low = _mm512_castsi256_si512(_mm256_maskz_loadu_epi8(lanes, a)),
		high = _mm512_castsi256_si512(_mm256_maskz_loadu_epi8(lanes, b));
	return _mm512_xor_si512(_mm512_permutex2var_epi32(low, order, high), _mm512_set1_epi8((char)128));
}

/* Stores the quads of n columns, two at a time; there is room for one more. */
TRI_INLINE void interleave(const struct lines *l, int64_t n, __mmask32 lanes, const int L, uint8_t *out)
{
	const int8_t *at[QUAD];
	for (int i = 0; i < L; i++)
		at[i] = l->at[i];
	for (int64_t j = 0; j < n; j += 2, out += 2 * QUADS) {
		__m512i x[QUAD] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
		int64_t next = j + 1 < n;
#pragma GCC unroll 4
		for (int i = 0; i < L; i++, at[i - 1] += 2 * l->step[i - 1])
			x[i] = two_columns(at[i], at[i] + next * l->step[i], lanes);
		__m512i low = _mm512_unpacklo_epi8(x[0], x[1]), high = _mm512_unpackhi_epi8(x[0], x[1]);
		__m512i low2 = _mm512_unpacklo_epi8(x[2], x[3]), high2 = _mm512_unpackhi_epi8(x[2], x[3]);
		_mm512_store_si512(out, _mm512_unpacklo_epi16(low, low2));
		_mm512_store_si512(out + 64, _mm512_unpackhi_epi16(low, low2));
		_mm512_store_si512(out + 128, _mm512_unpacklo_epi16(high, high2));
		_mm512_store_si512(out + 192, _mm512_unpackhi_epi16(high, high2));
	}
}

/* The quads of the lines that a row of windows reads. */
static void quads_read(const struct job *job, const struct conv_block *k, int64_t row, int64_t panel, struct quads_space *v)
{
	const struct tri_conv_dims *c = &job->b.c;
	const int8_t *image = job->x + k->image * c->height * c->width * c->channels;
	int64_t from = k->column * c->stride_width - c->pad_left, span = conv_span(c, k->columns), channel = panel * PANEL;
	int64_t low = conv_clamp(-from, 0, span), high = conv_clamp(c->width - from, low, span), width = c->channels - channel;
	__mmask32 lanes = width < PANEL ? ((__mmask32)1 << width) - 1 : (__mmask32)-1;
	for (int64_t g = 0; g < quads_groups(job); g++) {
		struct lines l = lines_at(job, image, row, g);
		uint8_t *out = v->quads + g * quads_span(job) * QUADS;
		for (int i = 0; i < QUAD; i++)
			l.at[i] += l.step[i] ? (from + low) * l.step[i] + channel : 0;
		memset(out, 128, (size_t)(low * QUADS));
		if (c->kernel_height - g * QUAD == 3)
			interleave(&l, high - low, lanes, 3, out + low * QUADS);
		else
			interleave(&l, high - low, lanes, QUAD, out + low * QUADS);
		memset(out + high * QUADS, 128, (size_t)((span - high) * QUADS));
	}
}

/* Stores the sums of R windows, `step` bytes apart. */
TRI_INLINE void quads_tile(const struct quads_space *v, const uint8_t *x, int64_t step, int64_t taps, const int R, int32_t *y, int64_t ld)
{
	__m512i sum[TILE][2];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
		for (int h = 0; h < 2; h++)
			sum[r][h] = _mm512_load_si512(v->start + h * TRI_TRIT2_LANES);
	for (int64_t t = 0; t < taps; t++) {
		const uint8_t *at = x + v->places[t];
		__m512i low = _mm512_load_si512(v->trits[t]), high = _mm512_load_si512(v->trits[t] + TRI_TRIT2_LANES);
#pragma GCC unroll 8
		for (int r = 0; r < R; r++) {
			sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], _mm512_load_si512(at + r * step), low);
			sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], _mm512_load_si512(at + r * step + QUADS / 2), high);
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
		for (int h = 0; h < 2; h++)
			_mm512_storeu_si512(y + r * ld + h * TRI_TRIT2_LANES, sum[r][h]);
}

/* Multiplies the windows of a row, in tiles of about the same size. */
static void quads_row(const struct quads_space *v, int64_t columns, int64_t step, int64_t taps, int32_t *y, int64_t ld)
{
	int64_t tiles = conv_parts(columns, TILE), end = 0;
	for (int64_t t = 0; t < tiles; t++) {
		int64_t from = end, n = (end = columns * (t + 1) / tiles) - from;
		const uint8_t *x = v->quads + from * step;
		int32_t *to = y + from * ld;
#define CASE(R) \
	case R: quads_tile(v, x, step, taps, R, to, ld); break;
		switch (n) {
			CASE(1)
			CASE(2)
			CASE(3)
			CASE(4)
			CASE(5)
			CASE(6)
			CASE(7)
			CASE(8)
		}
#undef CASE
	}
}

/* Multiplies the windows of a block by a panel. */
static void quads_multiply(const struct job *job, const struct conv_block *k, struct quads_space *v, int64_t panel, int32_t *y, int64_t ld)
{
	const struct tri_conv_dims *c = &job->b.c;
	int64_t taps = quads_groups(job) * c->kernel_width;
	for (int64_t t = 0; t < taps; t++)
		v->places[t] = (int32_t)((t / c->kernel_width * quads_span(job) + t % c->kernel_width * c->dilation_width) * QUADS);
	quads_expand(job, panel, v);
	for (int64_t r = 0; r < k->rows; r++) {
		quads_read(job, k, k->row + r, panel, v);
		quads_row(v, k->columns, c->stride_width * QUADS, taps, y + r * k->columns * ld, ld);
	}
}

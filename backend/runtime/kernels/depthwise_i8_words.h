/* Depthwise windows on any processor: trits are expanded to int16 for a block of positions, and vectors hold channels. 16 bits hold the sums of
 * CHUNK terms. The inputs of a block are copied with the zeros around the image, unless no window leaves it. */
#if defined(__AVX512BW__)
#include <immintrin.h>
enum { LANES = 32, ROWS = 8 };
#elif defined(__AVX2__)
enum { LANES = 16, ROWS = 4 };
#else
enum { LANES = 8, ROWS = 4 };
#endif
enum { CHUNK = 64 }; /* 64 · 128 < 2^15 */

typedef int8_t bytes __attribute__((vector_size(LANES)));
typedef int16_t words __attribute__((vector_size(LANES * 2)));
typedef int32_t numbers __attribute__((vector_size(LANES * 4)));
typedef uint32_t packed __attribute__((vector_size(TRI_TRIT2_BLOCK))); /* a half of a step */
typedef int16_t half __attribute__((vector_size(TRI_TRIT2_LANES * 2)));

/* Some elements of the windows of a block and a panel. */
struct chunk {
	int64_t first, n;
	int32_t places[CHUNK]; /* in a window */
	_Alignas(64) int16_t trits[CHUNK][PANEL];
};

/* Element k of the window of a channel: bits 8 (k % 4) + 2 (k / 4 % 4) of the word of its step. */
static void expand(const struct job *job, int64_t panel, struct chunk *c)
{
	const struct tri_conv_dims *v = &job->b.c;
	int64_t run = tri_conv_run(1, v->kernel_width), terms = v->kernel_height * run;
	int halves = tri_trit2_halves(v->out, panel);
	const uint8_t *w = job->w + tri_trit2_offset(terms, panel);
	for (int64_t i = 0; i < c->n; i++) {
		int64_t line = (c->first + i) / v->kernel_width, column = (c->first + i) % v->kernel_width, k = line * run + column;
		uint32_t shift = (uint32_t)(8 * (k % 4) + k % TRI_TRIT2_STEP / 4 * 2);
		c->places[i] = (int32_t)(line * job->b.line + column * job->b.size);
		for (int h = 0; h < halves; h++) {
			packed at;
			memcpy(&at, w + (k / TRI_TRIT2_STEP * halves + h) * TRI_TRIT2_BLOCK, sizeof at);
			half trits = __builtin_convertvector((at >> shift & 3) - 1, half);
			memcpy(c->trits[i] + h * TRI_TRIT2_LANES, &trits, sizeof trits);
		}
	}
}

/* GCC widens such a vector in two halves. */
TRI_INLINE words widen(bytes x)
{
#if defined(__AVX512BW__)
	return (words)_mm512_cvtepi8_epi16((__m256i)x);
#else
	return __builtin_convertvector(x, words);
#endif
}

/* Stores the sums of R windows and LANES channels, or adds them to those of the chunks before. */
TRI_INLINE void micro(const struct chunk *c, const int8_t *const *x, int64_t channel, int lane, const int R, int32_t *y, int64_t ld)
{
	words sum[ROWS];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
		sum[r] = (words){0};
	for (int64_t i = 0; i < c->n; i++) {
		words trit;
		memcpy(&trit, c->trits[i] + lane, sizeof trit);
#pragma GCC unroll 8
		for (int r = 0; r < R; r++) {
			bytes a;
			memcpy(&a, x[r] + c->places[i] + channel, sizeof a);
			sum[r] += widen(a) * trit;
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++) {
		numbers wide = __builtin_convertvector(sum[r], numbers), old = {0};
		if (c->first)
			memcpy(&old, y + r * ld, sizeof old);
		wide += old;
		memcpy(y + r * ld, &wide, sizeof wide);
	}
}

/* The same for channels that do not fill a vector. */
static void narrow(const struct chunk *c, const int8_t *x, int lane, int lanes, int32_t *y)
{
	for (int l = 0; l < lanes; l++) {
		int32_t sum = c->first ? y[l] : 0;
		for (int64_t i = 0; i < c->n; i++)
			sum += x[c->places[i] + l] * c->trits[i][lane + l];
		y[l] = sum;
	}
}

/* Multiplies n windows by `width` channels of a panel. */
static void multiply(const struct chunk *c, const int8_t *const *x, int64_t n, int64_t channel, int width, int32_t *y, int64_t ld)
{
	int lane = 0;
	for (; lane + LANES <= width; lane += LANES) {
		int64_t r = 0;
		for (; r + ROWS <= n; r += ROWS)
			micro(c, x + r, channel + lane, lane, ROWS, y + r * ld + lane, ld);
		for (; r < n; r++)
			micro(c, x + r, channel + lane, lane, 1, y + r * ld + lane, ld);
	}
	for (int64_t r = 0; lane < width && r < n; r++)
		narrow(c, x[r] + channel + lane, lane, width - lane, y + r * ld + lane);
}

/* What a thread uses for a block. */
struct words_space {
	_Alignas(64) char copy[CONV_COPY_BYTES + CONV_SLACK];
	const int8_t *windows[CONV_POSITIONS];
};

/* Makes the windows of a block. */
static void words_read(const struct job *job, const struct conv_block *k, struct words_space *v)
{
	const struct conv_blocks *b = &job->b;
	const int8_t *x = job->x + k->image * b->c.height * b->c.width * b->c.channels;
	x = (const int8_t *)conv_block_read(b, k, (const char *)x, v->copy);
	for (int64_t j = 0; j < k->rows * k->columns; j++)
		v->windows[j] = x + j / k->columns * b->row + conv_element(b, j % k->columns) * b->size;
}

/* Multiplies them by a panel. */
static void words_multiply(const struct job *job, const struct conv_block *k, struct words_space *v, int64_t panel, int32_t *y, int64_t ld)
{
	int width = (int)conv_clamp(job->b.c.out - panel * PANEL, 0, PANEL);
	struct chunk c;
	for (c.first = 0; c.first < job->elements; c.first += CHUNK) {
		c.n = conv_clamp(job->elements - c.first, 0, CHUNK);
		expand(job, panel, &c); /* what follows a copied window may be multiplied too: there is more after the last */
		multiply(&c, v->windows, k->rows * k->columns, panel * PANEL, job->b.copied ? PANEL : width, y, ld);
	}
}

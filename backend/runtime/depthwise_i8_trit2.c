/* y int32 [N, P, C] = x int8 [N, H, W, C], each channel convolved with its own window of w TRIT2 [K, C], where P = OH · OW and K = KH lines of KW
 * terms, padded to quads; exact. Input and result are channels-last, and vectors hold channels. Trits are expanded to int16 for a block of
 * positions; 16 bits hold the sums of CHUNK terms. */
#include "conv_block.h"
#include "trit2.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
enum { LANES = 32, ROWS = 8 };
#elif defined(__AVX2__)
enum { LANES = 16, ROWS = 4 };
#else
enum { LANES = 8, ROWS = 4 };
#endif
enum { CHUNK = 64, PANEL = TRI_TRIT2_PANEL }; /* 64 · 128 < 2^15 */

typedef int8_t bytes __attribute__((vector_size(LANES)));
typedef int16_t words __attribute__((vector_size(LANES * 2)));
typedef int32_t numbers __attribute__((vector_size(LANES * 4)));
typedef uint32_t packed __attribute__((vector_size(TRI_TRIT2_BLOCK))); /* a half of a step */
typedef int16_t half __attribute__((vector_size(TRI_TRIT2_LANES * 2)));

struct job {
	struct tri_context *ctx;
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	struct conv_blocks b;
	int64_t elements, positions; /* elements of a window, P */
	const struct tri_epilogue *epilogue;
};

/* Some elements of the windows of a block and a panel. */
struct chunk {
	int64_t first, n;
	int32_t places[CHUNK]; /* in a window */
	_Alignas(64) int16_t trits[CHUNK][PANEL];
};

/* Element k of the window of a channel: bits 8 (k % 4) + 2 (k / 4 % 4) of the word of its step. */
static void expand(const struct job *job, int64_t panel, struct chunk *c)
{
	const struct tri_conv *v = &job->b.c;
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
struct space {
	_Alignas(64) char copy[CONV_COPY_BYTES + CONV_SLACK];
	_Alignas(64) int32_t tile[CONV_POSITIONS][PANEL];
	const int8_t *windows[CONV_POSITIONS];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	const struct conv_blocks *b = &job->b;
	struct conv_block k = conv_block_at(b, i);
	struct space *v = tri_space(job->ctx);
	const int8_t *x = job->x + k.image * b->c.height * b->c.width * b->c.channels;
	int64_t n = k.rows * k.columns, p = k.row * b->c.out_width + k.column;
	x = (const int8_t *)conv_block_read(b, &k, (const char *)x, v->copy);
	for (int64_t j = 0; j < n; j++)
		v->windows[j] = x + j / k.columns * b->row + conv_element(b, j % k.columns) * b->size;
	for (int64_t o = 0; o < b->c.out; o += PANEL) {
		int width = (int)conv_clamp(b->c.out - o, 0, PANEL);
		_Bool direct = !job->epilogue && width == PANEL;
		int32_t *to = job->y + (k.image * job->positions + p) * b->c.out + o, *y = direct ? to : v->tile[0];
		struct chunk c;
		for (c.first = 0; c.first < job->elements; c.first += CHUNK) {
			c.n = conv_clamp(job->elements - c.first, 0, CHUNK);
			expand(job, o / PANEL, &c); /* what follows a copied window may be multiplied too: there is more after the last */
			multiply(&c, v->windows, n, o, b->copied ? PANEL : width, y, direct ? b->c.out : PANEL);
		}
		if (job->epilogue)
			job->epilogue->fn(job->epilogue, v->tile, PANEL, (int64_t[]){k.image, p, o}, n, width);
		else
			for (int64_t r = 0; !direct && r < n; r++)
				memcpy(to + r * b->c.out, v->tile[r], (size_t)width * sizeof(int32_t));
	}
}

void tri_depthwise_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct tri_conv c = tri_conv_of(dims);
	if (c.batch <= 0 || c.out <= 0 || c.out_height <= 0 || c.out_width <= 0)
		return;
	struct job job = {ctx,
			  bufs[0],
			  bufs[1],
			  epilogue ? NULL : bufs[2],
			  conv_blocks_make(&c, c.channels, sizeof(int8_t)),
			  c.kernel_height * c.kernel_width,
			  tri_conv_positions(&c),
			  epilogue};
	tri_parallel(ctx, task, &job, c.batch * job.b.row_blocks * job.b.column_blocks);
}

/* y int32 [N, P, O] = x int8 [N, H, W, C] convolved in small groups with w TRIT2 [K, O], exact. A unit has four channels of an element of the
 * window, as unsigned bytes x + 128; so 128 times the sum of the trits is subtracted. The last unit of a group may have channels of the next one,
 * which its trits are 0 for. */
#include "backend/runtime/kernels/conv_lanes.h"
#include "backend/runtime/pack/trit2.h"

#if defined(__AVX512VNNI__)
enum { VEC = 16, ROWS = 8 };
typedef __m512i vec;
#elif defined(__AVX2__)
enum { VEC = 8, ROWS = 4 };
typedef __m256i vec;
#elif defined(__SSSE3__)
enum { VEC = 4, ROWS = 2 };
typedef __m128i vec;
#else
enum { VEC = 4, ROWS = 2 };
typedef int32_t vec __attribute__((vector_size(16)));
#endif
enum { VECS = LANES_COLUMNS / VEC, UNIT = 4 };

typedef uint32_t words __attribute__((vector_size(LANES_BYTES)));

struct job {
	struct tri_context *ctx;
	struct lanes l;
	void *const *bufs;
	const struct tri_epilogue *epilogue;
	int32_t places[LANES_TERMS];
};
/* What a thread uses for a block. */
struct space {
	_Alignas(64) char spread[LANES_SPREAD];
	_Alignas(64) int32_t tile[LANES_POSITIONS + LANES_TILE][LANES_COLUMNS];
	_Alignas(64) int8_t trits[LANES_TERMS][LANES_BYTES]; /* of each unit */
	_Alignas(64) int32_t start[LANES_COLUMNS];           /* of sums */
	const char *windows[LANES_POSITIONS + LANES_TILE];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

TRI_INLINE vec load(const void *from)
{
	vec v;
	memcpy(&v, from, sizeof v);
	return v;
}

/* Adds the products of unsigned bytes x and signed bytes w, four to each sum. */
TRI_INLINE vec add_products(vec sum, vec x, vec w)
{
#if defined(__AVX512VNNI__)
	return _mm512_dpbusd_epi32(sum, x, w);
#elif defined(__AVX2__)
	return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), _mm256_set1_epi16(1)));
#elif defined(__SSSE3__)
	return _mm_add_epi32(sum, _mm_madd_epi16(_mm_maddubs_epi16(x, w), _mm_set1_epi16(1)));
#else
	for (int i = 0; i < VEC; i++)
		for (int k = 0; k < UNIT; k++)
			sum[i] += (uint8_t)((uint32_t)x[i] >> 8 * k) * (int8_t)((uint32_t)w[i] >> 8 * k);
	return sum;
#endif
}

/* Computes ROWS positions. */
TRI_INLINE void micro(const struct job *job, const struct space *v, const char *const *x, int64_t units, int32_t *y)
{
	vec acc[ROWS][VECS];
#pragma GCC unroll 8
	for (int r = 0; r < ROWS; r++)
		memcpy(acc[r], v->start, sizeof acc[r]);
	for (int64_t t = 0; t < units; t++) {
		int64_t place = job->places[t];
#pragma GCC unroll 4
		for (int k = 0; k < VECS; k++) {
			vec w = load(v->trits[t] + k * VEC * UNIT);
#pragma GCC unroll 8
			for (int r = 0; r < ROWS; r++)
				acc[r][k] = add_products(acc[r][k], load(x[r] + place + k * VEC * UNIT), w);
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < ROWS; r++)
		memcpy(y + r * LANES_COLUMNS, acc[r], sizeof acc[r]);
}

/* Expands the trits of the 16 columns from o on. */
static void conv_lanes_i8_expand(const struct job *job, int64_t o, struct space *v)
{
	const struct lanes *l = &job->l;
	int64_t run = tri_conv_run(l->channels, l->c.kernel_width), K = run * l->c.kernel_height, panel = o / TRI_TRIT2_PANEL;
	int halves = tri_trit2_halves(l->c.out, panel);
	const uint8_t *w =
		(const uint8_t *)job->bufs[1] + tri_trit2_offset(K, panel) + o % TRI_TRIT2_PANEL / TRI_TRIT2_LANES * TRI_TRIT2_BLOCK;
	words sums = {0};
	for (int64_t e = 0, t = 0; e < l->c.kernel_height * l->c.kernel_width; e++)
		for (int64_t u = 0; u < l->units; u++, t++) {
			words unit = {0};
			for (int64_t k = 0; k < UNIT && u * UNIT + k < l->channels; k++) {
				int64_t at = e / l->c.kernel_width * run + e % l->c.kernel_width * l->channels + u * UNIT + k;
				words packed, trits;
				memcpy(&packed, w + at / TRI_TRIT2_STEP * halves * TRI_TRIT2_BLOCK, sizeof packed);
				trits = (packed >> (uint32_t)(8 * (at % 4) + at % TRI_TRIT2_STEP / 4 * 2) & 3) - 1;
				unit |= (trits & 255) << (uint32_t)(8 * k);
				sums += trits;
			}
			memcpy(v->trits[t], &unit, sizeof unit);
		}
	sums *= (uint32_t)-128;
	memcpy(v->start, &sums, sizeof sums);
}

static void conv_lanes_i8_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	const struct lanes *l = &job->l;
	struct space *v = tri_space(job->ctx);
	struct lanes_block b = lanes_block_at(l, i / l->vectors);
	int64_t o = i % l->vectors * LANES_COLUMNS, n = b.rows * b.columns, units = l->c.kernel_height * l->c.kernel_width * l->units;
	struct spread s = lanes_spread(l, o);
	conv_lanes_i8_expand(job, o, v);
	lanes_read(l, &s, &b, job->bufs[0], 0x80808080u, v->spread);
	lanes_windows(l, &b, v->spread, ROWS, v->windows);
	for (int64_t p = 0; p < n; p += ROWS)
		micro(job, v, v->windows + p, units, v->tile[p]);
	lanes_store(l, &b, o, (const char *)v->tile, job->epilogue ? NULL : job->bufs[2], job->epilogue);
}

_Bool tri_conv_lanes_i8(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {.ctx = ctx, .bufs = bufs, .epilogue = epilogue};
	if (!lanes_make(dims, sizeof(int8_t), &job.l))
		return 0;
	lanes_places(&job.l, job.places);
	tri_parallel(ctx, conv_lanes_i8_task, &job, job.l.c.batch * job.l.row_blocks * job.l.column_blocks * job.l.vectors);
	return 1;
}

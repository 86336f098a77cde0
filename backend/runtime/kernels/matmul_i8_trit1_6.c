/* y int32 [M, N] = x int8 [M, K] · w TRIT1_6 [K, N], exact. Some groups of a panel at a time are unpacked to TRIT2, which the L1 cache holds, and
 * multiplied by the tiles of i8_trit2_tile.h. With VBMI, one row of x is multiplied by fields in registers. */
#include "backend/runtime/kernels/i8_trit2_tile.h"
#include "backend/runtime/kernels/product_blocks.h"
#include "backend/runtime/pack/trit1_6.h"

enum { UNPACKED_GROUPS = 16, MOST_GROUPS = 6400 }; /* of a sum: 25,600 lines of 162·4·128 stay below 2^31 */
_Static_assert(ROW_BLOCK % TILE_COLS == 0 && UNPACKED_GROUPS * TRI_TRIT1_6_STEPS <= TILE_STEPS, "tiles");
_Static_assert(MOST_GROUPS * 4ll * 162 * 4 * 128 < 1ll << 31, "sums");

struct job {
	struct product product;
	const int8_t *x;
	const uint8_t *w;
	const int32_t *starts; /* of sums: -sum(x) of each row */
	_Bool has_vbmi;
};

#if defined(__AVX512VNNI__)
#define ROW(c) (uint8_t)(c % 3 | c / 3 % 3 << 2 | c / 9 % 3 << 4 | c / 27 << 6)
#define ROWS_8(c) ROW((c)), ROW((c + 1)), ROW((c + 2)), ROW((c + 3)), ROW((c + 4)), ROW((c + 5)), ROW((c + 6)), ROW((c + 7))
static const uint8_t field_table[128] = {ROWS_8(0),  ROWS_8(8),  ROWS_8(16), ROWS_8(24), ROWS_8(32), ROWS_8(40),
					 ROWS_8(48), ROWS_8(56), ROWS_8(64), ROWS_8(72), ROW(80)};
#include "backend/runtime/kernels/i8_trit1_6_vbmi.h"
#endif

#if defined(__SSSE3__)
#include "backend/runtime/kernels/i8_trit1_6_shuffle.h"
#else
/* Takes the digit of a power of three from v. The compiler makes vectors of this. */
TRI_INLINE uint8_t take_digit(uint8_t *v, uint8_t power)
{
	uint8_t digit = (uint8_t)((*v >= power) + (*v >= 2 * power));
	for (int k = 0; k < 2; k++) {
		uint8_t less = (uint8_t)(*v - power);
		*v = less < *v ? less : *v;
	}
	return digit;
}

static void unpack_plain(const uint8_t *restrict w, int64_t groups, int halves, uint8_t *restrict out)
{
	int64_t stride = halves * TRI_TRIT2_BLOCK;
	for (int64_t g = 0; g < groups; g++, w += 4 * stride, out += 5 * stride) {
		memset(out + 4 * stride, 0, (size_t)stride);
		for (int j = 0; j < TRI_TRIT1_6_LINES; j++)
			for (int i = 0; i < stride; i++) {
				uint8_t v = w[j * stride + i];
				out[4 * stride + i] |= (uint8_t)(take_digit(&v, TRI_TRIT1_6_UNIT) << 2 * j);
				uint8_t f3 = take_digit(&v, 27), f2 = take_digit(&v, 9), f1 = take_digit(&v, 3);
				out[j * stride + i] = (uint8_t)(v | f1 << 2 | f2 << 4 | f3 << 6);
			}
	}
}
#endif

static void unpack(const struct job *job, const uint8_t *w, int64_t groups, int halves, uint8_t *out)
{
#if defined(__AVX512VNNI__)
	if (job->has_vbmi) {
		unpack_vbmi(w, groups, halves, out);
		return;
	}
#endif
	(void)job;
	unpack_plain(w, groups, halves, out);
}

/* Adds the products of rows m … end-1 and groups that were unpacked; k: the first term. A part of a group reads a padded copy. */
static void add_groups(const struct job *job, const uint8_t *unpacked, int64_t k, int64_t groups, int halves, int64_t m, int64_t end,
		       int32_t *y, int64_t ld)
{
	static const int32_t zeros[TILE_COLS];
	_Alignas(64) int32_t part[TILE_COLS][TRI_TRIT2_PANEL];
	int8_t tail[TILE_COLS][TRI_TRIT1_6_GROUP] = {{0}};
	for (int64_t r = m; r < end; r += TILE_COLS) {
		int cols = end - r < TILE_COLS ? (int)(end - r) : TILE_COLS;
		struct tile_x x = {.step = TRI_TRIT2_STEP};
		for (int c = 0; c < cols; c++) {
			x.row[c] = job->x + (r + c) * job->product.K + k;
			if (job->product.K - k < groups * TRI_TRIT1_6_GROUP)
				x.row[c] = memcpy(tail[c], x.row[c], (size_t)(job->product.K - k));
		}
		tile_sum(unpacked, &x, groups * TRI_TRIT1_6_STEPS, halves, cols, 0, (struct tile_y){part[0], TRI_TRIT2_PANEL, zeros});
		for (int c = 0; c < cols; c++)
			for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
				y[(r - m + c) * ld + l] += part[c][l];
	}
}

#if defined(__AVX512VNNI__)
/* Computes a row of one panel. */
static void matmul_i8_trit1_6_sum_row(const struct job *job, const uint8_t *w, int halves, int64_t m, int32_t sums[TRI_TRIT2_PANEL])
{
	int64_t whole = job->product.K / TRI_TRIT1_6_GROUP, rest = job->product.K % TRI_TRIT1_6_GROUP, n;
	_Alignas(64) int32_t part[TRI_TRIT2_PANEL];
	int8_t tail[TRI_TRIT1_6_GROUP] = {0};
	for (int64_t g = 0; g < whole + (rest != 0); g += n) {
		const int8_t *x = job->x + m * job->product.K + g * TRI_TRIT1_6_GROUP;
		n = g == whole ? 1 : whole - g < MOST_GROUPS ? whole - g : MOST_GROUPS;
		row_vbmi(w + g * TRI_TRIT1_6_LINES * halves * TRI_TRIT2_BLOCK, g == whole ? memcpy(tail, x, (size_t)rest) : x, n, halves,
			 part);
		for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
			sums[l] += part[l];
	}
}
#endif

static void sum_panel(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	const struct job *job = (const struct job *)p;
	_Alignas(64) uint8_t unpacked[UNPACKED_GROUPS * TRI_TRIT1_6_STEPS * 2 * TRI_TRIT2_BLOCK];
	int halves = tri_trit2_halves(job->product.N, panel);
	const uint8_t *w = job->w + tri_trit1_6_offset(job->product.K, panel);
	for (int64_t r = m; r < end; r++)
		for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
			y[(r - m) * ld + l] = job->starts[r];
#if defined(__AVX512VNNI__)
	if (job->has_vbmi && end - m == 1) {
		matmul_i8_trit1_6_sum_row(job, w, halves, m, y);
		return;
	}
#endif
	/* The last group, if it is a part of one, is alone: its rows of x are copied. */
	int64_t whole = job->product.K / TRI_TRIT1_6_GROUP, groups = tri_trit1_6_groups(job->product.K), n;
	for (int64_t g = 0; g < groups; g += n, w += n * TRI_TRIT1_6_LINES * halves * TRI_TRIT2_BLOCK) {
		n = g == whole ? 1 : whole - g < UNPACKED_GROUPS ? whole - g : UNPACKED_GROUPS;
		unpack(job, w, n, halves, unpacked);
		add_groups(job, unpacked, g * TRI_TRIT1_6_GROUP, n, halves, m, end, y, ld);
	}
}

void tri_matmul_i8_trit1_6(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	int64_t K = d->K;
	int32_t starts[ROW_CHUNK];
	for (int64_t m = 0; m < d->M && d->N > 0; m += ROW_CHUNK) {
		struct job job = {product_rows(d, bufs, epilogue, m, ROW_CHUNK), (const int8_t *)bufs[0] + m * K, bufs[1], starts,
				  tri_has_vbmi(ctx)};
		job.product.sum = sum_panel;
		job.product.panel = TRI_TRIT2_PANEL;
		for (int64_t r = 0; r < job.product.M; r++)
			starts[r] = -i8_sum(job.x + r * K, K, 1, 0);
		product_run(ctx, &job.product, K * TRI_TRIT2_PANEL);
	}
}

/* y float32 [M, N] = x float32 [M, K] · w TRIT2 [K, N] by additions and subtractions alone. A zero trit skips its activation, even a
 * NaN. The order of a sum is the same on every processor, for any M and any number of threads. K is divided into blocks of 64 steps. In
 * a block, four sums c0 … c3 add k mod 4 = 0 … 3 in ascending k from +0; the block is (c0 + c1) + (c2 + c3). Blocks are added in
 * ascending order. */
#include <string.h>
#include "kernel.h"
#include "trit2.h"

enum { MAX_COLS = 4, BLOCK_STEPS = 64, ROW_BLOCK = 32 };

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include "f32_trit2_avx512.h"
#elif defined(__AVX2__)
#include "f32_trit2_avx2.h"
#else
#include "f32_trit2_portable.h"
#endif
_Static_assert((int)TILE_COLS <= (int)MAX_COLS, "accumulators");

struct job {
	const float *x;
	const uint8_t *w;
	float *y;
	int64_t M, K, N;
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

/* Multiplies up to TILE_COLS rows of x by one panel. A block that ends in a partial step reads a zero-padded copy of x. */
static void tile(const struct job *job, int64_t panel, int64_t m, int cols, float (*acc)[TRI_TRIT2_PANEL])
{
	float padded[MAX_COLS][BLOCK_STEPS * TRI_TRIT2_STEP];
	int halves = tri_trit2_halves(job->N, panel);
	size_t stride = (size_t)halves * TRI_TRIT2_BLOCK;
	const uint8_t *w = job->w + tri_trit2_offset(job->K, panel);
	const float *x = job->x + m * job->K;
	int64_t steps = tri_trit2_steps(job->K);
	memset(acc, 0, (size_t)cols * sizeof acc[0]);
	for (int64_t s = 0; s < steps; s += BLOCK_STEPS) {
		int64_t count = steps - s < BLOCK_STEPS ? steps - s : BLOCK_STEPS, k = s * TRI_TRIT2_STEP;
		if (k + count * TRI_TRIT2_STEP <= job->K) {
			tile_add(w + (size_t)s * stride, x + k, job->K, count, halves, cols, acc);
			continue;
		}
		for (int c = 0; c < cols; c++) {
			memcpy(padded[c], x + c * job->K + k, (size_t)(job->K - k) * sizeof(float));
			memset(padded[c] + (job->K - k), 0, (size_t)(count * TRI_TRIT2_STEP - (job->K - k)) * sizeof(float));
		}
		tile_add(w + (size_t)s * stride, padded[0], BLOCK_STEPS * TRI_TRIT2_STEP, count, halves, cols, acc);
	}
}

/* Computes rows m … end-1 of one panel. */
static void block(const struct job *job, int64_t panel, int64_t m, int64_t end)
{
	_Alignas(64) float acc[ROW_BLOCK][TRI_TRIT2_PANEL];
	int64_t n = panel * TRI_TRIT2_PANEL, width = job->N - n < TRI_TRIT2_PANEL ? job->N - n : TRI_TRIT2_PANEL;
	for (int64_t r = m; r < end; r += TILE_COLS)
		tile(job, panel, r, end - r < TILE_COLS ? (int)(end - r) : TILE_COLS, acc + (r - m));
	if (job->epilogue) {
		job->epilogue->fn(job->epilogue, acc, TRI_TRIT2_PANEL, (int64_t[]){0, m, n}, end - m, width);
		return;
	}
	for (int64_t r = m; r < end; r++)
		memcpy(job->y + r * job->N + n, acc[r - m], (size_t)width * sizeof(float));
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t panel = t / job->grid.rows, m = t % job->grid.rows * ROW_BLOCK;
		block(job, panel, m, m + ROW_BLOCK < job->M ? m + ROW_BLOCK : job->M);
	}
}

void tri_matmul_f32_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {bufs[0], bufs[1], bufs[2], dims[0], dims[1], dims[2], epilogue, {0, 0, 0}};
	if (job.M <= 0 || job.N <= 0)
		return;
	job.grid = tri_grid_make(tri_trit2_panels(job.N), (job.M + ROW_BLOCK - 1) / ROW_BLOCK,
				 4 * job.K * TRI_TRIT2_PANEL * (job.M < ROW_BLOCK ? job.M : ROW_BLOCK));
	tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
}

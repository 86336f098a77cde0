/* y int32 [M, N] = x int8 [M, K] · w TRIT2 [K, N], exact. The tile kernels sum x·(t+1) over unsigned bytes; then sum(x) is subtracted.
 */
#include "i8_trit2_tile.h"

enum { ROW_BLOCK = 64, ROW_CHUNK = 512 };

struct job {
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	int64_t M, K, N;
	const int32_t *sums;
	const struct tri_epilogue *epilogue;
	int64_t first; /* the row of the whole result that y begins with */
	struct tri_grid grid;
};

/* Multiplies up to TILE_COLS rows of x by one panel. */
static void tile(const struct job *job, int64_t panel, int64_t m, int cols, int32_t (*acc)[TRI_TRIT2_PANEL])
{
	int halves = tri_trit2_halves(job->N, panel);
	size_t stride = (size_t)halves * TRI_TRIT2_BLOCK;
	const uint8_t *w = job->w + tri_trit2_offset(job->K, panel);
	const int8_t *x = job->x + m * job->K;
	int64_t whole = job->K / TRI_TRIT2_STEP, rest = job->K % TRI_TRIT2_STEP;
	memset(acc, 0, (size_t)cols * sizeof acc[0]);
	for (int64_t s = 0; s < whole; s += TILE_STEPS)
		tile_add(w + (size_t)s * stride, x + s * TRI_TRIT2_STEP, job->K, whole - s < TILE_STEPS ? whole - s : TILE_STEPS, halves,
			 cols, acc);
	if (rest) {
		int8_t tail[TILE_COLS][TRI_TRIT2_STEP] = {{0}};
		for (int c = 0; c < cols; c++)
			memcpy(tail[c], x + c * job->K + whole * TRI_TRIT2_STEP, (size_t)rest);
		tile_add(w + (size_t)whole * stride, tail[0], TRI_TRIT2_STEP, 1, halves, cols, acc);
	}
	for (int c = 0; c < cols; c++)
		for (int l = 0; l < TRI_TRIT2_PANEL; l++)
			acc[c][l] -= job->sums[m + c];
}

/* Computes rows m … end-1 of one panel. */
static void block(const struct job *job, int64_t panel, int64_t m, int64_t end)
{
	_Alignas(64) int32_t acc[ROW_BLOCK][TRI_TRIT2_PANEL];
	int64_t n = panel * TRI_TRIT2_PANEL, width = job->N - n < TRI_TRIT2_PANEL ? job->N - n : TRI_TRIT2_PANEL;
	for (int64_t r = m; r < end; r += TILE_COLS)
		tile(job, panel, r, end - r < TILE_COLS ? (int)(end - r) : TILE_COLS, acc + (r - m));
	if (job->epilogue) {
		job->epilogue->fn(job->epilogue, acc, TRI_TRIT2_PANEL, (int64_t[]){0, job->first + m, n}, end - m, width);
		return;
	}
	for (int64_t r = m; r < end; r++)
		memcpy(job->y + r * job->N + n, acc[r - m], (size_t)width * sizeof(int32_t));
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

void tri_matmul_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	int64_t M = dims[0], K = dims[1], N = dims[2];
	int32_t sums[ROW_CHUNK];
	for (int64_t m = 0; m < M && N > 0; m += ROW_CHUNK) {
		int64_t rows = M - m < ROW_CHUNK ? M - m : ROW_CHUNK;
		int32_t *y = epilogue ? NULL : (int32_t *)bufs[2] + m * N;
		struct job job = {(const int8_t *)bufs[0] + m * K, bufs[1], y, rows, K, N, sums, epilogue, m, {0, 0, 0}};
		for (int64_t r = 0; r < rows; r++)
			sums[r] = i8_sum(job.x + r * K, K);
		job.grid = tri_grid_make(tri_trit2_panels(N), (rows + ROW_BLOCK - 1) / ROW_BLOCK,
					 K * TRI_TRIT2_PANEL * (rows < ROW_BLOCK ? rows : ROW_BLOCK));
		tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
	}
}

/* y float32 [M, N] = x float32 [M, K] · w float32 [K, N], all row-major. From three rows of x on, panels of w are copied to the stack
 * first, so that they are read in sequence. f32_tile.h says in which order a sum is computed. */
#include "f32_tile.h"

enum { ROW_BLOCK = 96, COPY_ROWS = 3 };
_Static_assert(ROW_BLOCK % ROWS == 0 && WIDE % COLS == 0, "tiles");

struct job {
	const float *x, *w;
	float *y;
	int64_t M, K, N;
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

static void copy_panel(const struct job *job, int64_t n, int64_t width, int64_t k0, int64_t k, float *out)
{
	for (int64_t i = 0; i < k; i++, out += COLS) {
		memcpy(out, job->w + (k0 + i) * job->N + n, (size_t)width * sizeof(float));
		memset(out + width, 0, (size_t)(COLS - width) * sizeof(float));
	}
}

/* Computes `rows` rows from m on of columns n … n+width-1 (at most COLS) over one block of K. */
static void block_narrow(const struct job *job, int64_t n, int64_t width, int64_t m, int64_t rows, int64_t k0, int64_t k,
			 struct f32_out out)
{
	_Alignas(64) float panel[BLOCK * COLS];
	const float *w = job->w + k0 * job->N + n;
	int64_t ldw = job->N;
	if (width < COLS || rows >= COPY_ROWS) {
		copy_panel(job, n, width, k0, k, panel);
		w = panel;
		ldw = COLS;
	}
	for (int64_t r = 0; r < rows; r += ROWS)
		f32_tile(job->x + (m + r) * job->K + k0, job->K, w, ldw, k, rows - r < ROWS ? rows - r : ROWS,
			 (struct f32_out){out.y + r * out.ldy, out.ldy}, width, k0 == 0);
}

/* Computes a tile of the grid: WIDE columns by ROW_BLOCK rows. */
static void tile_wide(const struct job *job, int64_t n, int64_t m)
{
	_Alignas(64) float tile[ROW_BLOCK * WIDE];
	int64_t rows = m + ROW_BLOCK < job->M ? ROW_BLOCK : job->M - m, columns = n + WIDE < job->N ? WIDE : job->N - n;
	struct f32_out out = {tile, WIDE};
	if (!job->epilogue)
		out = (struct f32_out){job->y + m * job->N + n, job->N};
	for (int64_t k0 = 0; k0 == 0 || k0 < job->K; k0 += BLOCK) {
		int64_t k = job->K - k0 < BLOCK ? job->K - k0 : BLOCK;
		if (rows == 1 && columns == WIDE) {
			f32_micro(job->x + m * job->K + k0, job->K, job->w + k0 * job->N + n, job->N, k, 1, WIDE_VECS, out, WIDE, k0 == 0);
			continue;
		}
		for (int64_t c = 0; c < columns; c += COLS)
			block_narrow(job, n + c, columns - c < COLS ? columns - c : COLS, m, rows, k0, k,
				     (struct f32_out){out.y + c, out.ldy});
	}
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, tile, WIDE, (int64_t[]){0, m, n}, rows, columns);
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		tile_wide(job, t / job->grid.rows * WIDE, t % job->grid.rows * ROW_BLOCK);
}

void tri_matmul_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {bufs[0], bufs[1], bufs[2], dims[0], dims[1], dims[2], epilogue, {0, 0, 0}};
	if (job.M <= 0 || job.N <= 0)
		return;
	job.grid = tri_grid_make((job.N + WIDE - 1) / WIDE, (job.M + ROW_BLOCK - 1) / ROW_BLOCK,
				 4 * job.K * WIDE * (job.M < ROW_BLOCK ? job.M : ROW_BLOCK));
	tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
}

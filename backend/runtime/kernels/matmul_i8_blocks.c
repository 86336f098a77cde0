/* y int32 [M, N] = x int8 [M, K] · w TRIT_BLOCKS or TRIT_LISTS [K, N], exact. Rows of x are copied: for blocks as bytes x + 128, without the rows of
 * w that are left out; for lists as whole chunks. */
#include "backend/runtime/kernels/i8_blocks_tile.h"
#include "backend/runtime/kernels/i8_lists_tile.h"

enum { ROW_BLOCK = 64, ROW_CHUNK = 512, COPY_BYTES = 256 << 10, LINE = 64, COPY_ROWS = 8 };
_Static_assert((int)TRI_PROLOGUE_MOST >= (int)TRI_BLOCKS_MOST_K, "rows of a prologue");

struct job {
	const struct tri_blocks *w;
	const int8_t *rows; /* of x */
	uint8_t *x;         /* their copy */
	int64_t ldx;
	int32_t *y;
	int64_t M, K, N;
	const struct tri_epilogue *epilogue;
	const struct tri_prologue *prologue;
	int64_t first; /* the row of the whole result that y begins with */
	int64_t panel; /* columns of a panel */
	_Bool has_vbmi;
	struct tri_grid grid;
};
_Static_assert((int)LINE == (int)TRI_LIST_CHUNK, "a chunk after the last row of x is within the padding");

/* Bytes from one copied row to the next: whole blocks, and an odd number of cache lines, so that rows do not share few sets of the L1 cache. */
static int64_t row_bytes(int64_t rows) { return ((rows / LINE + 1) | 1) * LINE; }

static void copy_row(const int8_t *x, const struct tri_blocks *w, uint8_t *out)
{
	const uint32_t *kept = tri_blocks_part(w, w->kept);
	const int64_t n = w->rows;
	if (w->form == TRI_LISTS) {
		memcpy(out, x, (size_t)n);
		memset(out + n, 0, (size_t)((n + LINE - 1) / LINE * LINE - n));
		return;
	}
	if (w->kept)
		for (int64_t i = 0; i < n; i++)
			out[i] = (uint8_t)(x[kept[i]] ^ -128);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = (uint8_t)(x[i] ^ -128);
	memset(out + n, 0, (size_t)(-n & (TRI_BLOCK_ROWS - 1))); /* of the last block, which has zeros there */
}

/* Computes rows m … end-1 of one panel. */
static void sum_blocks(const struct job *job, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	const uint32_t *first = (const uint32_t *)tri_blocks_part(job->w, job->w->first) + panel;
	struct tile_blocks b = {(const uint8_t *)tri_blocks_part(job->w, job->w->data) + (size_t)*first * TRI_BLOCK_BYTES,
				(const int32_t *)tri_blocks_part(job->w, job->w->at) + *first, (first[1] - first[0]) / 4,
				(const int32_t *)tri_blocks_part(job->w, job->w->starts) + panel * TRI_BLOCK_COLUMNS};
	for (int64_t r = m; r < end; r += TILE_ROWS)
		block_sum(&b, job->x + r * job->ldx, job->ldx, end - r < TILE_ROWS ? (int)(end - r) : TILE_ROWS, y + (r - m) * ld, ld);
}

static void sum_listed(const struct job *job, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	const uint32_t *first = (const uint32_t *)tri_blocks_part(job->w, job->w->first) + panel;
	struct tile_lists l = {(const uint8_t *)tri_blocks_part(job->w, job->w->data) + (size_t)*first * TRI_LIST_BYTES,
			       (const int32_t *)tri_blocks_part(job->w, job->w->at) + *first, first[1] - first[0],
			       (const int32_t *)tri_blocks_part(job->w, job->w->starts) + panel * TRI_LIST_COLUMNS};
	for (int64_t r = m; r < end; r += LIST_ROWS)
		list_sum(&l, job->has_vbmi, (const int8_t *)job->x + r * job->ldx, job->ldx,
			 end - r < LIST_ROWS ? (int)(end - r) : LIST_ROWS, y + (r - m) * ld, ld);
}

/* Whole panels go straight to y. */
static void block(const struct job *job, int64_t panel, int64_t m, int64_t end)
{
	_Alignas(64) int32_t sums[ROW_BLOCK * TRI_LIST_COLUMNS];
	int64_t n = panel * job->panel, width = job->N - n < job->panel ? job->N - n : job->panel;
	_Bool whole = width == job->panel && !job->epilogue;
	(job->w->form == TRI_LISTS ? sum_listed : sum_blocks)(job, panel, m, end, whole ? job->y + m * job->N + n : sums,
							      whole ? job->N : job->panel);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, sums, job->panel, (int64_t[]){0, job->first + m, n}, end - m, width);
	else if (!whole)
		for (int64_t r = m; r < end; r++)
			memcpy(job->y + r * job->N + n, sums + (r - m) * job->panel, (size_t)width * sizeof(int32_t));
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t m = t % job->grid.rows * ROW_BLOCK;
		block(job, t / job->grid.rows, m, m + ROW_BLOCK < job->M ? m + ROW_BLOCK : job->M);
	}
}

/* Rows that a prologue computes are copied one by one: all columns are needed where some are left out. */
static void copy_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int8_t filled[TRI_PROLOGUE_MOST];
	int64_t end = (i + 1) * COPY_ROWS < job->M ? (i + 1) * COPY_ROWS : job->M;
	for (int64_t m = i * COPY_ROWS; m < end; m++) {
		const int8_t *row = job->prologue ? filled : job->rows + m * job->K;
		if (job->prologue)
			job->prologue->fn(job->prologue, filled, job->K, (int64_t[]){0, job->first + m, 0}, 1, job->K);
		copy_row(row, job->w, job->x + m * job->ldx);
	}
}

_Static_assert(COPY_BYTES <= (int)TRI_SPACE, "it fits");

void tri_matmul_i8_blocks_filled(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
				 const struct tri_prologue *prologue)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	int64_t M = d->M, K = d->K, N = d->N;
	const struct tri_blocks *w = bufs[1];
	uint8_t *copy = tri_space(ctx); /* all tasks read it */
	if (N <= 0 || K <= 0 || w->form == TRI_DENSE) {
		tri_matmul_i8_trit2_filled(ctx, (void *[]){bufs[0], (char *)bufs[1] + sizeof *w, bufs[2]}, dims, epilogue, prologue);
		return;
	}
	int64_t width = w->form == TRI_LISTS ? TRI_LIST_COLUMNS : TRI_BLOCK_COLUMNS, panels = (N + width - 1) / width;
	int64_t terms = w->form == TRI_LISTS ? (int64_t)w->steps * TRI_LIST_BYTES : (int64_t)w->blocks * TRI_BLOCK_ROWS * TRI_BLOCK_COLUMNS;
	int64_t ldx = row_bytes(w->rows), fit = COPY_BYTES / ldx / TILE_ROWS * TILE_ROWS, chunk = fit < ROW_CHUNK ? fit : ROW_CHUNK;
	for (int64_t m = 0; m < M; m += chunk) {
		int64_t rows = M - m < chunk ? M - m : chunk, tall = rows < ROW_BLOCK ? rows : ROW_BLOCK;
		struct job job = {.w = w,
				  .rows = prologue ? NULL : (const int8_t *)bufs[0] + m * K,
				  .x = copy,
				  .ldx = ldx,
				  .y = epilogue ? NULL : (int32_t *)bufs[2] + m * N,
				  .M = rows,
				  .K = K,
				  .N = N,
				  .epilogue = epilogue,
				  .prologue = prologue,
				  .first = m,
				  .panel = width,
				  .has_vbmi = tri_has_vbmi(ctx)};
		tri_parallel(ctx, copy_task, &job, (rows + COPY_ROWS - 1) / COPY_ROWS);
		job.grid = tri_grid_make(panels, (rows + ROW_BLOCK - 1) / ROW_BLOCK, (terms / panels + TRI_LIST_BYTES) * tall);
		tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
	}
}

void tri_matmul_i8_blocks(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	tri_matmul_i8_blocks_filled(ctx, bufs, dims, epilogue, NULL);
}

void tri_matmul_i8_lists_filled(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
				const struct tri_prologue *prologue)
{
	tri_matmul_i8_blocks_filled(ctx, bufs, dims, epilogue, prologue);
}

void tri_matmul_i8_lists(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	tri_matmul_i8_blocks_filled(ctx, bufs, dims, epilogue, NULL);
}

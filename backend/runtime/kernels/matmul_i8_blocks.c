/* y int32 [M, N] = x int8 [M, K] · w TRIT_BLOCKS or TRIT_LISTS [K, N], exact. Rows of x are copied: for blocks as bytes x + 128, without the rows of
 * w that are left out; for lists as whole chunks. */
#include "backend/runtime/kernels/i8_blocks_tile.h"
#include "backend/runtime/kernels/i8_lists_tile.h"
#include "backend/runtime/kernels/product_blocks.h"

enum { COPY_BYTES = 256 << 10, LINE = 64, COPY_ROWS = 8 };
_Static_assert((int)TRI_PROLOGUE_MOST >= (int)TRI_BLOCKS_MOST_K, "rows of a prologue");

struct job {
	struct product product;
	const struct tri_blocks *w;
	const int8_t *rows; /* of x */
	uint8_t *x;         /* their copy */
	int64_t ldx;
	const struct tri_prologue *prologue;
	_Bool has_vbmi;
};
_Static_assert((int)MOST_PANEL >= (int)TRI_LIST_COLUMNS && (int)MOST_PANEL >= (int)TRI_BLOCK_COLUMNS, "sums of a block");
_Static_assert((int)LINE == (int)TRI_LIST_CHUNK, "a chunk after the last row of x is within the padding");

/* Bytes from one copied row to the next: whole blocks, and an odd number of cache lines, so that rows do not share few sets of the L1 cache. */
static int64_t matmul_i8_blocks_row_bytes(int64_t rows) { return ((rows / LINE + 1) | 1) * LINE; }

static void matmul_i8_blocks_copy_row(const int8_t *x, const struct tri_blocks *w, uint8_t *out)
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

static void sum_blocks(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	const struct job *job = (const struct job *)p;
	const uint32_t *first = (const uint32_t *)tri_blocks_part(job->w, job->w->first) + panel;
	struct tile_blocks b = {(const uint8_t *)tri_blocks_part(job->w, job->w->data) + (size_t)*first * TRI_BLOCK_BYTES,
				(const int32_t *)tri_blocks_part(job->w, job->w->at) + *first, (first[1] - first[0]) / 4,
				(const int32_t *)tri_blocks_part(job->w, job->w->starts) + panel * TRI_BLOCK_COLUMNS};
	for (int64_t r = m; r < end; r += TILE_ROWS)
		block_sum(&b, job->x + r * job->ldx, job->ldx, end - r < TILE_ROWS ? (int)(end - r) : TILE_ROWS, y + (r - m) * ld, ld);
}

static void sum_listed(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	const struct job *job = (const struct job *)p;
	const uint32_t *first = (const uint32_t *)tri_blocks_part(job->w, job->w->first) + panel;
	struct tile_lists l = {(const uint8_t *)tri_blocks_part(job->w, job->w->data) + (size_t)*first * TRI_LIST_BYTES,
			       (const int32_t *)tri_blocks_part(job->w, job->w->at) + *first, first[1] - first[0],
			       (const int32_t *)tri_blocks_part(job->w, job->w->starts) + panel * TRI_LIST_COLUMNS};
	for (int64_t r = m; r < end; r += LIST_ROWS)
		list_sum(&l, job->has_vbmi, (const int8_t *)job->x + r * job->ldx, job->ldx,
			 end - r < LIST_ROWS ? (int)(end - r) : LIST_ROWS, y + (r - m) * ld, ld);
}

/* Rows that a prologue computes are copied one by one: all columns are needed where some are left out. */
static void copy_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int8_t filled[TRI_PROLOGUE_MOST];
	int64_t end = (i + 1) * COPY_ROWS < job->product.M ? (i + 1) * COPY_ROWS : job->product.M;
	for (int64_t m = i * COPY_ROWS; m < end; m++) {
		const int8_t *row = job->prologue ? filled : job->rows + m * job->product.K;
		if (job->prologue)
			job->prologue->fn(job->prologue, filled, job->product.K, (int64_t[]){0, job->product.first + m, 0}, 1,
					  job->product.K);
		matmul_i8_blocks_copy_row(row, job->w, job->x + m * job->ldx);
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
	int64_t ldx = matmul_i8_blocks_row_bytes(w->rows), fit = COPY_BYTES / ldx / TILE_ROWS * TILE_ROWS,
		chunk = fit < ROW_CHUNK ? fit : ROW_CHUNK;
	for (int64_t m = 0; m < M; m += chunk) {
		struct job job = {.product = product_rows(d, bufs, epilogue, m, chunk),
				  .w = w,
				  .rows = prologue ? NULL : (const int8_t *)bufs[0] + m * K,
				  .x = copy,
				  .ldx = ldx,
				  .prologue = prologue,
				  .has_vbmi = tri_has_vbmi(ctx)};
		job.product.sum = w->form == TRI_LISTS ? sum_listed : sum_blocks;
		job.product.panel = width;
		tri_parallel(ctx, copy_task, &job, (job.product.M + COPY_ROWS - 1) / COPY_ROWS);
		product_run(ctx, &job.product, terms / panels + TRI_LIST_BYTES);
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

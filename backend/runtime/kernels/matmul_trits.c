/* y int32 [M, N] = x trit [M, K] · w PLANES [K, N], exact. Rows of x are packed to planes first, a chunk at a time. */
#include "backend/runtime/kernels/trits_tile.h"

enum { ROW_BLOCK = 64, ROW_CHUNK = 512, COPY_WORDS = 32 << 10, PART_WORDS = 1024 };
_Static_assert(ROW_BLOCK % TILE_ROWS == 0 && ROW_CHUNK % ROW_BLOCK == 0, "tiles");

struct job {
	const int8_t *x;
	const uint32_t *w;
	int32_t *y;
	int64_t M, K, N;
	const struct tile_word *planes; /* of x, in tiles; NULL: the rows are too long */
	_Bool counts_words;
	const struct tri_epilogue *epilogue;
	int64_t first; /* the row of the whole result that y begins with */
	struct tri_grid grid;
};

static void pack_tile(const int8_t *x, int64_t ld, int64_t n, int rows, struct tile_word *out)
{
	for (int r = 0; r < rows; r++)
		pack_row(x + r * ld, n, rows, out + r);
}

/* Computes rows that were not packed, in parts of K. */
static void sum_long_rows(const struct job *job, const uint32_t *w, int halves, int64_t m, int rows, struct tile_y to)
{
	struct tile_word part[PART_WORDS * TILE_ROWS];
	int64_t words = tri_planes_words(job->K), n;
	for (int64_t k = 0; k < words; k += n) {
		int64_t left = job->K - k * TRI_PLANES_WORD;
		n = words - k < PART_WORDS ? words - k : PART_WORDS;
		pack_tile(job->x + m * job->K + k * TRI_PLANES_WORD, job->K, left < n * TRI_PLANES_WORD ? left : n * TRI_PLANES_WORD, rows,
			  part);
		tile_sum(job->counts_words, w + k * halves * TRI_PLANES_BLOCK, part, n, halves, rows, &to);
		to.more = 1;
	}
}

/* Multiplies up to TILE_ROWS rows of x by one panel. */
static void tile(const struct job *job, int64_t panel, int64_t m, int rows, int32_t *y, int64_t ld)
{
	int halves = tri_planes_halves(job->N, panel);
	int64_t words = tri_planes_words(job->K);
	const uint32_t *w = job->w + tri_planes_offset(job->K, panel);
	struct tile_y to = {y, ld, 0};
	if (job->planes)
		tile_sum(job->counts_words, w, job->planes + m * words, words, halves, rows, &to);
	else
		sum_long_rows(job, w, halves, m, rows, to);
}

/* Computes rows m … end-1 of one panel. Tiles of whole panels go straight to y. */
static void block(const struct job *job, int64_t panel, int64_t m, int64_t end)
{
	_Alignas(64) int32_t sums[ROW_BLOCK][TRI_PLANES_PANEL];
	int64_t n = panel * TRI_PLANES_PANEL, width = job->N - n < TRI_PLANES_PANEL ? job->N - n : TRI_PLANES_PANEL;
	_Bool whole = width == TRI_PLANES_PANEL && !job->epilogue;
	int32_t *y = whole ? job->y + m * job->N + n : sums[0];
	int64_t ld = whole ? job->N : TRI_PLANES_PANEL;
	for (int64_t r = m; r < end; r += TILE_ROWS)
		tile(job, panel, r, end - r < TILE_ROWS ? (int)(end - r) : TILE_ROWS, y + (r - m) * ld, ld);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, sums, TRI_PLANES_PANEL, (int64_t[]){0, job->first + m, n}, end - m, width);
	else if (!whole)
		for (int64_t r = m; r < end; r++)
			memcpy(job->y + r * job->N + n, sums[r - m], (size_t)width * sizeof(int32_t));
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

/* Rows that are packed at once; 0: a row is too long. */
static int64_t rows_of_chunk(int64_t words)
{
	int64_t fit = words > 0 ? COPY_WORDS / words / TILE_ROWS * TILE_ROWS : ROW_CHUNK;
	return fit < ROW_CHUNK ? fit : ROW_CHUNK;
}

_Static_assert(COPY_WORDS * sizeof(struct tile_word) <= TRI_SPACE, "it fits");

void tri_matmul_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	int64_t M = d->M, K = d->K, N = d->N, words = tri_planes_words(K);
	int64_t fit = rows_of_chunk(words), chunk = fit ? fit : ROW_CHUNK;
	struct tile_word *planes = tri_space(ctx); /* all tasks read them */
	for (int64_t m = 0; m < M && N > 0; m += chunk) {
		int64_t rows = M - m < chunk ? M - m : chunk;
		int32_t *y = epilogue ? NULL : (int32_t *)bufs[2] + m * N;
		struct job job = {(const int8_t *)bufs[0] + m * K, bufs[1],  y, rows,     K, N, fit ? planes : NULL,
				  tri_counts_words(ctx),           epilogue, m, {0, 0, 0}};
		for (int64_t r = 0; fit && r < rows; r += TILE_ROWS)
			pack_tile(job.x + r * K, K, K, rows - r < TILE_ROWS ? (int)(rows - r) : TILE_ROWS, planes + r * words);
		job.grid = tri_grid_make(tri_planes_panels(N), (rows + ROW_BLOCK - 1) / ROW_BLOCK,
					 K * TRI_PLANES_PANEL * (rows < ROW_BLOCK ? rows : ROW_BLOCK) / 4);
		tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
	}
}

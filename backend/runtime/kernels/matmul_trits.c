/* y int32 [M, N] = x trit [M, K] · w PLANES [K, N], exact. Rows of x are packed to planes first, a chunk at a time. */
#include "backend/runtime/kernels/product_blocks.h"
#include "backend/runtime/kernels/trits_tile.h"

enum { COPY_WORDS = 32 << 10, PART_WORDS = 1024 };
_Static_assert(ROW_BLOCK % TILE_ROWS == 0, "tiles");

struct job {
	struct product product;
	const int8_t *x;
	const uint32_t *w;
	const struct tile_word *planes; /* of x, in tiles; NULL: the rows are too long */
	_Bool counts_words;
};

static void pack_tile(const int8_t *x, int64_t ld, int64_t n, int rows, struct tile_word *out)
{
	for (int r = 0; r < rows; r++)
		pack_row(x + r * ld, n, rows, out + r);
}

/* Computes rows that were not packed, in parts of K. */
static void matmul_trits_sum_long_rows(const struct job *job, const uint32_t *w, int halves, int64_t m, int rows, struct tile_y to)
{
	struct tile_word part[PART_WORDS * TILE_ROWS];
	int64_t words = tri_planes_words(job->product.K), n;
	for (int64_t k = 0; k < words; k += n) {
		int64_t left = job->product.K - k * TRI_PLANES_WORD;
		n = words - k < PART_WORDS ? words - k : PART_WORDS;
		pack_tile(job->x + m * job->product.K + k * TRI_PLANES_WORD, job->product.K,
			  left < n * TRI_PLANES_WORD ? left : n * TRI_PLANES_WORD, rows, part);
		tile_sum(job->counts_words, w + k * halves * TRI_PLANES_BLOCK, part, n, halves, rows, &to);
		to.more = 1;
	}
}

/* Multiplies up to TILE_ROWS rows of x by one panel. */
static void matmul_trits_tile(const struct job *job, int64_t panel, int64_t m, int rows, int32_t *y, int64_t ld)
{
	int halves = tri_planes_halves(job->product.N, panel);
	int64_t words = tri_planes_words(job->product.K);
	const uint32_t *w = job->w + tri_planes_offset(job->product.K, panel);
	struct tile_y to = {y, ld, 0};
	if (job->planes)
		tile_sum(job->counts_words, w, job->planes + m * words, words, halves, rows, &to);
	else
		matmul_trits_sum_long_rows(job, w, halves, m, rows, to);
}

static void matmul_trits_sum_tiles(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	for (int64_t r = m; r < end; r += TILE_ROWS)
		matmul_trits_tile((const struct job *)p, panel, r, end - r < TILE_ROWS ? (int)(end - r) : TILE_ROWS, y + (r - m) * ld, ld);
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
		struct job job = {product_rows(d, bufs, epilogue, m, chunk), (const int8_t *)bufs[0] + m * K, bufs[1], fit ? planes : NULL,
				  tri_counts_words(ctx)};
		job.product.sum = matmul_trits_sum_tiles;
		job.product.panel = TRI_PLANES_PANEL;
		for (int64_t r = 0, rows = job.product.M; fit && r < rows; r += TILE_ROWS)
			pack_tile(job.x + r * K, K, K, rows - r < TILE_ROWS ? (int)(rows - r) : TILE_ROWS, planes + r * words);
		product_run(ctx, &job.product, K * TRI_PLANES_PANEL / 4);
	}
}

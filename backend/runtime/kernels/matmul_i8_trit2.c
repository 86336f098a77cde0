/* y int32 [M, N] = x int8 [M, K] · w TRIT2 [K, N], exact. The tile kernels sum x·(t+1) over unsigned bytes, from -sum(x) on. Rows of x are
 * copied first, so that a tile reads one sequence: the rows of a large matrix may share few sets of the L1 cache. A prologue computes the rows
 * for this copy, part by part. */
#include "backend/runtime/kernels/i8_trit2_tile.h"
#include "backend/runtime/kernels/product_blocks.h"

enum { COPY_BYTES = 256 << 10, FILLED = 1024, PACK_TASK = 1 << 15 };
_Static_assert(ROW_BLOCK % TILE_COLS == 0, "tiles");
_Static_assert(FILLED % TRI_TRIT2_STEP == 0 && COPY_BYTES / TRI_PROLOGUE_MOST >= TILE_COLS, "rows of a prologue");

struct job {
	struct product product;
	const int8_t *x;
	const uint8_t *w;
	int32_t *starts; /* of sums: -sum(x) of each row */
	int8_t *copy;    /* the rows of x in tiles; NULL: they are too long */
	const struct tri_prologue *prologue;
	int64_t pack; /* rows that a task copies */
};

/* Tile t of a copy has its rows in turn, 16 bytes of each, padded with zeros. */
static int64_t padded_row(int64_t K) { return tri_trit2_steps(K) * TRI_TRIT2_STEP; }

/* Copies K columns of rows that are `stride` apart. */
static void copy_tile(const int8_t *x, int64_t stride, int64_t K, int64_t rows, int8_t *out)
{
	int64_t whole = K / TRI_TRIT2_STEP, rest = K % TRI_TRIT2_STEP, step = rows * TRI_TRIT2_STEP;
	for (int64_t r = 0; r < rows; r++, x += stride) {
		int8_t *to = out + r * TRI_TRIT2_STEP;
		for (int64_t s = 0; s < whole; s++)
			memcpy(to + s * step, x + s * TRI_TRIT2_STEP, TRI_TRIT2_STEP);
		if (!rest)
			continue;
		memset(to + whole * step, 0, TRI_TRIT2_STEP);
		memcpy(to + whole * step, x + whole * TRI_TRIT2_STEP, (size_t)rest);
	}
}

/* Copies a tile that the prologue computes. */
static void matmul_i8_trit2_fill_tile(const struct job *job, int64_t m, int64_t rows)
{
	_Alignas(64) int8_t part[TILE_COLS * FILLED];
	for (int64_t r = 0; r < rows; r++)
		job->starts[m + r] = 0;
	for (int64_t k = 0, n; k < job->product.K; k += n) {
		n = job->product.K - k < FILLED ? job->product.K - k : FILLED;
		job->prologue->fn(job->prologue, part, FILLED, (int64_t[]){0, job->product.first + m, k}, rows, n);
		copy_tile(part, FILLED, n, rows, job->copy + m * padded_row(job->product.K) + k * rows);
		for (int64_t r = 0; r < rows; r++)
			job->starts[m + r] -= i8_sum(part + r * FILLED, n, 1, 0);
	}
}

static void pack_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t end = (i + 1) * job->pack < job->product.M ? (i + 1) * job->pack : job->product.M;
	for (int64_t m = i * job->pack, rows; m < end; m += rows) {
		rows = end - m < TILE_COLS ? end - m : TILE_COLS;
		if (job->prologue) {
			matmul_i8_trit2_fill_tile(job, m, rows);
			continue;
		}
		for (int64_t r = m; r < m + rows; r++)
			job->starts[r] = -i8_sum(job->x + r * job->product.K, job->product.K, 1, 0);
		if (job->copy)
			copy_tile(job->x + m * job->product.K, job->product.K, job->product.K, rows,
				  job->copy + m * padded_row(job->product.K));
	}
}

static void matmul_i8_trit2_pack(struct tri_context *ctx, struct job *job)
{
	int64_t tiles = PACK_TASK / (TILE_COLS * (job->product.K > 0 ? job->product.K : 1));
	job->pack = TILE_COLS * (tiles > 0 ? tiles : 1);
	tri_parallel(ctx, pack_task, job, (job->product.M + job->pack - 1) / job->pack);
}

/* Computes rows that were not copied, in parts of K. The last part reads a padded copy. */
static void matmul_i8_trit2_sum_long_rows(const struct job *job, const uint8_t *w, int halves, int64_t m, int cols, struct tile_y to)
{
	static const int32_t zeros[TILE_COLS];
	int64_t whole = job->product.K / TRI_TRIT2_STEP, rest = job->product.K % TRI_TRIT2_STEP, most = TILE_STEPS;
	_Alignas(64) int32_t part[TILE_COLS][TRI_TRIT2_PANEL];
	int8_t tail[TILE_COLS][TRI_TRIT2_STEP] = {{0}};
	for (int64_t s = 0; s < whole + (rest != 0); s += most) {
		struct tile_x x = {.step = TRI_TRIT2_STEP};
		most = s == whole ? 1 : whole - s < TILE_STEPS ? whole - s : TILE_STEPS;
		for (int c = 0; c < cols; c++) {
			const int8_t *row = job->x + (m + c) * job->product.K + s * TRI_TRIT2_STEP;
			x.row[c] = s == whole ? memcpy(tail[c], row, (size_t)rest) : row;
		}
		tile_sum(w + s * halves * TRI_TRIT2_BLOCK, &x, most, halves, cols, 0, (struct tile_y){part[0], TRI_TRIT2_PANEL, zeros});
		for (int c = 0; c < cols; c++)
			for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
				to.y[c * to.ld + l] = (s ? to.y[c * to.ld + l] : to.start[c]) + part[c][l];
	}
}

/* Multiplies up to TILE_COLS rows of x by one panel. */
static void matmul_i8_trit2_tile(const struct job *job, int64_t panel, int64_t m, int cols, int32_t *y, int64_t ld)
{
	int halves = tri_trit2_halves(job->product.N, panel);
	const uint8_t *w = job->w + tri_trit2_offset(job->product.K, panel);
	struct tile_x x = {.step = cols * TRI_TRIT2_STEP};
	struct tile_y to = {y, ld, job->starts + m};
	if (!job->copy) {
		matmul_i8_trit2_sum_long_rows(job, w, halves, m, cols, to);
		return;
	}
	for (int c = 0; c < cols; c++)
		x.row[c] = job->copy + m * padded_row(job->product.K) + c * TRI_TRIT2_STEP;
	tile_sum(w, &x, tri_trit2_steps(job->product.K), halves, cols, 0, to);
}

static void matmul_i8_trit2_sum_tiles(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld)
{
	for (int64_t r = m; r < end; r += TILE_COLS)
		matmul_i8_trit2_tile((const struct job *)p, panel, r, end - r < TILE_COLS ? (int)(end - r) : TILE_COLS, y + (r - m) * ld,
				     ld);
}

/* Rows that are copied at once; 0: rows are too long to be copied. */
static int64_t rows_of_copy(int64_t K)
{
	int64_t fit = K > 0 ? COPY_BYTES / padded_row(K) / TILE_COLS * TILE_COLS : ROW_CHUNK;
	return fit < ROW_CHUNK ? fit : ROW_CHUNK;
}

/* What all tasks read: in the space of the thread that calls the kernel. */
struct space {
	_Alignas(64) int8_t copy[COPY_BYTES];
	int32_t starts[ROW_CHUNK];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

void tri_matmul_i8_trit2_filled(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
				const struct tri_prologue *prologue)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	int64_t M = d->M, K = d->K, N = d->N, fit = rows_of_copy(K), chunk = fit ? fit : ROW_CHUNK;
	struct space *v = tri_space(ctx);
	for (int64_t m = 0; m < M && N > 0; m += chunk) {
		struct job job = {.product = product_rows(d, bufs, epilogue, m, chunk),
				  .x = prologue ? NULL : (const int8_t *)bufs[0] + m * K,
				  .w = bufs[1],
				  .starts = v->starts,
				  .copy = fit ? v->copy : NULL,
				  .prologue = prologue};
		job.product.sum = matmul_i8_trit2_sum_tiles;
		job.product.panel = TRI_TRIT2_PANEL;
		matmul_i8_trit2_pack(ctx, &job);
		product_run(ctx, &job.product, K * TRI_TRIT2_PANEL);
	}
}

void tri_matmul_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	tri_matmul_i8_trit2_filled(ctx, bufs, dims, epilogue, NULL);
}

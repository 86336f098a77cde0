/* y float32 [M, N] = x float32 [M, K] · w float32 [K, N], all row-major. Register tiles are ROWS x (VECS vectors). From three rows of x
 * on, panels of w are copied to the stack first, so that they are read in sequence. The order of a sum is the same for any M, N and
 * number of threads: blocks of 256 k, each summed in ascending k (with FMA if the processor has it), then the blocks in ascending order. */
#include <string.h>
#include "kernel.h"

#if defined(__AVX512F__)
enum { LANES = 16, VECS = 2, ROWS = 8 };
#elif defined(__AVX2__)
enum { LANES = 8, VECS = 2, ROWS = 6 };
#else
enum { LANES = 4, VECS = 2, ROWS = 4 };
#endif
enum { WIDE_VECS = 8, BLOCK = 256, COLS = LANES * VECS, WIDE = LANES * WIDE_VECS, ROW_BLOCK = 96, COPY_ROWS = 3 };
_Static_assert(ROW_BLOCK % ROWS == 0 && WIDE % COLS == 0, "tiles");

typedef float vec __attribute__((vector_size(LANES * 4)));

struct job {
	const float *x, *w;
	float *y;
	int64_t M, K, N;
	struct tri_grid grid;
};

/* Computes R rows and V vectors over k values of one block. Rows of w are ldw apart. Adds to y, or stores if it is the first block. */
TRI_INLINE void micro(const float *x, int64_t ldx, const float *w, int64_t ldw, int64_t k, const int R, const int V, float *y, int64_t ldy,
		      int64_t width, _Bool first)
{
	vec acc[ROWS][WIDE_VECS];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			acc[r][v] = (vec){0};
	for (int64_t i = 0; i < k; i++) {
		vec b[WIDE_VECS];
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			memcpy(&b[v], w + i * ldw + v * LANES, sizeof(vec));
#pragma GCC unroll 8
		for (int r = 0; r < R; r++) {
			vec a = (vec){0} + x[r * ldx + i];
#pragma GCC unroll 8
			for (int v = 0; v < V; v++)
				acc[r][v] += a * b[v];
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++) {
		float out[WIDE];
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			memcpy(out + v * LANES, &acc[r][v], sizeof(vec));
		for (int64_t l = 0; l < width; l++)
			y[r * ldy + l] = first ? out[l] : y[r * ldy + l] + out[l];
	}
}

#define MICRO(R) \
	case R: micro(x, job->K, w, ldw, k, R, VECS, y, job->N, width, first); break;

/* Computes `rows` rows by up to COLS columns. */
static void tile(const struct job *job, const float *x, const float *w, int64_t ldw, int64_t k, int64_t rows, float *y, int64_t width,
		 _Bool first)
{
	switch (rows) {
		MICRO(1)
		MICRO(2)
		MICRO(3)
		MICRO(4)
#if defined(__AVX2__)
		MICRO(5)
		MICRO(6)
#endif
#if defined(__AVX512F__)
		MICRO(7) MICRO(8)
#endif
	}
}

static void copy_panel(const struct job *job, int64_t n, int64_t width, int64_t k0, int64_t k, float *out)
{
	for (int64_t i = 0; i < k; i++, out += COLS) {
		memcpy(out, job->w + (k0 + i) * job->N + n, (size_t)width * sizeof(float));
		memset(out + width, 0, (size_t)(COLS - width) * sizeof(float));
	}
}

/* Computes columns n … n+width-1 (at most COLS) of rows m … end-1 over one block of K. */
static void block_narrow(const struct job *job, int64_t n, int64_t width, int64_t m, int64_t end, int64_t k0, int64_t k)
{
	_Alignas(64) float panel[BLOCK * COLS];
	const float *w = job->w + k0 * job->N + n;
	int64_t ldw = job->N;
	if (width < COLS || end - m >= COPY_ROWS) {
		copy_panel(job, n, width, k0, k, panel);
		w = panel;
		ldw = COLS;
	}
	for (; m < end; m += ROWS)
		tile(job, job->x + m * job->K + k0, w, ldw, k, end - m < ROWS ? end - m : ROWS, job->y + m * job->N + n, width, k0 == 0);
}

/* Computes a tile of the grid: WIDE columns by ROW_BLOCK rows. */
static void tile_wide(const struct job *job, int64_t n, int64_t m)
{
	int64_t end = m + ROW_BLOCK < job->M ? m + ROW_BLOCK : job->M;
	int64_t stop = n + WIDE < job->N ? n + WIDE : job->N;
	for (int64_t k0 = 0; k0 == 0 || k0 < job->K; k0 += BLOCK) {
		int64_t k = job->K - k0 < BLOCK ? job->K - k0 : BLOCK;
		if (end - m == 1 && stop - n == WIDE) {
			micro(job->x + m * job->K + k0, job->K, job->w + k0 * job->N + n, job->N, k, 1, WIDE_VECS, job->y + m * job->N + n,
			      job->N, WIDE, k0 == 0);
			continue;
		}
		for (int64_t c = n; c < stop; c += COLS)
			block_narrow(job, c, stop - c < COLS ? stop - c : COLS, m, end, k0, k);
	}
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		tile_wide(job, t / job->grid.rows * WIDE, t % job->grid.rows * ROW_BLOCK);
}

void tri_matmul_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims)
{
	struct job job = {bufs[0], bufs[1], bufs[2], dims[0], dims[1], dims[2], {0, 0, 0}};
	if (job.M <= 0 || job.N <= 0)
		return;
	job.grid = tri_grid_make((job.N + WIDE - 1) / WIDE, (job.M + ROW_BLOCK - 1) / ROW_BLOCK,
				 4 * job.K * WIDE * (job.M < ROW_BLOCK ? job.M : ROW_BLOCK));
	tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
}

/* y float32 [M, N] = x float32 [M, K] · w [K, N] of 16-bit floats in panels, with the bits of the product by widened panels. Few rows are multiplied
 * as the panels are read: each number of w is widened in a register and serves all rows of a tile. Sums have the order of f32_rows.h. */
#include <string.h>
#include "backend/runtime/kernels/f32_half.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_rows.h"

enum { LANES = TRI_HALF_LANES, VECS = TRI_PANEL / LANES, COLUMNS = 2 * TRI_PANEL };
#if defined(__AVX512F__)
enum { ROWS = TRI_F32_TILE, MOST_PARTS = 4 };
#else
enum { ROWS = 2, MOST_PARTS = 1 };
#endif

struct job {
	const float *x;
	const uint16_t *w;
	float *y;
	int64_t M, K, N;
	int64_t first; /* the row of the result that x begins with */
	enum tri_half type;
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

/* Computes R rows of a panel of V vectors. */
TRI_INLINE void multiply(const struct job *job, const uint16_t *w, const int R, const int V, float *y)
{
	tri_half_vec sum[ROWS][VECS];
	memset(sum, 0, sizeof sum);
	for (int64_t k0 = 0; k0 == 0 || k0 < job->K; k0 += TRI_F32_BLOCK) {
		int64_t end = job->K - k0 < TRI_F32_BLOCK ? job->K : k0 + TRI_F32_BLOCK;
		tri_half_vec acc[ROWS][VECS];
		memset(acc, 0, sizeof acc);
		for (int64_t k = k0; k < end; k++, w += V * LANES) {
			tri_half_vec b[VECS];
#pragma GCC unroll 8
			for (int v = 0; v < V; v++)
				b[v] = tri_widen(job->type, w + v * LANES);
#pragma GCC unroll 12
			for (int r = 0; r < R; r++) {
				tri_half_vec a = job->x[r * job->K + k] - (tri_half_vec){0};
#pragma GCC unroll 8
				for (int v = 0; v < V; v++)
					acc[r][v] += a * b[v];
			}
		}
#pragma GCC unroll 12
		for (int r = 0; r < R; r++)
#pragma GCC unroll 8
			for (int v = 0; v < V; v++)
				sum[r][v] = k0 ? sum[r][v] + acc[r][v] : acc[r][v];
	}
	for (int r = 0; r < R; r++)
		memcpy(y + r * COLUMNS, sum[r], (size_t)V * sizeof **sum);
}

TRI_INLINE void multiply_panel(const struct job *job, int64_t panel, const int R, float *y)
{
	const uint16_t *w = job->w + tri_panel_offset(job->K, panel);
	if (tri_panel_width(job->N, panel) == TRI_PANEL)
		multiply(job, w, R, VECS, y);
	else
		multiply(job, w, R, VECS / 2, y);
}

#define PANEL(R) \
	case R: multiply_panel(job, panel, R, y); break;

/* The type is a constant in each copy, and so is the number of rows. */
TRI_INLINE void compute_panel(const struct job *of, enum tri_half type, int64_t panel, float *y)
{
	struct job copy = *of, *job = &copy;
	copy.type = type;
	switch (job->M) {
		PANEL(1)
		PANEL(2)
#if defined(__AVX512F__)
		PANEL(3)
		PANEL(4)
		PANEL(5)
		PANEL(6)
		PANEL(7)
		PANEL(8)
		PANEL(9)
		PANEL(10)
		PANEL(11)
		PANEL(12)
#endif
	}
}

static void compute_bf16(const struct job *job, int64_t panel, float *y) { compute_panel(job, TRI_BF16, panel, y); }
static void compute_f16(const struct job *job, int64_t panel, float *y) { compute_panel(job, TRI_F16, panel, y); }

/* Computes all rows of the job and COLUMNS columns from n on. */
static void matmul_f32_half_compute_tile(const struct job *job, int64_t n)
{
	_Alignas(64) float tile[ROWS * COLUMNS];
	int64_t columns = job->N - n < COLUMNS ? job->N - n : COLUMNS;
	for (int64_t c = 0; c < columns; c += TRI_PANEL)
		(job->type == TRI_BF16 ? compute_bf16 : compute_f16)(job, (n + c) / TRI_PANEL, tile + c);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, tile, COLUMNS, (int64_t[]){0, job->first, n}, job->M, columns);
	else
		for (int64_t r = 0; r < job->M; r++)
			memcpy(job->y + (job->first + r) * job->N + n, tile + r * COLUMNS, (size_t)columns * sizeof(float));
}

/* The same for more rows, in parts of about the same size: the columns of w stay in the cache. */
static void matmul_f32_half_compute_columns(const struct job *job, int64_t n)
{
	int64_t parts = (job->M + ROWS - 1) / ROWS;
	for (int64_t p = 0; p < parts; p++) {
		struct job part = *job;
		part.first = job->M * p / parts;
		part.M = job->M * (p + 1) / parts - part.first;
		part.x += part.first * job->K;
		matmul_f32_half_compute_tile(&part, n);
	}
}

static void matmul_f32_half_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		matmul_f32_half_compute_columns(job, t * COLUMNS);
}

static void matmul_f32_half_multiply_all(struct tri_context *ctx, void *const *bufs, const int64_t *dims,
					 const struct tri_epilogue *epilogue, enum tri_half type)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	struct job job = {bufs[0], bufs[1], epilogue ? NULL : bufs[2], d->M, d->K, d->N, 0, type, epilogue, {0}};
	if (job.M > MOST_PARTS * ROWS) {
		tri_multiply_f32_half(ctx, bufs, dims, epilogue, type);
		return;
	}
	if (job.M <= 0 || job.N <= 0)
		return;
	job.grid = tri_grid_make((job.N + COLUMNS - 1) / COLUMNS, 1, job.K * COLUMNS * job.M);
	tri_parallel(ctx, matmul_f32_half_task, &job, tri_grid_tasks(&job.grid));
}

void tri_matmul_f32_bf16(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	matmul_f32_half_multiply_all(ctx, bufs, dims, epilogue, TRI_BF16);
}
void tri_matmul_f32_f16(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	matmul_f32_half_multiply_all(ctx, bufs, dims, epilogue, TRI_F16);
}

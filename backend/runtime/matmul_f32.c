/* y float32 [M, N] = x float32 [M, K] · w float32 [K, N], all row-major, or w in panels, or packed trits or 16-bit floats. Panels of a w that is not packed float32
 * are copied to the stack, one block of K at a time. f32_rows.h says in which order a sum is computed. */
#include <stdbool.h>
#include <string.h>
#include "f32_half.h"
#include "f32_panels.h"
#include "f32_rows.h"
#include "f32_trit2.h"

enum { ROWS = 96, COLUMNS = 2 * TRI_PANEL }; /* of a tile of the grid */

struct job {
	const float *x, *w;
	float *y;
	int64_t M, K, N;
	bool packed;
	const struct tri_trits *trits; /* in place of w */
	const uint16_t *halves;        /* in place of w: packed */
	enum tri_half type;
	const struct tri_epilogue *epilogue;
	int64_t rows; /* of a tile */
	struct tri_grid grid;
};

/* Widens n numbers, a multiple of 16. */
static void widen(const uint16_t *from, enum tri_half type, int64_t n, float *out)
{
	for (int64_t i = 0; i < n; i += TRI_HALF_LANES) {
		tri_half_vec v = type == TRI_BF16 ? tri_widen(TRI_BF16, from + i) : tri_widen(TRI_F16, from + i);
		memcpy(out + i, &v, sizeof v);
	}
}

/* Returns k terms from k0 on of a panel. `copy`: memory for them. */
static const float *panel_at(const struct job *job, int64_t panel, int64_t k0, int64_t k, float *copy)
{
	int64_t n = panel * TRI_PANEL, width = tri_panel_width(job->N, panel), columns = job->N - n < width ? job->N - n : width;
	if (job->packed)
		return job->w + tri_panel_offset(job->K, panel) + k0 * width;
	if (job->trits)
		tri_trit2_expand(job->trits, panel, k0, k, copy);
	if (job->halves)
		widen(job->halves + tri_panel_offset(job->K, panel) + k0 * width, job->type, k * width, copy);
	for (int64_t i = 0; job->w && i < k; i++) {
		memcpy(copy + i * width, job->w + (k0 + i) * job->N + n, (size_t)columns * sizeof(float));
		memset(copy + i * width + columns, 0, (size_t)(width - columns) * sizeof(float));
	}
	return copy;
}

/* Multiplies the rows by one panel. */
static void multiply(const struct job *job, const float **x, int64_t rows, int64_t panel, float *y, int64_t ldy)
{
	_Alignas(64) float copy[TRI_F32_BLOCK * TRI_PANEL];
	for (int64_t k0 = 0; k0 == 0 || k0 < job->K; k0 += TRI_F32_BLOCK) {
		int64_t k = job->K - k0 < TRI_F32_BLOCK ? job->K - k0 : TRI_F32_BLOCK;
		struct tri_f32_rows left = {x, 0, 1, k, k0};
		tri_f32_rows(&left, rows, panel_at(job, panel, k0, k, copy), tri_panel_width(job->N, panel), y, ldy, k0 == 0);
	}
}

/* Computes a tile of the grid: up to `rows` rows from m on, COLUMNS columns from n on. */
static void compute_tile(const struct job *job, int64_t m, int64_t n)
{
	_Alignas(64) float tile[ROWS * COLUMNS];
	const float *x[ROWS];
	int64_t rows = job->M - m < job->rows ? job->M - m : job->rows, columns = job->N - n < COLUMNS ? job->N - n : COLUMNS;
	bool direct = !job->epilogue && columns % TRI_HALF_PANEL == 0;
	float *y = direct ? job->y + m * job->N + n : tile;
	int64_t ldy = direct ? job->N : COLUMNS;
	for (int64_t r = 0; r < rows; r++)
		x[r] = job->x + (m + r) * job->K;
	for (int64_t c = 0; c < columns; c += TRI_PANEL)
		multiply(job, x, rows, (n + c) / TRI_PANEL, y + c, ldy);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, tile, COLUMNS, (int64_t[]){0, m, n}, rows, columns);
	else
		for (int64_t r = 0; !direct && r < rows; r++)
			memcpy(job->y + (m + r) * job->N + n, tile + r * COLUMNS, (size_t)columns * sizeof(float));
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		compute_tile(job, t % job->grid.rows * job->rows, t / job->grid.rows * COLUMNS);
}

static void multiply_all(struct tri_context *ctx, struct job job, const int64_t *dims)
{
	job.M = dims[0], job.K = dims[1], job.N = dims[2];
	if (job.M <= 0 || job.N <= 0)
		return;
	job.rows = tri_f32_tile_rows(job.M, ROWS);
	job.grid = tri_grid_make((job.N + COLUMNS - 1) / COLUMNS, (job.M + job.rows - 1) / job.rows, job.K * COLUMNS * job.rows);
	tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
}

void tri_matmul_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	multiply_all(ctx, (struct job){.x = bufs[0], .w = bufs[1], .y = bufs[2], .epilogue = epilogue}, dims);
}
void tri_matmul_f32_panels(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	multiply_all(ctx, (struct job){.x = bufs[0], .w = bufs[1], .y = bufs[2], .packed = true, .epilogue = epilogue}, dims);
}
void tri_multiply_f32_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			    const struct tri_trits *trits)
{
	multiply_all(ctx, (struct job){.x = bufs[0], .y = bufs[2], .trits = trits, .epilogue = epilogue}, dims);
}
void tri_multiply_f32_half(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			   enum tri_half type)
{
	multiply_all(ctx, (struct job){.x = bufs[0], .y = bufs[2], .halves = bufs[1], .type = type, .epilogue = epilogue}, dims);
}

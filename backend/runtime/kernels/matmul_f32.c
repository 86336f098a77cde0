/* y float32 [M, N] = x float32 [M, K] · w float32 [K, N], all row-major, or w in panels, or packed trits or 16-bit floats. Panels of a w that is not packed float32
 * are copied, one block of K at a time. f32_rows.h says in which order a sum is computed. */
#include <stdbool.h>
#include <string.h>
#include "backend/runtime/kernels/f32_half.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_rows.h"
#include "backend/runtime/kernels/f32_trit2.h"

enum { ROWS = 240, COLUMNS = 8 * TRI_PANEL, FEW_COLUMNS = 2 * TRI_PANEL }; /* of a tile of the grid */
enum { FAR = 1024, NEAR_STEP = TRI_F32_BLOCK + 16 };                       /* as in conv_f32.c */

struct job {
	const float *x, *w;
	float *y;
	struct tri_context *ctx;
	int64_t M, K, N;
	bool packed;
	const struct tri_trits *trits; /* in place of w */
	const uint16_t *halves;        /* in place of w: packed */
	enum tri_half type;
	const struct tri_epilogue *epilogue;
	int64_t rows, columns; /* of a tile */
	struct tri_grid grid;
};

/* What a thread uses for a tile. */
struct space {
	_Alignas(64) float tile[ROWS * COLUMNS];
	float copy[TRI_F32_BLOCK * TRI_PANEL];
	float near[ROWS * NEAR_STEP];
	const float *x[ROWS];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

/* Widens n numbers, a multiple of 16. */
static void matmul_f32_widen(const uint16_t *from, enum tri_half type, int64_t n, float *out)
{
	for (int64_t i = 0; i < n; i += TRI_HALF_LANES) {
		tri_half_vec v = type == TRI_BF16 ? tri_widen(TRI_BF16, from + i) : tri_widen(TRI_F16, from + i);
		memcpy(out + i, &v, sizeof v);
	}
}

/* Returns k terms from k0 on of a panel. `copy`: memory for them. */
static const float *matmul_f32_panel_at(const struct job *job, int64_t panel, int64_t k0, int64_t k, float *copy)
{
	int64_t n = panel * TRI_PANEL, width = tri_panel_width(job->N, panel), columns = job->N - n < width ? job->N - n : width;
	if (job->packed)
		return job->w + tri_panel_offset(job->K, panel) + k0 * width;
	if (job->trits)
		tri_trit2_expand(job->trits, panel, k0, k, copy);
	if (job->halves)
		matmul_f32_widen(job->halves + tri_panel_offset(job->K, panel) + k0 * width, job->type, k * width, copy);
	for (int64_t i = 0; job->w && i < k; i++) {
		memcpy(copy + i * width, job->w + (k0 + i) * job->N + n, (size_t)columns * sizeof(float));
		memset(copy + i * width + columns, 0, (size_t)(width - columns) * sizeof(float));
	}
	return copy;
}

/* Points to the rows of one block of terms. Rows that are so far apart that they displace each other in the cache are copied. */
static void matmul_f32_point(const struct job *job, struct space *v, int64_t m, int64_t rows, int64_t k0, int64_t k)
{
	for (int64_t r = 0; r < rows; r++) {
		const float *from = job->x + (m + r) * job->K + k0;
		v->x[r] = job->K % FAR == 0 && rows > 1 ? memcpy(v->near + r * NEAR_STEP, from, (size_t)k * sizeof *from) : from;
	}
}

/* Multiplies the rows by the panels of `columns` columns from n on. */
static void matmul_f32_multiply(const struct job *job, struct space *v, int64_t m, int64_t rows, int64_t n, int64_t columns, float *y,
				int64_t ldy)
{
	for (int64_t k0 = 0; k0 == 0 || k0 < job->K; k0 += TRI_F32_BLOCK) {
		int64_t k = job->K - k0 < TRI_F32_BLOCK ? job->K - k0 : TRI_F32_BLOCK;
		matmul_f32_point(job, v, m, rows, k0, k);
		for (int64_t c = 0; c < columns; c += TRI_PANEL) {
			int64_t panel = (n + c) / TRI_PANEL, width = tri_panel_width(job->N, panel);
			const float *w = matmul_f32_panel_at(job, panel, k0, k, v->copy);
			bool last = c + TRI_PANEL >= columns;
			const float *next = !job->packed ? NULL
					    : last       ? job->w + tri_panel_offset(job->K, n / TRI_PANEL) + (k0 + k) * TRI_PANEL
							 : w + job->K * TRI_PANEL;
			struct tri_f32_rows left = {v->x, 0, 1, k, 0, next};
			tri_f32_rows(&left, rows, w, width, y + c, ldy, k0 == 0);
		}
	}
}

/* Computes a tile of the grid: rows from m on, columns from n on. */
static void matmul_f32_compute_tile(const struct job *job, int64_t m, int64_t n)
{
	struct space *v = tri_space(job->ctx);
	int64_t rows = job->M - m < job->rows ? job->M - m : job->rows, columns = job->N - n < job->columns ? job->N - n : job->columns;
	bool direct = !job->epilogue && columns % TRI_HALF_PANEL == 0;
	float *y = direct ? job->y + m * job->N + n : v->tile;
	matmul_f32_multiply(job, v, m, rows, n, columns, y, direct ? job->N : job->columns);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, v->tile, job->columns, (int64_t[]){0, m, n}, rows, columns);
	else
		for (int64_t r = 0; !direct && r < rows; r++)
			memcpy(job->y + (m + r) * job->N + n, v->tile + r * job->columns, (size_t)columns * sizeof(float));
}

static void matmul_f32_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		matmul_f32_compute_tile(job, t % job->grid.rows * job->rows, t / job->grid.rows * job->columns);
}

/* Chooses the tile: wide, so that rows are copied less often, and of all rows if possible, so that a panel is read once. But at least some
 * tiles for each thread. */
static void matmul_f32_divide_result(struct job *job)
{
	int64_t wanted = 3 * (int64_t)tri_threads(job->ctx), least = 6 * TRI_F32_TILE;
	for (job->columns = COLUMNS; job->columns > FEW_COLUMNS && (job->M <= TRI_F32_TILE || job->N < wanted * job->columns);)
		job->columns /= 2;
	int64_t across = (job->N + job->columns - 1) / job->columns, down = (wanted + across - 1) / across, rows = job->M / down;
	job->rows = tri_f32_tile_rows(job->M, rows > ROWS ? ROWS : rows < least ? least : rows);
}

static void matmul_f32_multiply_all(struct tri_context *ctx, struct job job, const int64_t *dims)
{
	job.ctx = ctx;
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	job.M = d->M, job.K = d->K, job.N = d->N;
	if (job.M <= 0 || job.N <= 0)
		return;
	matmul_f32_divide_result(&job);
	job.grid =
		tri_grid_make((job.N + job.columns - 1) / job.columns, (job.M + job.rows - 1) / job.rows, job.K * job.columns * job.rows);
	tri_parallel(ctx, matmul_f32_task, &job, tri_grid_tasks(&job.grid));
}

void tri_matmul_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	matmul_f32_multiply_all(ctx, (struct job){.x = bufs[0], .w = bufs[1], .y = epilogue ? NULL : bufs[2], .epilogue = epilogue}, dims);
}
void tri_matmul_f32_panels(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	matmul_f32_multiply_all(
		ctx, (struct job){.x = bufs[0], .w = bufs[1], .y = epilogue ? NULL : bufs[2], .packed = true, .epilogue = epilogue}, dims);
}
void tri_multiply_f32_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			    const struct tri_trits *trits)
{
	matmul_f32_multiply_all(ctx, (struct job){.x = bufs[0], .y = epilogue ? NULL : bufs[2], .trits = trits, .epilogue = epilogue},
				dims);
}
void tri_multiply_f32_half(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			   enum tri_half type)
{
	matmul_f32_multiply_all(
		ctx, (struct job){.x = bufs[0], .y = epilogue ? NULL : bufs[2], .halves = bufs[1], .type = type, .epilogue = epilogue},
		dims);
}

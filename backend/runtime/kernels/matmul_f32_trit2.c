/* y float32 [M, N] = x float32 [M, K] · w TRIT2 [K, N], by additions and subtractions: a product with 1 or -1 is exact. Few rows choose numbers by
 * trits, more rows multiply expanded trits; f32_trit2.h. */
#include <string.h>
#include "backend/runtime/kernels/f32_rows.h"
#include "backend/runtime/kernels/f32_trit2.h"

enum { EXPANDED_ROWS = 3, PANELS = 2 }; /* fewest rows that pay for the expansion; panels of a tile */

struct job {
	const float *x;
	float *y;
	int64_t M, K, N;
	_Bool finite; /* x */
	struct tri_trits trits;
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

/* Computes row m of PANELS panels. */
static void compute_row(const struct job *job, int64_t panel, int64_t m)
{
	_Alignas(64) float sums[PANELS * TRI_TRIT2_PANEL];
	int64_t n = panel * TRI_TRIT2_PANEL, left = tri_trit2_panels(job->N) - panel;
	int64_t columns = job->N - n < PANELS * TRI_TRIT2_PANEL ? job->N - n : PANELS * TRI_TRIT2_PANEL;
	tri_trit2_sum_row(&job->trits, job->x + m * job->K, job->finite, panel, left < PANELS ? left : PANELS, sums);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, sums, PANELS * TRI_TRIT2_PANEL, (int64_t[]){0, m, n}, 1, columns);
	else
		memcpy(job->y + m * job->N + n, sums, (size_t)columns * sizeof(float));
}

static void matmul_f32_trit2_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++)
		compute_row(job, t / job->grid.rows * PANELS, t % job->grid.rows);
}

void tri_matmul_f32_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	const struct tri_matmul_dims *d = tri_matmul_of(dims);
	struct job job = {.x = bufs[0], .y = epilogue ? NULL : bufs[2], .M = d->M, .K = d->K, .N = d->N, .epilogue = epilogue};
	job.trits = (struct tri_trits){bufs[1], job.K, job.N, job.K, job.K};
	if (job.M <= 0 || job.N <= 0)
		return;
	job.finite = tri_is_finite(job.x, job.M * job.K);
	if (job.M >= EXPANDED_ROWS && job.K > 0 && job.finite) {
		tri_multiply_f32_trits(ctx, bufs, dims, epilogue, &job.trits);
		return;
	}
	job.grid = tri_grid_make((tri_trit2_panels(job.N) + PANELS - 1) / PANELS, job.M, 2 * job.K * PANELS * TRI_TRIT2_PANEL);
	tri_parallel(ctx, matmul_f32_trit2_task, &job, tri_grid_tasks(&job.grid));
}

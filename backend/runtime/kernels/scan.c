/* y [outer A, length N, inner B]: running sums or products of x along the middle dimension. float32 is accumulated in double. */
#include "backend/runtime/kernels/kernel.h"

enum { LANES = 64 };

struct job {
	const void *x;
	void *y;
	int64_t N, B, blocks;
	_Bool product;
};

#define SCAN(name, type, wide)                                                                                                     \
	static void task_##name(void *arg, int64_t i)                                                                              \
	{                                                                                                                          \
		const struct job *j = arg;                                                                                         \
		int64_t from = i % j->blocks * LANES, n = j->B - from < LANES ? j->B - from : LANES,                               \
			at = i / j->blocks * j->N * j->B + from;                                                                   \
		const type *x = (const type *)j->x + at;                                                                           \
		type *y = (type *)j->y + at;                                                                                       \
		wide acc[LANES];                                                                                                   \
		for (int64_t k = 0; k < n; k++)                                                                                    \
			acc[k] = j->product;                                                                                       \
		for (int64_t r = 0; r < j->N; r++, x += j->B, y += j->B)                                                           \
			for (int64_t k = 0; k < n; k++) {                                                                          \
				acc[k] = j->product ? acc[k] * (wide)x[k] : acc[k] + (wide)x[k];                                   \
				y[k] = (type)acc[k];                                                                               \
			}                                                                                                          \
	}                                                                                                                          \
	void tri_scan_##name(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue) \
	{                                                                                                                          \
		(void)epilogue;                                                                                                    \
		const struct tri_scan_dims *d = tri_scan_of(dims);                                                                 \
		struct job j = {bufs[0], bufs[1], d->length, d->inner, (d->inner + LANES - 1) / LANES, d->product != 0};           \
		tri_parallel(ctx, task_##name, &j, j.N > 0 ? d->outer * j.blocks : 0);                                             \
	}

SCAN(f32, float, double)
SCAN(f64, double, double)
SCAN(i64, int64_t, int64_t)

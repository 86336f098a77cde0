/* y [A, N, B] = x, with v [A, M, B] stored or added at index int64 [A, M, B] along the middle dimension, in order. */
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/abi/tri.h"

enum { LANES = 256 };

struct job {
	struct tri_context *ctx;
	const void *x, *v;
	const int64_t *index;
	void *y;
	int64_t N, B, M, blocks;
	_Bool add;
	uint64_t place;
};

#define SCATTER(name, type)                                                                                                           \
	static void task_##name(void *arg, int64_t i)                                                                                 \
	{                                                                                                                             \
		const struct job *j = arg;                                                                                            \
		int64_t from = i % j->blocks * LANES, n = j->B - from < LANES ? j->B - from : LANES, a = i / j->blocks;               \
		const type *x = (const type *)j->x + a * j->N * j->B + from, *v = (const type *)j->v + a * j->M * j->B + from;        \
		const int64_t *index = j->index + a * j->M * j->B + from;                                                             \
		type *y = (type *)j->y + a * j->N * j->B + from;                                                                      \
		for (int64_t r = 0; r < j->N; r++)                                                                                    \
			memcpy(y + r * j->B, x + r * j->B, (size_t)n * sizeof *y);                                                    \
		for (int64_t r = 0; r < j->M; r++, index += j->B, v += j->B)                                                          \
			for (int64_t k = 0; k < n; k++) {                                                                             \
				if ((uint64_t)index[k] >= (uint64_t)j->N) {                                                           \
					tri_fail_at(j->ctx, index[k], j->N, j->place);                                                \
					return;                                                                                       \
				}                                                                                                     \
				type *to = &y[index[k] * j->B + k];                                                                   \
				*to = j->add ? *to + v[k] : v[k];                                                                     \
			}                                                                                                             \
	}                                                                                                                             \
	void tri_scatter_##name(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue) \
	{                                                                                                                             \
		(void)epilogue;                                                                                                       \
		const struct tri_scatter_dims *d = tri_scatter_of(dims);                                                              \
		struct job j = {ctx,         bufs[0],           bufs[2],                                                              \
				bufs[1],     bufs[3],           d->length,                                                            \
				d->inner,    d->written,        (d->inner + LANES - 1) / LANES,                                       \
				d->add != 0, (uint64_t)d->place};                                                                     \
		tri_parallel(ctx, task_##name, &j, j.N > 0 ? d->outer * j.blocks : 0);                                                \
	}

SCATTER(f32, float)
SCATTER(f64, double)
SCATTER(i64, int64_t)

/* y [A, N, B] = x, in bytes, with v [A, B] stored at an index along the middle dimension. y may be x. */
void tri_put(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	const struct tri_put_dims *d = tri_put_of(dims);
	int64_t A = d->outer, N = d->length, B = d->inner, at;
	const char *x = bufs[0], *v = bufs[1];
	char *y = bufs[3];
	memcpy(&at, bufs[2], sizeof at);
	if (x != y)
		memcpy(y, x, (size_t)(A * N * B));
	if ((uint64_t)at >= (uint64_t)N) {
		tri_fail_at(ctx, at, N, (uint64_t)d->place);
		return;
	}
	for (int64_t a = 0; a < A && B > 0; a++)
		memcpy(y + (a * N + at) * B, v + a * B, (size_t)B);
}

/* y int64 [M, N]: for each row of x the positions of its elements in order. The sort is stable; NaN is greater than all numbers.
 * float32: a radix sort (least significant digit first) of words that hold key and position. 64-bit elements: a merge
 * sort of the positions. */
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/abi/tri.h"

enum { FEW = 32, DIGITS = 4, BUCKETS = 256 };

struct job {
	const void *x;
	uint64_t *work, *y;
	int64_t N;
	uint64_t flip; /* all ones: descending */
	void (*row)(const struct job *j, int64_t m);
};

static uint64_t key_f32(float v, uint64_t flip)
{
	uint32_t bits;
	v += 0.0f; /* -0 is 0 */
	memcpy(&bits, &v, sizeof bits);
	bits = v != v ? UINT32_MAX : bits >> 31 ? ~bits : bits | 1u << 31;
	return (bits ^ (uint32_t)flip) & UINT32_MAX;
}

static void insertion_sort(uint64_t *y, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		uint64_t v = y[i];
		int64_t k = i;
		for (; k > 0 && y[k - 1] > v; k--)
			y[k] = y[k - 1];
		y[k] = v;
	}
}

/* Sorts the n elements of *a by bits 32 … 63; *b is workspace. May swap *a and *b; the result is in *a. */
static void radix(uint64_t **a, uint64_t **b, int64_t n)
{
	int64_t starts[DIGITS][BUCKETS] = {{0}};
	for (int64_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			starts[d][(*a)[i] >> (32 + 8 * d) & 255]++;
	for (int d = 0; d < DIGITS; d++) {
		int64_t at = 0;
		if (starts[d][(*a)[0] >> (32 + 8 * d) & 255] == n)
			continue;
		for (int k = 0; k < BUCKETS; k++) {
			int64_t size = starts[d][k];
			starts[d][k] = at;
			at += size;
		}
		for (int64_t i = 0; i < n; i++)
			(*b)[starts[d][(*a)[i] >> (32 + 8 * d) & 255]++] = (*a)[i];
		uint64_t *sorted = *b;
		*b = *a;
		*a = sorted;
	}
}

static void row_f32(const struct job *j, int64_t m)
{
	const float *x = (const float *)j->x + m * j->N;
	uint64_t *y = j->y + m * j->N, *a = y, *b = j->work + m * j->N;
	for (int64_t i = 0; i < j->N; i++)
		a[i] = key_f32(x[i], j->flip) << 32 | (uint64_t)i;
	if (j->N <= FEW)
		insertion_sort(a, j->N);
	else
		radix(&a, &b, j->N);
	for (int64_t i = 0; i < j->N; i++)
		y[i] = a[i] & UINT32_MAX;
}

static uint64_t key_i64(int64_t v, uint64_t flip) { return ((uint64_t)v ^ 1ull << 63) ^ flip; }

static uint64_t key_f64(double v, uint64_t flip)
{
	uint64_t bits;
	v += 0.0;
	memcpy(&bits, &v, sizeof bits);
	return (v != v ? UINT64_MAX : bits >> 63 ? ~bits : bits | 1ull << 63) ^ flip;
}

TRI_INLINE uint64_t key64(const void *x, uint64_t i, uint64_t flip, _Bool floats)
{
	return floats ? key_f64(((const double *)x)[i], flip) : key_i64(((const int64_t *)x)[i], flip);
}

TRI_INLINE void merge_row(const struct job *j, int64_t m, _Bool floats)
{
	const char *x = (const char *)j->x + 8 * m * j->N;
	int64_t n = j->N;
	uint64_t *y = j->y + m * n, *a = y, *b = j->work + m * n;
	for (int64_t i = 0; i < n; i++)
		a[i] = (uint64_t)i;
	for (int64_t width = 1; width < n; width *= 2) {
		for (int64_t from = 0; from < n; from += 2 * width) {
			int64_t mid = from + width < n ? from + width : n, end = mid + width < n ? mid + width : n, l = from, r = mid;
			for (int64_t k = from; k < end; k++) {
				_Bool left = l < mid && (r == end || key64(x, a[l], j->flip, floats) <= key64(x, a[r], j->flip, floats));
				b[k] = left ? a[l++] : a[r++];
			}
		}
		uint64_t *sorted = b;
		b = a;
		a = sorted;
	}
	if (a != y)
		memcpy(y, a, (size_t)n * sizeof *y);
}

static void row_f64(const struct job *j, int64_t m) { merge_row(j, m, 1); }
static void row_i64(const struct job *j, int64_t m) { merge_row(j, m, 0); }

static void sort_task(void *arg, int64_t m)
{
	const struct job *j = arg;
	j->row(j, m);
}

static void sort_sort(struct tri_context *ctx, void *const *bufs, const int64_t *dims, void (*row)(const struct job *j, int64_t m))
{
	const struct tri_sort_dims *d = tri_sort_of(dims);
	struct job j = {bufs[0], bufs[1], bufs[2], d->length, d->descending ? UINT64_MAX : 0, row};
	if (j.N <= 0)
		return;
	if (j.N < FEW)
		for (int64_t m = 0; m < d->rows; m++)
			row(&j, m);
	else
		tri_parallel(ctx, sort_task, &j, d->rows);
}

/* Positions have 32 bits. */
void tri_sort_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	const struct tri_sort_dims *d = tri_sort_of(dims);
	if (d->rows > 0 && d->length > UINT32_MAX)
		tri_fail(ctx, TRI_ERR_RANGE, d->length, UINT32_MAX);
	else
		sort_sort(ctx, bufs, dims, row_f32);
}
void tri_sort_f64(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	sort_sort(ctx, bufs, dims, row_f64);
}
void tri_sort_i64(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	sort_sort(ctx, bufs, dims, row_i64);
}

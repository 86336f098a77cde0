/* Products of few queries with keys, and of their weights with values, which are widened in registers. Included by attention_few.h. */
#ifndef TRI_ATTENTION_PRODUCTS_H
#define TRI_ATTENTION_PRODUCTS_H
#include "backend/runtime/kernels/attention_row.h"
#include "backend/runtime/kernels/attention_widen.h"

enum { FEW = 4, WIDE = 4 }; /* rows at a time; vectors at a time */

/* Rows of keys or values of a head. */
struct rows {
	const char *at;
	int64_t stride; /* in bytes */
	int64_t ahead;  /* bytes to the rows that are read after these: they are fetched in the meantime */
};

/* Fetches what is needed later than the vector at `at`, once for each line. */
TRI_INLINE void fetch(const char *at, int64_t ahead, int64_t offset, const enum tri_elem t)
{
	if ((uint64_t)offset % 64 < (uint64_t)LANES * elem_bytes(t))
		__builtin_prefetch(at + ahead + offset, 0, 2);
}

/* Returns the sums of the lanes: lane l that of v[l]. Each round adds halves of two vectors. */
TRI_INLINE vec sums_of_lanes(vec *v)
{
#pragma GCC unroll 4
	for (int w = LANES / 2; w; w /= 2)
#pragma GCC unroll 8
		for (int i = 0; i < w; i++) {
			ivec of_second = ((LANE_NUMBERS & w) != 0) & LANES;
			v[i] = vec_shuffle(v[i], v[i + w], LANE_NUMBERS + of_second) +
			       vec_shuffle(v[i], v[i + w], (LANE_NUMBERS ^ w) + of_second);
		}
	return v[0];
}

/* Products of R queries, 1, 2 or 4, with LANES / R keys: out[r * KEYS + j]. */
TRI_INLINE void few_products(const float *q, struct rows k, const enum tri_elem t, int64_t E, const int R, float *out)
{
	enum { MOST = 16 };
	const int keys = LANES / R;
	vec sum[MOST];
	int64_t e = 0;
#pragma GCC unroll 16
	for (int i = 0; i < LANES; i++)
		sum[i] = (vec){0};
	for (; e + LANES <= E; e += LANES)
#pragma GCC unroll 16
		for (int j = 0; j < keys; j++) {
			vec x = widen(k.at + j * k.stride + e * elem_bytes(t), t);
			fetch(k.at + j * k.stride, k.ahead, e * elem_bytes(t), t);
#pragma GCC unroll 4
			for (int r = 0; r < R; r++)
				sum[r * keys + j] += vec_load(q + r * E + e) * x;
		}
	vec all = sums_of_lanes(sum);
	float sums[LANES];
	vec_store(sums, all);
	for (int r = 0; r < R; r++)
		for (int j = 0; e < E && j < keys; j++)
			for (int64_t i = e; i < E; i++)
				sums[r * keys + j] += q[r * E + i] * widen_one(k.at + j * k.stride, i, t);
#pragma GCC unroll 4
	for (int r = 0; r < R; r++)
		memcpy(out + r * KEYS, sums + r * keys, (size_t)keys * sizeof *out);
}

/* Products of R queries with n keys, up to a multiple of LANES / R of them. Missing keys are copies of the last one. */
TRI_INLINE void few_scores(const float *q, struct rows k, const enum tri_elem t, int64_t n, int64_t E, const int R, float *out)
{
	_Alignas(64) char rest[LANES * TRI_ATTENTION_MOST * sizeof(float)];
	const int64_t keys = LANES / R, row = E * elem_bytes(t);
	for (int64_t j = 0; j < n; j += keys) {
		struct rows some = {k.at + j * k.stride, k.stride, k.ahead};
		for (int64_t i = 0; j + keys > n && i < keys; i++)
			memcpy(rest + i * row, k.at + (j + i < n ? j + i : n - 1) * k.stride, (size_t)row);
		if (j + keys > n)
			some = (struct rows){rest, row, 0};
		few_products(q, some, t, E, R, out + j);
	}
}

/* Adds C vectors of n weighted values to the sums of R rows, in the order of the keys. */
TRI_INLINE void few_columns(const float *x, struct rows v, const enum tri_elem t, int64_t n, const int R, const int C, float *sum,
			    int64_t ld)
{
	vec acc[FEW][WIDE];
#pragma GCC unroll 4
	for (int r = 0; r < R; r++)
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
			acc[r][c] = vec_load(sum + r * ld + c * LANES);
	for (int64_t j = 0; j < n; j++)
#pragma GCC unroll 4
		for (int c = 0; c < C; c++) {
			vec y = widen(v.at + j * v.stride + c * LANES * elem_bytes(t), t);
			fetch(v.at + j * v.stride, v.ahead, c * LANES * elem_bytes(t), t);
#pragma GCC unroll 4
			for (int r = 0; r < R; r++)
				acc[r][c] += x[r * KEYS + j] * y;
		}
#pragma GCC unroll 4
	for (int r = 0; r < R; r++)
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
			vec_store(sum + r * ld + c * LANES, acc[r][c]);
}

TRI_INLINE void few_values(const float *x, struct rows v, const enum tri_elem t, int64_t n, int64_t V, const int R, float *sum, int64_t ld)
{
	int64_t c = 0;
	for (; c + WIDE * LANES <= V; c += WIDE * LANES)
		few_columns(x, (struct rows){v.at + c * elem_bytes(t), v.stride, v.ahead}, t, n, R, WIDE, sum + c, ld);
	for (; c + LANES <= V; c += LANES)
		few_columns(x, (struct rows){v.at + c * elem_bytes(t), v.stride, v.ahead}, t, n, R, 1, sum + c, ld);
	for (; c < V; c++)
		for (int r = 0; r < R; r++)
			for (int64_t j = 0; j < n; j++)
				sum[r * ld + c] += x[r * KEYS + j] * widen_one(v.at + j * v.stride, c, t);
}

TRI_INLINE void few_scores_of(enum tri_elem t, const float *q, struct rows k, int64_t n, int64_t E, const int R, float *out)
{
	switch (t) {
	case TRI_ELEM_F16: few_scores(q, k, TRI_ELEM_F16, n, E, R, out); return;
	case TRI_ELEM_BF16: few_scores(q, k, TRI_ELEM_BF16, n, E, R, out); return;
	case TRI_ELEM_I8: few_scores(q, k, TRI_ELEM_I8, n, E, R, out); return;
	default: few_scores(q, k, TRI_ELEM_F32, n, E, R, out); return;
	}
}

TRI_INLINE void few_values_of(enum tri_elem t, const float *x, struct rows v, int64_t n, int64_t V, const int R, float *sum, int64_t ld)
{
	switch (t) {
	case TRI_ELEM_F16: few_values(x, v, TRI_ELEM_F16, n, V, R, sum, ld); return;
	case TRI_ELEM_BF16: few_values(x, v, TRI_ELEM_BF16, n, V, R, sum, ld); return;
	case TRI_ELEM_I8: few_values(x, v, TRI_ELEM_I8, n, V, R, sum, ld); return;
	default: few_values(x, v, TRI_ELEM_F32, n, V, R, sum, ld); return;
	}
}
#endif

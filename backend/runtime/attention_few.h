/* Attention of few rows: keys and values are read where they are, once for all rows. Included by attention_f32.c. */
#ifndef TRI_ATTENTION_FEW_H
#define TRI_ATTENTION_FEW_H
#include "f32_exp.h"

enum { FEW = 4, WIDE = 4 };

/* Returns the sums of the lanes: lane l that of v[l]. Each round adds halves of two vectors. */
TRI_INLINE vec sums_of_lanes(vec *v)
{
#pragma GCC unroll 4
	for (int w = LANES / 2; w; w /= 2)
#pragma GCC unroll 8
		for (int i = 0; i < w; i++) {
			ivec of_second = ((LANE_NUMBERS & w) != 0) & LANES;
			v[i] = __builtin_shuffle(v[i], v[i + w], LANE_NUMBERS + of_second) +
			       __builtin_shuffle(v[i], v[i + w], (LANE_NUMBERS ^ w) + of_second);
		}
	return v[0];
}

/* Products of R rows, 1, 2 or 4, with LANES / R keys: out[r * ld_out + j]. */
TRI_INLINE void few_products(const float *q, const float *k, int64_t E, const int R, float *out, int64_t ld_out)
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
			vec x = vec_load(k + j * E + e);
#pragma GCC unroll 4
			for (int r = 0; r < R; r++)
				sum[r * keys + j] += vec_load(q + r * E + e) * x;
		}
	vec all = sums_of_lanes(sum);
	float sums[LANES];
	vec_store(sums, all);
	for (int r = 0; r < R; r++)
		for (int j = 0; j < keys; j++) {
			float s = sums[r * keys + j];
			for (int64_t i = e; i < E; i++)
				s += q[r * E + i] * k[j * E + i];
			out[r * ld_out + j] = s;
		}
}

/* Products of R rows with n keys, up to a multiple of LANES / R of them. `rest`: room for LANES / R keys. */
TRI_INLINE void few_scores(const float *q, const float *k, int64_t n, int64_t E, const int R, float *out, int64_t ld_out, float *rest)
{
	int64_t j = 0, keys = LANES / R;
	for (; j + keys <= n; j += keys)
		few_products(q, k + j * E, E, R, out + j, ld_out);
	if (j == n)
		return;
	memset(rest, 0, (size_t)(keys * E) * sizeof *rest);
	memcpy(rest, k + j * E, (size_t)((n - j) * E) * sizeof *rest);
	few_products(q, rest, E, R, out + j, ld_out);
}

/* Adds C vectors of n weighted values to the sums of R rows, in the order of the keys. */
TRI_INLINE void few_columns(const float *x, int64_t ldx, const float *v, int64_t n, int64_t V, const int R, const int C, float *sum,
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
			vec y = vec_load(v + j * V + c * LANES);
#pragma GCC unroll 4
			for (int r = 0; r < R; r++)
				acc[r][c] += x[r * ldx + j] * y;
		}
#pragma GCC unroll 4
	for (int r = 0; r < R; r++)
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
			vec_store(sum + r * ld + c * LANES, acc[r][c]);
}

TRI_INLINE void few_values(const float *x, int64_t ldx, const float *v, int64_t n, int64_t V, const int R, float *sum, int64_t ld)
{
	int64_t c = 0;
	for (; c + WIDE * LANES <= V; c += WIDE * LANES)
		few_columns(x, ldx, v + c, n, V, R, WIDE, sum + c, ld);
	for (; c + LANES <= V; c += LANES)
		few_columns(x, ldx, v + c, n, V, R, 1, sum + c, ld);
	for (; c < V; c++)
		for (int r = 0; r < R; r++)
			for (int64_t j = 0; j < n; j++)
				sum[r * ld + c] += x[r * ldx + j] * v[j * V + c];
}
#endif

/* Attention of one query for each head of keys, whose rows are in sequence for each key: keys and values are read in the order of their memory. A
 * detour of a few lines costs half of the rate at which memory is read, and one query computes too little to hide it. The products and sums have the
 * order of attention_products.h. Features and values are whole vectors. Included by attention_few.h. */
#ifndef TRI_ATTENTION_ONE_H
#define TRI_ATTENTION_ONE_H
#include "backend/runtime/kernels/attention_products.h"

enum { LEAST_ONE = 4, MOST_ONE = 64, AHEAD = 4096 }; /* heads; bytes that are fetched before they are needed, after the next key */

/* A block of n keys of some heads: of keys at `k`, values at `v`. */
struct one {
	const struct job *job;
	const float *q;
	struct rows k, v;
	int64_t head_k, head_v; /* bytes from one head to the next */
	int64_t heads, n, ld;
	float *sums;
	float *scores; /* KEYS of each head */
	float *lanes;  /* of LANES keys: a vector of each head, not summed yet */
};

TRI_INLINE void one_product(const float *q, const char *k, const enum tri_elem t, int64_t E, int64_t ahead, float *lanes)
{
	vec sum = {0};
#pragma GCC unroll 4
	for (int64_t e = 0; e < E; e += LANES) {
		sum += vec_load(q + e) * widen(k + e * elem_bytes(t), t);
		fetch(k, ahead, e * elem_bytes(t), t);
	}
	vec_store(lanes, sum);
}

/* The scores of up to LANES keys from `from` on. */
TRI_INLINE void one_sums(const struct one *o, int64_t from)
{
	for (int64_t h = 0; h < o->heads; h++) {
		float *to = o->scores + h * KEYS + from;
		vec v[LANES];
#pragma GCC unroll 16
		for (int j = 0; j < LANES; j++)
			v[j] = vec_load(o->lanes + (j * o->heads + h) * LANES);
		vec_store(to, sums_of_lanes(v));
	}
}

TRI_INLINE void one_scores(const struct one *o, const enum tri_elem t)
{
	const int64_t E = o->job->a.features;
	for (int64_t j = 0; j < o->n; j++) {
		for (int64_t h = 0; h < o->heads; h++)
			one_product(o->q + h * E, o->k.at + j * o->k.stride + h * o->head_k, t, E, o->k.ahead,
				    o->lanes + (j % LANES * o->heads + h) * LANES);
		if (j % LANES == LANES - 1 || j == o->n - 1)
			one_sums(o, j / LANES * LANES);
	}
}

TRI_INLINE void one_values(const struct one *o, const enum tri_elem t)
{
	const int64_t V = o->job->a.values;
	for (int64_t j = 0; j < o->n; j++)
		for (int64_t h = 0; h < o->heads; h++) {
			const char *v = o->v.at + j * o->v.stride + h * o->head_v;
			float *sum = o->sums + h * o->ld, x = o->scores[h * KEYS + j];
#pragma GCC unroll 4
			for (int64_t c = 0; c < V; c += LANES) {
				vec_store(sum + c, vec_load(sum + c) + x * widen(v + c * elem_bytes(t), t));
				fetch(v, o->v.ahead, c * elem_bytes(t), t);
			}
		}
}

static void one_scores_of(const struct one *o)
{
	switch (o->job->a.k_elem) {
	case TRI_ELEM_F16: one_scores(o, TRI_ELEM_F16); return;
	case TRI_ELEM_BF16: one_scores(o, TRI_ELEM_BF16); return;
	case TRI_ELEM_I8: one_scores(o, TRI_ELEM_I8); return;
	default: one_scores(o, TRI_ELEM_F32); return;
	}
}

static void one_values_of(const struct one *o)
{
	switch (o->job->a.v_elem) {
	case TRI_ELEM_F16: one_values(o, TRI_ELEM_F16); return;
	case TRI_ELEM_BF16: one_values(o, TRI_ELEM_BF16); return;
	case TRI_ELEM_I8: one_values(o, TRI_ELEM_I8); return;
	default: one_values(o, TRI_ELEM_F32); return;
	}
}
#endif

/* The softmax of one query: weights of a block of keys, and what is summed so far. Included by attention_f32.c. */
#ifndef TRI_ATTENTION_ROW_H
#define TRI_ATTENTION_ROW_H
#include <stdbool.h>
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/kernels/f32_exp.h"

enum { KEYS = 64 }; /* of a block */

struct job {
	struct tri_attention a;
	const float *q;
	const void *k, *v;
	const float *k_scale, *v_scale; /* NULL: no codes */
	const void *mask;
	float *y;
	int64_t rows; /* of the queries that share keys */
};

/* A query: of which head and item of the batch. Values are multiplied by exp(score - most), and summed in sum[0 … ld). */
struct row {
	int64_t batch, head, query, ld;
	float *most, *total, *sum;
};

TRI_INLINE float greatest(const float *x, int64_t n)
{
	vec most = vec_load(x);
	for (int64_t j = LANES; j < n; j += LANES)
		most = vec_max(most, vec_load(x + j));
	return vec_greatest(most);
}

/* Replaces scores by exp(score - most); returns their sum. */
TRI_INLINE float exponentials(float *x, int64_t n, float most)
{
	vec sum = {0};
	for (int64_t j = 0; j < n; j += LANES) {
		vec e = vec_exp(vec_load(x + j) - most);
		vec_store(x + j, e);
		sum += e;
	}
	return vec_sum(sum);
}

static void hide(const struct job *job, const struct row *r, int64_t first, int64_t n, float *x)
{
	int64_t step, at = tri_attention_mask(&job->a, r->batch, r->head, r->query, &step) + first * step;
	const uint8_t *seen = (const uint8_t *)job->mask + at;
	const float *added = (const float *)job->mask + at;
	if (job->a.mask_elem != TRI_ELEM_BOOL)
		for (int64_t j = 0; j < n; j++)
			x[j] += added[j * step];
	else if (step)
		for (int64_t j = 0; j < n; j++)
			x[j] = seen[j] ? x[j] : -INFINITY;
	else if (!*seen)
		for (int64_t j = 0; j < n; j++)
			x[j] = -INFINITY;
}

/* Turns the products of a row with n keys from `first` on into weights, up to KEYS of them. */
static void weights_of_row(const struct job *job, const struct row *r, int64_t first, int64_t n, float *x)
{
	const struct tri_attention *a = &job->a;
	int64_t seen = a->causal ? r->query + 1 - first : n;
	seen = seen > n ? n : seen < 0 ? 0 : seen;
	for (int64_t j = 0; j < KEYS; j += LANES)
		vec_store(x + j, vec_load(x + j) * a->scale);
	if (a->mask && seen)
		hide(job, r, first, seen, x);
	for (int64_t j = seen; j < KEYS; j++)
		x[j] = -INFINITY;
	float most = greatest(x, KEYS);
	most = *r->most >= most ? *r->most : most;
	if (most == -INFINITY) { /* no key so far */
		memset(x, 0, KEYS * sizeof *x);
		return;
	}
	float total = exponentials(x, KEYS, most);
	if (most != *r->most) {
		float before = vec_exp(vec_of(*r->most - most))[0];
		for (int64_t c = 0; c < r->ld; c += LANES)
			vec_store(r->sum + c, vec_load(r->sum + c) * before);
		*r->total *= before;
		*r->most = most;
	}
	*r->total += total;
}
#endif

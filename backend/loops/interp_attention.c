/* The attention kernels in plain code, in double. */
#include <float.h>
#include <math.h>
#include "backend/loops/interp_state.h"
#include "backend/runtime/attention.h"
#include "base/arena.h"

/* The score of query i for key j, or -INFINITY if it does not see it. */
static double score(const struct kernel_run *r, const struct tri_attention *a, int64_t batch, int64_t head, int64_t i, int64_t j)
{
	const float *q = (const float *)r->bufs[0] + ((batch * a->heads + head) * a->queries + i) * a->features, *k = r->bufs[1];
	int64_t step, at = tri_attention_mask(a, batch, head, i, &step) + j * step;
	double sum = 0;
	k += ((batch * a->kv_heads + head / (a->heads / a->kv_heads)) * a->keys + j) * a->features;
	for (int64_t e = 0; e < a->features; e++)
		sum += (double)q[e] * (double)k[e];
	sum *= (double)a->scale;
	if ((a->causal && j > i) || (a->mask_bool && !((const uint8_t *)r->bufs[3])[at]))
		return -INFINITY;
	return a->mask && !a->mask_bool ? sum + (double)((const float *)r->bufs[3])[at] : sum;
}

static void attend(const struct kernel_run *r, const struct tri_attention *a, int64_t batch, int64_t head, int64_t i, double *weights)
{
	const float *v = (const float *)r->bufs[2] + (batch * a->kv_heads + head / (a->heads / a->kv_heads)) * a->keys * a->values;
	float *y = (float *)r->bufs[a->mask ? 4 : 3] + ((batch * a->heads + head) * a->queries + i) * a->values;
	double most = -DBL_MAX, total = 0;
	for (int64_t j = 0; j < a->keys; j++) {
		weights[j] = score(r, a, batch, head, i, j);
		most = most >= weights[j] ? most : weights[j];
	}
	for (int64_t j = 0; j < a->keys; j++)
		total += weights[j] = exp(weights[j] - most);
	for (int64_t c = 0; c < a->values; c++) {
		double sum = 0;
		for (int64_t j = 0; j < a->keys; j++)
			sum += weights[j] * (double)v[j * a->values + c];
		y[c] = (float)(sum / (total < 0.5 ? 1 : total));
	}
}

static void attention(const struct kernel_run *r, bool mask)
{
	struct tri_attention a = tri_attention_of(r->dims, mask);
	if (a.kv_heads < 1 || a.heads % a.kv_heads)
		run_fail(r->run, LOOP_BROKEN, "%lld heads share keys of %lld", (long long)a.heads, (long long)a.kv_heads);
	if ((a.mask_batch != 1 && a.mask_batch != a.batch) || (a.mask_heads != 1 && a.mask_heads != a.heads) ||
	    (a.mask_queries != 1 && a.mask_queries != a.queries) || (a.mask_keys != 1 && a.mask_keys != a.keys))
		run_fail(r->run, LOOP_BROKEN, "a mask of another size");
	double *weights = ARENA_ARRAY(r->run->arena, double, a.keys + 1);
	for (int64_t row = 0; row < a.batch * a.heads * a.queries && !run_failed(r->run); row++)
		attend(r, &a, row / a.queries / a.heads, row / a.queries % a.heads, row % a.queries, weights);
}

void run_attention(const struct kernel_run *r) { attention(r, false); }
void run_attention_mask(const struct kernel_run *r) { attention(r, true); }

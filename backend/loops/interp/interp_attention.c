/* The attention kernels in plain code, in double. */
#include <float.h>
#include <math.h>
#include "backend/loops/interp/interp_state.h"
#include "backend/runtime/kernels/attention.h"
#include "base/arena.h"

struct attention {
	const struct kernel_run *run;
	struct tri_attention a;
	dtype k_elem, v_elem;
	const void *mask;
	const float *k_scale, *v_scale; /* NULL: no codes */
	float *y;
};

static int64_t interp_attention_place(struct tri_attention_strides s, int64_t batch, int64_t head, int64_t row)
{
	return batch * s.batch + head * s.head + row * s.row;
}

static double interp_attention_number(dtype t, const void *data, int64_t at)
{
	struct loop_value v = value_load(t, data, at);
	return dtype_class(t) == DTC_FLOAT ? v.f : (double)v.i;
}

/* The score of query i for key j, or -INFINITY if it does not see it. */
static double interp_attention_score(const struct attention *x, int64_t batch, int64_t head, int64_t i, int64_t j)
{
	const struct tri_attention *a = &x->a;
	const float *q = (const float *)x->run->bufs[0] + ((batch * a->heads + head) * a->queries + i) * a->features;
	int64_t shared = head / (a->heads / a->kv_heads), k = interp_attention_place(a->k, batch, shared, j);
	int64_t step, at = tri_attention_mask(a, batch, head, i, &step) + j * step;
	double sum = 0, scale = x->k_scale ? (double)x->k_scale[interp_attention_place(a->k_scale, batch, shared, j)] : 1;
	for (int64_t e = 0; e < a->features; e++)
		sum += (double)q[e] * interp_attention_number(x->k_elem, x->run->bufs[1], k + e) * scale;
	sum *= (double)a->scale;
	bool bools = a->mask && a->mask_elem == TRI_ELEM_BOOL;
	if ((a->causal && j > i) || (bools && !((const uint8_t *)x->mask)[at]))
		return -INFINITY;
	return a->mask && !bools ? sum + (double)((const float *)x->mask)[at] : sum;
}

static double interp_attention_value(const struct attention *x, int64_t batch, int64_t shared, int64_t j, int64_t c)
{
	double v = interp_attention_number(x->v_elem, x->run->bufs[2], interp_attention_place(x->a.v, batch, shared, j) + c);
	return x->v_scale ? v * (double)x->v_scale[interp_attention_place(x->a.v_scale, batch, shared, j)] : v;
}

static void interp_attention_attend(const struct attention *x, int64_t batch, int64_t head, int64_t i, double *weights)
{
	const struct tri_attention *a = &x->a;
	int64_t shared = head / (a->heads / a->kv_heads);
	float *y = x->y + ((batch * a->heads + head) * a->queries + i) * a->values;
	double most = -DBL_MAX, total = 0;
	for (int64_t j = 0; j < a->keys; j++) {
		weights[j] = interp_attention_score(x, batch, head, i, j);
		most = most >= weights[j] ? most : weights[j];
	}
	for (int64_t j = 0; j < a->keys; j++)
		total += weights[j] = exp(weights[j] - most);
	for (int64_t c = 0; c < a->values; c++) {
		double sum = 0;
		for (int64_t j = 0; j < a->keys; j++)
			sum += weights[j] * interp_attention_value(x, batch, shared, j, c);
		y[c] = (float)(sum / (total < 0.5 ? 1 : total));
	}
}

void run_attention(const struct kernel_run *r)
{
	bool scaled = kernel_has(r->kernel, "k_scale"), mask = kernel_has(r->kernel, "mask");
	struct attention x = {.run = r, .a = tri_attention_make(r->dims, scaled, mask), .k_elem = r->elems[1], .v_elem = r->elems[2]};
	const struct tri_attention *a = &x.a;
	void **more = r->bufs + 3 + mask;
	x.mask = mask ? r->bufs[3] : NULL;
	x.k_scale = scaled ? more[0] : NULL;
	x.v_scale = scaled ? more[1] : NULL;
	x.y = more[scaled ? 2 : 0];
	if (a->kv_heads < 1 || a->heads % a->kv_heads)
		run_fail(r->run, LOOP_BROKEN, "%lld heads share keys of %lld", (long long)a->heads, (long long)a->kv_heads);
	if ((a->mask_batch != 1 && a->mask_batch != a->batch) || (a->mask_heads != 1 && a->mask_heads != a->heads) ||
	    (a->mask_queries != 1 && a->mask_queries != a->queries) || (a->mask_keys != 1 && a->mask_keys != a->keys))
		run_fail(r->run, LOOP_BROKEN, "a mask of another size");
	double *weights = ARENA_ARRAY(r->run->arena, double, a->keys + 1);
	for (int64_t row = 0; row < a->batch * a->heads * a->queries && !run_failed(r->run); row++)
		interp_attention_attend(&x, row / a->queries / a->heads, row / a->queries % a->heads, row % a->queries, weights);
}

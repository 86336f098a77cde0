/* The dims of an attention, as kernels.def lists them. */
#ifndef TRI_ATTENTION_H
#define TRI_ATTENTION_H
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { TRI_ATTENTION_DIMS = 9, TRI_ATTENTION_MASK_DIMS = 14, TRI_ATTENTION_MOST = 256 /* features, or values, of a head */ };

/* `heads` of queries, of which `heads / kv_heads` adjacent ones share keys and values. A mask has these sizes, or 1 in their place. */
struct tri_attention {
	int64_t batch, heads, kv_heads, queries, keys, features, values;
	_Bool causal, mask, mask_bool;
	float scale;
	int64_t mask_batch, mask_heads, mask_queries, mask_keys;
};

/* The scale is a dim: the bits of a float32, or 0 for 1 / sqrt(features). */
static inline struct tri_attention tri_attention_of(const int64_t *d, _Bool mask)
{
	struct tri_attention a = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] != 0, mask, 0, 0, 1, 1, 1, 1};
	uint32_t bits = (uint32_t)d[8];
	memcpy(&a.scale, &bits, sizeof bits);
	if (!bits)
		a.scale = 1 / sqrtf((float)a.features);
	if (!mask)
		return a;
	a.mask_batch = d[9];
	a.mask_heads = d[10];
	a.mask_queries = d[11];
	a.mask_keys = d[12];
	a.mask_bool = d[13] != 0;
	return a;
}

/* The first element of the mask for query i of a head, and the elements from one key to the next. */
static inline int64_t tri_attention_mask(const struct tri_attention *a, int64_t batch, int64_t head, int64_t i, int64_t *step)
{
	int64_t matrix = (a->mask_batch == 1 ? 0 : batch) * a->mask_heads + (a->mask_heads == 1 ? 0 : head);
	*step = a->mask_keys == 1 ? 0 : 1;
	return (matrix * a->mask_queries + (a->mask_queries == 1 ? 0 : i)) * a->mask_keys;
}
#endif

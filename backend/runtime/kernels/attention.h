/* The dims of an attention, with its scale as a number. */
#ifndef TRI_ATTENTION_H
#define TRI_ATTENTION_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "backend/runtime/kernels/records.h"

enum { TRI_ATTENTION_MOST = 256 }; /* features, or values, of a head */

/* From one item of the batch, head and row to the next, in elements. */
struct tri_attention_strides {
	int64_t batch, head, row;
};

/* `heads` of queries, of which `heads / kv_heads` adjacent ones share keys and values. The features of a key are in sequence, and the elements of a
 * value. Codes (TRI_ELEM_I8) have a float32 scale for each row. A mask has these sizes, or 1 in their place. */
struct tri_attention {
	int64_t batch, heads, kv_heads, queries, keys, features, values;
	_Bool causal, mask, scaled;
	float scale;
	struct tri_attention_strides k, v, k_scale, v_scale;
	enum tri_elem k_elem, v_elem, mask_elem;
	int64_t mask_batch, mask_heads, mask_queries, mask_keys;
};

/* The scale of the dims is the bits of a float32, or 0 for 1 / sqrt(features). */
static inline struct tri_attention tri_attention_make(const int64_t *dims, _Bool scaled, _Bool mask)
{
	const struct tri_attention_dims *d = tri_attention_of(dims);
	struct tri_attention a = {.batch = d->batch,
				  .heads = d->heads,
				  .kv_heads = d->kv_heads,
				  .queries = d->queries,
				  .keys = d->keys,
				  .features = d->features,
				  .values = d->values,
				  .causal = d->causal != 0,
				  .mask = mask,
				  .scaled = scaled,
				  .k = {d->k_batch, d->k_head, d->k_row},
				  .v = {d->v_batch, d->v_head, d->v_row},
				  .k_scale = {d->k_scale_batch, d->k_scale_head, d->k_scale_row},
				  .v_scale = {d->v_scale_batch, d->v_scale_head, d->v_scale_row},
				  .k_elem = (enum tri_elem)d->k_elem,
				  .v_elem = (enum tri_elem)d->v_elem,
				  .mask_elem = (enum tri_elem)d->mask_elem,
				  .mask_batch = d->mask_batch,
				  .mask_heads = d->mask_heads,
				  .mask_queries = d->mask_queries,
				  .mask_keys = d->mask_keys};
	uint32_t bits = (uint32_t)d->scale;
	memcpy(&a.scale, &bits, sizeof bits);
	if (!bits)
		a.scale = 1 / sqrtf((float)a.features);
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

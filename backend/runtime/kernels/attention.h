/* The dims of an attention, as kernels.def lists them. */
#ifndef TRI_ATTENTION_H
#define TRI_ATTENTION_H
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	TRI_ATTENTION_DIMS = 17,
	TRI_ATTENTION_SCALE_DIMS = 6, /* of codes with scales */
	TRI_ATTENTION_MASK_DIMS = 5,
	TRI_ATTENTION_MOST = 256 /* features, or values, of a head */
};
/* The element type of keys, values or a mask, as a dim. */
enum tri_attention_elem { TRI_ATTENTION_F32, TRI_ATTENTION_BOOL, TRI_ATTENTION_F16, TRI_ATTENTION_BF16, TRI_ATTENTION_I8 };

/* From one item of the batch, head and row to the next, in elements. */
struct tri_attention_strides {
	int64_t batch, head, row;
};

/* `heads` of queries, of which `heads / kv_heads` adjacent ones share keys and values. The features of a key are in sequence, and the elements of a
 * value. Codes (TRI_ATTENTION_I8) have a float32 scale for each row. A mask has these sizes, or 1 in their place. */
struct tri_attention {
	int64_t batch, heads, kv_heads, queries, keys, features, values;
	_Bool causal, mask, scaled;
	float scale;
	struct tri_attention_strides k, v, k_scale, v_scale;
	enum tri_attention_elem k_elem, v_elem, mask_elem;
	int64_t mask_batch, mask_heads, mask_queries, mask_keys;
};

static inline struct tri_attention_strides tri_attention_strides_of(const int64_t *d)
{
	return (struct tri_attention_strides){d[0], d[1], d[2]};
}

/* The scale is a dim: the bits of a float32, or 0 for 1 / sqrt(features). */
static inline struct tri_attention tri_attention_of(const int64_t *d, _Bool scaled, _Bool mask)
{
	struct tri_attention a = {.batch = d[0],
				  .heads = d[1],
				  .kv_heads = d[2],
				  .queries = d[3],
				  .keys = d[4],
				  .features = d[5],
				  .values = d[6],
				  .causal = d[7] != 0,
				  .mask = mask,
				  .scaled = scaled,
				  .k = tri_attention_strides_of(d + 9),
				  .v = tri_attention_strides_of(d + 12),
				  .k_elem = (enum tri_attention_elem)d[15],
				  .v_elem = (enum tri_attention_elem)d[16],
				  .mask_batch = 1,
				  .mask_heads = 1,
				  .mask_queries = 1,
				  .mask_keys = 1};
	uint32_t bits = (uint32_t)d[8];
	memcpy(&a.scale, &bits, sizeof bits);
	if (!bits)
		a.scale = 1 / sqrtf((float)a.features);
	d += TRI_ATTENTION_DIMS;
	if (scaled) {
		a.k_scale = tri_attention_strides_of(d);
		a.v_scale = tri_attention_strides_of(d + 3);
		d += TRI_ATTENTION_SCALE_DIMS;
	}
	if (!mask)
		return a;
	a.mask_batch = d[0];
	a.mask_heads = d[1];
	a.mask_queries = d[2];
	a.mask_keys = d[3];
	a.mask_elem = (enum tri_attention_elem)d[4];
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

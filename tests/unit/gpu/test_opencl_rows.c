/* Attention, sorts and scans of both variants on the first OpenCL device against the interpreter of loop IR, at the sizes where their forms change: whole and
 * broken tiles of keys, groups of heads, masks, rows of each element type in two orders, rows that a group sorts and longer ones. */
#include "backend/runtime/kernels/attention.h"
#include "tests/unit/gpu/kernel_calls.h"

static int64_t one_of(const int64_t *x, uint32_t n) { return x[rnd(n)]; }
#define ONE_OF(...) one_of((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* The positions are first, as in a cache, or after the heads. */
static struct tri_attention_strides strides_of(const struct tri_attention_dims *d, int64_t width)
{
	if (rnd(2))
		return (struct tri_attention_strides){d->kv_heads * width, width, d->batch * d->kv_heads * width};
	return (struct tri_attention_strides){d->kv_heads * d->keys * width, d->keys * width, width};
}

static int64_t row_elem(bool codes) { return codes ? TRI_ELEM_I8 : ONE_OF(TRI_ELEM_F32, TRI_ELEM_F16, TRI_ELEM_BF16); }

static void set_rows(struct tri_attention_dims *d, bool codes)
{
	struct tri_attention_strides k = strides_of(d, d->features), v = strides_of(d, d->values), k_scale = strides_of(d, 1),
				     v_scale = strides_of(d, 1);
	d->k_batch = k.batch, d->k_head = k.head, d->k_row = k.row;
	d->v_batch = v.batch, d->v_head = v.head, d->v_row = v.row;
	d->k_scale_batch = k_scale.batch, d->k_scale_head = k_scale.head, d->k_scale_row = k_scale.row;
	d->v_scale_batch = v_scale.batch, d->v_scale_head = v_scale.head, d->v_scale_row = v_scale.row;
	d->k_elem = row_elem(codes), d->v_elem = row_elem(codes);
}

static void set_mask(struct tri_attention_dims *d, bool mask)
{
	d->mask_batch = mask ? ONE_OF(1, d->batch) : 1;
	d->mask_heads = mask ? ONE_OF(1, d->heads) : 1;
	d->mask_queries = mask ? ONE_OF(1, d->queries) : 1;
	d->mask_keys = mask ? ONE_OF(1, d->keys) : 1;
	d->mask_elem = mask ? ONE_OF(TRI_ELEM_F32, TRI_ELEM_BOOL) : TRI_ELEM_F32;
}

/* False: it is too large for a simulator. */
static bool add_small(struct model *m, enum kernel k, const int64_t *dims)
{
	if (!is_small(k, dims, most_work(INT64_MAX)))
		return false;
	add_call(m, k, dims, false);
	return true;
}

static bool add_attention_of(struct model *m, bool codes, bool mask, int64_t queries, int64_t keys)
{
	static const enum kernel kernels[2][2] = {{KERNEL_attention_f32, KERNEL_attention_mask_f32},
						  {KERNEL_attention_i8, KERNEL_attention_mask_i8}};
	static const float scales[] = {0, 0.3f};
	struct tri_attention_dims d = {.batch = ONE_OF(1, 2),
				       .kv_heads = ONE_OF(1, 2, 3),
				       .queries = queries,
				       .keys = keys,
				       .features = ONE_OF(1, 7, 16, 64, 100, 128),
				       .values = ONE_OF(1, 5, 16, 31, 64, 130),
				       .causal = rnd(2)};
	uint32_t bits;
	memcpy(&bits, &scales[rnd(2)], sizeof bits);
	d.scale = bits;
	d.heads = d.kv_heads * ONE_OF(1, 1, 2, 5);
	set_rows(&d, codes);
	set_mask(&d, mask);
	return add_small(m, kernels[codes][mask], (const int64_t *)&d);
}

/* A sample has two of the kernels, since a driver takes long to build one. */
static bool add_attention(struct model *m)
{
	bool codes = rnd(3) == 0, mask = quick(rnd(2), codes);
	return add_attention_of(m, codes, mask, ONE_OF(1, 1, 2, 4, 5, 33, 70), ONE_OF(1, 3, 63, 64, 65, 130, 260));
}

/* Few queries, and keys that several groups divide. */
static void add_long_attention(struct model *m)
{
	for (uint32_t i = 0; i < 4; i++)
		if (quick(true, i / 2 == i % 2))
			add_attention_of(m, i / 2, i % 2, ONE_OF(1, 2, 4), ONE_OF(513, 1100));
}

static bool add_sort(struct model *m)
{
	struct tri_sort_dims d = {
		.rows = ONE_OF(1, 2, 5), .length = ONE_OF(1, 2, 3, 17, 64, 100, 255, 256, 257, 1000, 1025, 3000), .descending = rnd(2)};
	return add_small(m, (enum kernel)ONE_OF(KERNEL_sort_f32, KERNEL_sort_f64, KERNEL_sort_i64), (const int64_t *)&d);
}

static bool add_scan(struct model *m)
{
	struct tri_scan_dims d = {.outer = ONE_OF(1, 2, 5),
				  .length = ONE_OF(1, 3, 64, 257, 1025, 2100, 3000),
				  .inner = ONE_OF(1, 1, 1, 2, 33),
				  .product = rnd(2)};
	return add_small(m, (enum kernel)ONE_OF(KERNEL_scan_f32, KERNEL_scan_f64, KERNEL_scan_i64), (const int64_t *)&d);
}

static void both_variants(void **state)
{
	enum { CALLS = 160, SAMPLE = 48 };
	static bool (*const add[])(struct model *m) = {add_attention, add_attention, add_sort, add_scan};
	struct model m;
	(void)state;
	rnd_begin();
	model_init(&m);
	for (uint32_t i = 0; i < quick(CALLS, SAMPLE); i++)
		while (!add[i % 4](&m))
			continue;
	add_long_attention(&m);
	build_calls(&m);
	check_calls(&m, "groups");
	check_calls(&m, "wide");
	model_end(&m);
}

int test_opencl_rows(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_variants)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

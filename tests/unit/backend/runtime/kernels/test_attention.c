/* The attention kernels of every processor level against naive code in double: odd sizes, groups of heads, masks, one query; keys and values of each
 * element type, in two layouts; memory that ends at a page that cannot be accessed; any number of threads. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include <math.h>
#include <sys/mman.h>
#include "backend/ir/tensor.h"
#include "backend/link/elf/object.h"
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/abi/unit.h"
#include "base/arena.h"

enum { CONTEXT_BYTES = 4096, CASES = 80, THREADS = 3 };

static uint64_t seed = 7;
static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}
static int64_t one_of(const int64_t *x, uint32_t n) { return x[rnd() % n]; }
#define ONE_OF(...) one_of((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* n bytes before a page that cannot be accessed. */
struct guarded {
	void *at;
	char *map;
	size_t mapped;
};
static struct guarded guarded(int64_t n)
{
	size_t page = 4096, body = ((size_t)n + page - 1) / page * page;
	struct guarded g = {NULL, mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), body + page};
	assert_true(g.map != MAP_FAILED);
	assert_int_equal(mprotect(g.map + body, page, PROT_NONE), 0);
	g.at = g.map + body - n;
	return g;
}
static void release(struct guarded g) { munmap(g.map, g.mapped); }

static struct guarded floats(int64_t n, float range)
{
	struct guarded g = guarded(4 * n);
	for (int64_t k = 0; k < n; k++)
		((float *)g.at)[k] = ((float)(rnd() % 2001) / 1000 - 1) * range;
	return g;
}

/* Keys or values: rows of `width` elements for each item, head and position. */
struct rows {
	enum tri_elem elem;
	struct tri_attention_strides stride, of_scale;
	struct guarded data, scales;
};

static const dtype dtypes[] = {
	[TRI_ELEM_F32] = DT_FLOAT32, [TRI_ELEM_F16] = DT_FLOAT16, [TRI_ELEM_BF16] = DT_BFLOAT16, [TRI_ELEM_I8] = DT_INT8};

/* The positions are first, as in a cache, or after the heads. */
static struct tri_attention_strides strides_of(bool first, int64_t B, int64_t heads, int64_t S, int64_t width)
{
	if (first)
		return (struct tri_attention_strides){heads * width, width, B * heads * width};
	return (struct tri_attention_strides){heads * S * width, S * width, width};
}

static struct rows rows_new(enum tri_elem elem, int64_t B, int64_t heads, int64_t S, int64_t width)
{
	int64_t n = B * heads * S * width;
	bool first = rnd() % 2;
	struct rows r = {elem, strides_of(first, B, heads, S, width), strides_of(rnd() % 2, B, heads, S, 1),
			 guarded(n * (int64_t)dtype_size(dtypes[elem])), floats(B * heads * S, 0.008f)};
	for (int64_t k = 0; k < n; k++)
		if (elem == TRI_ELEM_I8)
			((int8_t *)r.data.at)[k] = (int8_t)(rnd() % 255 - 127);
		else
			elem_put_float(dtypes[elem], r.data.at, k, ((double)(rnd() % 2001) / 1000 - 1) * (rnd() % 9 ? 1 : 3e-6));
	return r;
}

static double rows_at(const struct rows *r, int64_t batch, int64_t head, int64_t row, int64_t k)
{
	int64_t at = batch * r->stride.batch + head * r->stride.head + row * r->stride.row + k;
	if (r->elem != TRI_ELEM_I8)
		return elem_float(dtypes[r->elem], r->data.at, at);
	const float *scale = r->scales.at;
	return ((int8_t *)r->data.at)[at] * (double)scale[batch * r->of_scale.batch + head * r->of_scale.head + row * r->of_scale.row];
}

struct problem {
	struct tri_attention_dims dims;
	int64_t n; /* elements of the result */
	struct tri_attention a;
	struct guarded q, mask, y, again;
	struct rows k, v;
};

static struct problem problem_new(void)
{
	int64_t kv = ONE_OF(1, 2, 3, 5, 69), heads = kv * ONE_OF(1, 1, 2, 4, 7), B = ONE_OF(1, 2),
		L = ONE_OF(1, 1, 1, 2, 3, 5, 33, 70, 197);
	if (kv > 8)
		heads = kv, L = 1;
	int64_t S = ONE_OF(0, 1, 3, 63, 64, 65, 130, 197, 384, 500), E = ONE_OF(1, 7, 16, 64, 100, 128), V = ONE_OF(1, 5, 16, 31, 64, 130);
	bool scaled = rnd() % 3 == 0;
	uint32_t mask = rnd() % 3, bits = 0;
	enum tri_elem types[] = {TRI_ELEM_F32, TRI_ELEM_F16, TRI_ELEM_BF16};
	float scale = 0.3f;
	if (rnd() % 2)
		memcpy(&bits, &scale, sizeof bits);
	struct problem p = {.n = B * heads * L * V,
			    .q = floats(B * heads * L * E, 2),
			    .k = rows_new(scaled ? TRI_ELEM_I8 : types[rnd() % 3], B, kv, S, E),
			    .v = rows_new(scaled ? TRI_ELEM_I8 : types[rnd() % 3], B, kv, S, V)};
	const struct tri_attention_strides k = p.k.stride, v = p.v.stride, ks = p.k.of_scale, vs = p.v.of_scale;
	p.dims = (struct tri_attention_dims){.batch = B,
					     .heads = heads,
					     .kv_heads = kv,
					     .queries = L,
					     .keys = S,
					     .features = E,
					     .values = V,
					     .causal = rnd() % 2,
					     .scale = bits,
					     .k_batch = k.batch,
					     .k_head = k.head,
					     .k_row = k.row,
					     .k_elem = p.k.elem,
					     .v_batch = v.batch,
					     .v_head = v.head,
					     .v_row = v.row,
					     .v_elem = p.v.elem,
					     .k_scale_batch = ks.batch,
					     .k_scale_head = ks.head,
					     .k_scale_row = ks.row,
					     .v_scale_batch = vs.batch,
					     .v_scale_head = vs.head,
					     .v_scale_row = vs.row,
					     .mask_batch = mask ? ONE_OF(1, B) : 1,
					     .mask_heads = mask ? ONE_OF(1, heads) : 1,
					     .mask_queries = mask ? ONE_OF(1, L) : 1,
					     .mask_keys = mask ? ONE_OF(1, S) : 1,
					     .mask_elem = mask == 1};
	p.a = tri_attention_make((const void *)&p.dims, scaled, mask != 0);
	int64_t n = p.dims.mask_batch * p.dims.mask_heads * p.dims.mask_queries * p.dims.mask_keys;
	p.mask = mask == 1 ? guarded(n) : floats(n, 5);
	for (int64_t i = 0; mask == 1 && i < n; i++)
		((char *)p.mask.at)[i] = rnd() % 3 != 0;
	for (int64_t i = 0; mask == 2 && i < n; i += 5)
		((float *)p.mask.at)[i] = -INFINITY;
	p.y = guarded(4 * p.n);
	p.again = guarded(4 * p.n);
	return p;
}

static void problem_free(const struct problem *p)
{
	release(p->q), release(p->mask), release(p->y), release(p->again);
	release(p->k.data), release(p->k.scales), release(p->v.data), release(p->v.scales);
}

/* Element [batch, head, i, c] of the result. */
static double naive(const struct problem *p, int64_t batch, int64_t head, int64_t i, int64_t c)
{
	const struct tri_attention *a = &p->a;
	int64_t shared = head / (a->heads / a->kv_heads), step, at = tri_attention_mask(a, batch, head, i, &step);
	const float *q = (float *)p->q.at + ((batch * a->heads + head) * a->queries + i) * a->features;
	double most = -INFINITY, total = 0, sum = 0, score[512];
	bool bools = a->mask && a->mask_elem == TRI_ELEM_BOOL;
	for (int64_t j = 0; j < a->keys; j++) {
		score[j] = 0;
		for (int64_t e = 0; e < a->features; e++)
			score[j] += (double)q[e] * rows_at(&p->k, batch, shared, j, e);
		score[j] *= (double)a->scale;
		if (a->mask && !bools)
			score[j] += (double)((float *)p->mask.at)[at + j * step];
		if ((a->causal && j > i) || (bools && !((char *)p->mask.at)[at + j * step]))
			score[j] = -INFINITY;
		most = fmax(most, score[j]);
	}
	for (int64_t j = 0; j < a->keys && most > -INFINITY; j++) {
		double w = exp(score[j] - most);
		total += w;
		sum += w * rows_at(&p->v, batch, shared, j, c);
	}
	return total > 0 ? sum / total : 0;
}

/* fn: for keys and values as they are, and for codes with scales; each without and with a mask. */
static void run(tri_kernel_fn *const *fn, void *ctx, struct problem *p, void *y)
{
	void *bufs[7] = {p->q.at, p->k.data.at, p->v.data.at}, **next = bufs + 3;
	memset(y, 0x5a, (size_t)(4 * p->n));
	if (p->a.mask)
		*next++ = p->mask.at;
	if (p->a.scaled) {
		*next++ = p->k.scales.at;
		*next++ = p->v.scales.at;
	}
	*next = y;
	fn[2 * p->a.scaled + p->a.mask](ctx, bufs, (const void *)&p->dims, NULL);
}

static void check(tri_kernel_fn *const *fn, void *const *ctx)
{
	struct problem p = problem_new();
	run(fn, ctx[0], &p, p.y.at);
	for (int64_t n = 0; n < p.n; n += 1 + rnd() % 97) {
		int64_t c = n % p.a.values, i = n / p.a.values % p.a.queries, head = n / p.a.values / p.a.queries;
		double want = naive(&p, head / p.a.heads, head % p.a.heads, i, c), got = (double)((float *)p.y.at)[n];
		if (!(fabs(got - want) <= 2e-6))
			fail_msg("B %d H %d G %d L %d S %d E %d V %d types %d %d causal %d mask %d: query %d of head %d: got %g, want %g",
				 (int)p.a.batch, (int)p.a.heads, (int)p.a.kv_heads, (int)p.a.queries, (int)p.a.keys, (int)p.a.features,
				 (int)p.a.values, (int)p.k.elem, (int)p.v.elem, p.a.causal, p.a.mask, (int)i, (int)head, got, want);
	}
	for (int k = 1; k < THREADS; k++) {
		run(fn, ctx[k], &p, p.again.at);
		assert_memory_equal(p.y.at, p.again.at, (size_t)(4 * p.n));
	}
	problem_free(&p);
}

static void check_level(struct arena *a, enum runtime_level level)
{
	static const char *const names[] = {"tri_attention_f32",     "tri_attention_mask_f32", "tri_attention_i8",
					    "tri_attention_mask_i8", "tri_context_init",       "tri_context_end"};
	struct object *objects[MOST_OBJECTS];
	void *ctx[THREADS];
	tri_kernel_fn *fn[4];
	void (*init)(void *ctx, uint32_t threads), (*end)(void *ctx);
	if (!level_runs(level))
		return;
	void *library = link_open(a, objects, runtime_parse(a, level, objects), names, 6);
	for (uint32_t k = 0; k < 4; k++)
		*(void **)&fn[k] = symbol(library, names[k]);
	*(void **)&init = symbol(library, names[4]);
	*(void **)&end = symbol(library, names[5]);
	for (uint32_t k = 0; k < THREADS; k++)
		init(ctx[k] = arena_alloc(a, CONTEXT_BYTES, 64), k + 1);
	for (int k = 0; k < CASES; k++)
		check(fn, ctx);
	for (uint32_t k = 0; k < THREADS; k++)
		end(ctx[k]);
	dlclose(library);
}

static void test_every_level(void **state)
{
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		check_level(a, level);
	arena_free(a);
}

int test_attention(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_level)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

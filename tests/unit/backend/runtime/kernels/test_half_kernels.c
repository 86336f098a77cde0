/* Products with panels of 16-bit floats, at every processor level: the bits of the product with widened panels, for any number of rows and threads. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include <math.h>
#include "backend/ir/tensor.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/abi/unit.h"

enum { CONTEXT_BYTES = 4096 };

struct kernels {
	void *library;
	tri_kernel_fn *f32, *bf16, *f16;
	void (*init)(void *ctx, uint32_t threads);
	void (*end)(void *ctx);
};

static bool kernels_open(struct arena *a, enum runtime_level level, struct kernels *k)
{
	static const char *const names[] = {"tri_matmul_f32_panels", "tri_matmul_f32_bf16", "tri_matmul_f32_f16", "tri_context_init",
					    "tri_context_end"};
	struct object *objects[MOST_OBJECTS];
	if (!level_runs(level))
		return false;
	k->library = link_open(a, objects, runtime_parse(a, level, objects), names, 5);
	*(void **)&k->f32 = symbol(k->library, names[0]);
	*(void **)&k->bf16 = symbol(k->library, names[1]);
	*(void **)&k->f16 = symbol(k->library, names[2]);
	*(void **)&k->init = symbol(k->library, names[3]);
	*(void **)&k->end = symbol(k->library, names[4]);
	return true;
}

static uint32_t seed = 1;
static uint32_t rnd(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

/* Any pattern but infinity and NaN; one in eight has the least exponent. */
static uint16_t half(uint16_t exponent)
{
	uint16_t bits = (uint16_t)rnd();
	bits = rnd() % 8 ? bits : (uint16_t)(bits & ~exponent);
	return (bits & exponent) == exponent ? (uint16_t)(bits & ~(exponent & 0x4000)) : bits;
}

/* Tiles of an epilogue go to y. */
struct stored {
	struct tri_epilogue epilogue;
	float *y;
	int64_t columns;
};
static void store_tile(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	const struct stored *s = (const struct stored *)(const void *)e;
	for (int64_t r = 0; r < rows; r++)
		memcpy(s->y + (at[1] + r) * s->columns + at[2], (const float *)tile + r * stride, (size_t)columns * sizeof(float));
}

static void check(const struct kernels *k, void *const *ctx, bool is_bf16, int64_t M, int64_t K, int64_t N)
{
	struct arena *a = arena_new(0);
	size_t mk = (size_t)(M * K), kn = (size_t)(K * N), mn = (size_t)(M * N) * sizeof(float);
	float *x = arena_alloc(a, mk * sizeof *x + 1, 64), *wide = arena_alloc(a, kn * sizeof *wide + 1, 64);
	uint16_t *w = arena_alloc(a, kn * sizeof *w + 1, 64), *panels = arena_alloc(a, tri_panels_size(K, N) / 2 + 1, 64);
	float *wide_panels = arena_alloc(a, tri_panels_size(K, N) + 1, 64), *want = arena_alloc(a, mn + 1, 64),
	      *got = arena_alloc(a, mn + 1, 64);
	for (size_t i = 0; i < mk; i++)
		x[i] = (float)((int32_t)rnd() % 1000) / 64.0f;
	for (size_t i = 0; i < kn; i++) {
		w[i] = half(is_bf16 ? 0x7f80 : 0x7c00);
		wide[i] = (float)(is_bf16 ? bfloat16_value(w[i]) : float16_value(w[i]));
	}
	tri_panels_pack(&(struct tri_panels_source){wide, K, 1, N, {N, 0, 1}}, wide_panels);
	tri_half_panels_pack(&(struct tri_panels_source){w, K, 1, N, {N, 0, 1}}, panels);
	k->f32(ctx[0], (void *[]){x, wide_panels, want}, (int64_t[]){M, K, N}, NULL);
	for (int c = 0; c < 4; c++) {
		struct stored s = {.epilogue = {.fn = store_tile}, .y = got, .columns = N};
		memset(got, 0x5a, mn);
		(is_bf16 ? k->bf16 : k->f16)(ctx[c % 2], (void *[]){x, panels, c < 2 ? got : NULL}, (int64_t[]){M, K, N},
					     c < 2 ? NULL : &s.epilogue);
		for (int64_t i = 0; i < M * N; i++) /* both are NaN if bfloat16 overflows in the sum */
			if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
				fail_msg("%s M=%d K=%d N=%d at %d: %a, not %a", is_bf16 ? "bf16" : "f16", (int)M, (int)K, (int)N, (int)i,
					 (double)got[i], (double)want[i]);
	}
	arena_free(a);
}

static void check_level(enum runtime_level level)
{
	static const int64_t shapes[][3] = {{1, 0, 5},   {1, 1, 1},    {1, 300, 33},  {1, 512, 128}, {2, 257, 16}, {3, 700, 31},
					    {5, 40, 49}, {8, 256, 64}, {9, 255, 80},  {13, 600, 17}, {40, 33, 96}, {100, 90, 40},
					    {0, 5, 5},   {7, 1000, 1}, {48, 270, 65}, {49, 20, 64}};
	struct arena *a = arena_new(0);
	struct kernels k;
	void *ctx[2] = {arena_alloc(a, CONTEXT_BYTES, 64), arena_alloc(a, CONTEXT_BYTES, 64)};
	if (kernels_open(a, level, &k)) {
		k.init(ctx[0], 1);
		k.init(ctx[1], 3);
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
			for (int t = 0; t < 2; t++)
				check(&k, ctx, t == 0, shapes[s][0], shapes[s][1], shapes[s][2]);
		k.end(ctx[0]);
		k.end(ctx[1]);
		dlclose(k.library);
	}
	arena_free(a);
}

static void base(void **state) { check_level(RUNTIME_BASE); }
static void v3(void **state) { check_level(RUNTIME_V3); }
static void vnni(void **state) { check_level(RUNTIME_VNNI); }

int test_half_kernels(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base),
		cmocka_unit_test(v3),
		cmocka_unit_test(vnni),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

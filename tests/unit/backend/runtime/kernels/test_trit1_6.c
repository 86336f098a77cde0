/* TRIT1_6: its bytes, and its products beside those of TRIT2, which test_kernels.c checks. */
#include "tests/unit/unit.h"
#include "backend/runtime/context.h"
#include "backend/runtime/pack/trit1_6.h"
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "tests/unit/backend/runtime/kernels/kernels_fixture.h"

/* Trit [k, n] of packed bytes, from the description in trit1_6.h. */
static int trit_of(const uint8_t *packed, int64_t K, int64_t N, int64_t k, int64_t n)
{
	static const int powers[] = {1, 3, 9, 27};
	int64_t halves = tri_trit2_halves(N, n / 32), step = k % 80 / 16, field = k % 16 / 4;
	int64_t line = step < 4 ? step : field;
	const uint8_t *group = packed + tri_trit1_6_offset(K, n / 32) + k / 80 * 4 * halves * 64;
	int byte = group[(line * halves + n % 32 / 16) * 64 + n % 16 * 4 + k % 4];
	return (step < 4 ? byte % 81 / powers[field] % 3 : byte / 81) - 1;
}

/* Every byte occurs, and every trit comes back. */
static void packs_every_byte(void **state)
{
	enum { K = 80 * 61, N = 4 };
	struct guarded trits = guarded(K * N), two = guarded(tri_trit2_packed_size(K, N)), out = guarded(tri_trit1_6_packed_size(K, N));
	bool seen[256] = {false};
	for (int code = 0; code < 243 * 4; code++) /* line j of a group has 16 bytes that hold trits, four for each lane */
		for (int f = 0, rest = code % 243; f < 5; f++, rest /= 3) {
			int lane = code % 4, j = code / 4 % 4, group = code / 16;
			int64_t k = group * 80 + (f < 4 ? j * 16 + f * 4 : 64 + j * 4) + code / 4 % 4;
			((int8_t *)trits.at)[k * N + lane] = (int8_t)(rest % 3 - 1);
		}
	tri_trit2_pack(trits.at, K, N, two.at);
	tri_trit1_6_pack(two.at, K, N, out.at);
	for (size_t i = 0; i < tri_trit1_6_packed_size(K, N); i++)
		seen[((uint8_t *)out.at)[i]] = true;
	for (int code = 0; code < 256; code++)
		assert_int_equal(seen[code], code < 243);
	for (int64_t k = 0; k < K; k++)
		for (int64_t n = 0; n < N; n++)
			assert_int_equal(trit_of(out.at, K, N, k, n), ((int8_t *)trits.at)[k * N + n]);
	release(trits), release(two), release(out);
}

static void packs_every_shape(void **state)
{
	assert_int_equal(tri_trit1_6_packed_size(0, 33), 0);
	assert_int_equal(tri_trit1_6_packed_size(80, 16), 256);
	assert_int_equal(tri_trit1_6_packed_size(81, 33), 2 * 256 * 3);
	for (int64_t K = 1; K < 165; K += 3)
		for (int64_t N = 1; N < 70; N += 7) {
			struct problem p = problem_new(1, K, N);
			struct guarded out = guarded(tri_trit1_6_packed_size(K, N));
			tri_trit1_6_pack(p.packed.at, K, N, out.at);
			for (int64_t k = 0; k < K; k++)
				for (int64_t n = 0; n < N; n++)
					assert_int_equal(trit_of(out.at, K, N, k, n), ((int8_t *)p.trits.at)[k * N + n]);
			release(out);
			problem_free(&p);
		}
}

static void check_product(const struct kernels *k, struct tri_context *ctx, int64_t M, int64_t K, int64_t N)
{
	struct problem p = problem_new(M, K, N);
	struct guarded dense = guarded(tri_trit1_6_packed_size(K, N));
	bool has_vbmi = ctx->has_vbmi;
	tri_trit1_6_pack(p.packed.at, K, N, dense.at);
	run(k->matmul_i8_trit2, ctx, &p, p.i8.at, p.packed.at, p.y.at);
	for (int vbmi = 0; vbmi <= has_vbmi; vbmi++) {
		ctx->has_vbmi = vbmi;
		run(k->matmul_i8_trit1_6, ctx, &p, p.i8.at, dense.at, p.y2.at);
		assert_memory_equal(p.y.at, p.y2.at, (size_t)(4 * M * N));
		check_epilogue(k->matmul_i8_trit1_6, ctx, (void *[]){p.i8.at, dense.at}, (int64_t[]){M, K, N}, p.y.at, 1, M, N);
	}
	ctx->has_vbmi = has_vbmi;
	release(dense);
	problem_free(&p);
}

static void multiplies_as_two_bits(void **state)
{
	static const int64_t fixed[][3] = {{1, 2560, 96}, {1, 79, 33},   {1, 81, 16}, {3, 80, 17}, {9, 1283, 49},
					   {65, 400, 40}, {600, 90, 20}, {2, 0, 5},   {1, 7, 1}};
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++) {
		struct kernels k;
		if (!kernels_open(a, level, &k))
			continue;
		for (uint32_t threads = 1; threads < 4; threads++) {
			_Alignas(64) char memory[CONTEXT_BYTES];
			struct tri_context *ctx = (struct tri_context *)memory;
			k.init(ctx, threads);
			for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
				check_product(&k, ctx, fixed[i][0], fixed[i][1], fixed[i][2]);
			for (int i = 0; i < 40; i++)
				check_product(&k, ctx, 1 + rnd() % 20, rnd() % 400, 1 + rnd() % 100);
			k.end(ctx);
		}
		dlclose(k.library);
	}
	arena_free(a);
}

/* The largest magnitudes over a long K: the accumulators of all fields are divided or shifted before they overflow. */
static void sums_of_long_rows(void **state)
{
	enum { K = 1200000, N = 1 };
	struct arena *a = arena_new(0);
	struct guarded x = guarded(K), trits = guarded(K), two = guarded(tri_trit2_packed_size(K, N)),
		       w = guarded(tri_trit1_6_packed_size(K, N));
	int32_t y;
	memset(x.at, 0x80, K);
	memset(trits.at, 1, K);
	tri_trit2_pack(trits.at, K, N, two.at);
	tri_trit1_6_pack(two.at, K, N, w.at);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++) {
		struct kernels k;
		_Alignas(64) char ctx[CONTEXT_BYTES];
		if (!kernels_open(a, level, &k))
			continue;
		k.init(ctx, 1);
		k.matmul_i8_trit1_6((struct tri_context *)ctx, (void *[]){x.at, w.at, &y}, (int64_t[]){1, K, N}, NULL);
		assert_int_equal(y, -128 * K);
		k.end(ctx);
		dlclose(k.library);
	}
	release(x), release(trits), release(two), release(w);
	arena_free(a);
}

int test_trit1_6(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packs_every_byte), cmocka_unit_test(packs_every_shape),
					   cmocka_unit_test(multiplies_as_two_bits), cmocka_unit_test(sums_of_long_rows)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The matrix products of every processor level against naive loops: random shapes, guarded memory on both ends of each buffer, any number
 * of threads. */
#include "tests/unit/backend/runtime/kernels/kernels_fixture.h"

enum { MOST_FILLED = 1 << 14 };

static void check_i8(const struct problem *p)
{
	const int8_t *x = p->i8.at, *w = p->trits.at;
	const int32_t *y = p->y.at;
	for (int64_t m = 0; m < p->M; m++)
		for (int64_t n = 0; n < p->N; n++) {
			int32_t want = 0;
			for (int64_t k = 0; k < p->K; k++)
				want += x[m * p->K + k] * w[k * p->N + n];
			if (y[m * p->N + n] != want)
				fail_msg("i8_trit2 M=%d K=%d N=%d at %d,%d: got %d, want %d", (int)p->M, (int)p->K, (int)p->N, (int)m,
					 (int)n, y[m * p->N + n], want);
		}
}

static void check_float(const struct problem *p, bool trits, const char *name)
{
	const float *x = p->f32.at, *y = p->y.at;
	for (int64_t m = 0; m < p->M; m++)
		for (int64_t n = 0; n < p->N; n++) {
			double want = 0, terms = 0;
			for (int64_t k = 0; k < p->K; k++) {
				double t = (double)x[m * p->K + k] * (trits ? (double)((int8_t *)p->trits.at)[k * p->N + n]
									    : (double)((float *)p->w32.at)[k * p->N + n]);
				want += t;
				terms += fabs(t);
			}
			if (!(fabs(y[m * p->N + n] - want) <= 1e-6 * terms)) /* ten times stricter than promised */
				fail_msg("%s M=%d K=%d N=%d at %d,%d: got %g, want %g", name, (int)p->M, (int)p->K, (int)p->N, (int)m,
					 (int)n, (double)y[m * p->N + n], want);
		}
}

/* Each row computed alone must give the same bits as in a batch. */
static void check_rows(tri_kernel_fn *fn, void *ctx, const struct problem *p, void *x, size_t elem, void *w)
{
	for (int64_t m = 0; m < p->M; m++) {
		call(fn, ctx, (void *[]){(char *)x + (size_t)(m * p->K) * elem, w, p->y2.at}, (int64_t[]){1, p->K, p->N}, NULL);
		assert_memory_equal(p->y2.at, (char *)p->y.at + 4 * m * p->N, (size_t)(4 * p->N));
	}
}

/* A prologue that copies parts of x [rows, columns]; each element once. */
struct filled {
	struct tri_prologue prologue;
	const int8_t *x;
	int64_t columns;
	_Atomic int64_t elements;
};
static void fill_tile(const struct tri_prologue *p, void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	struct filled *f = (struct filled *)(uintptr_t)p;
	assert_int_equal(at[0], 0);
	for (int64_t r = 0; r < rows; r++)
		memcpy((int8_t *)tile + r * stride, f->x + (at[1] + r) * f->columns + at[2], (size_t)columns);
	f->elements += rows * columns;
}

/* A kernel whose operand a prologue computes must store the bits that it stores without one, and pass them to an epilogue. */
static void check_prologue(const struct kernels *k, void *const *ctx, const struct problem *p)
{
	int64_t dims[] = {p->M, p->K, p->N}, n = p->M * p->N;
	for (int i = 0; i < 6; i++) {
		struct filled f = {.prologue = {.fn = fill_tile}, .x = p->i8.at, .columns = p->K};
		struct stored s = {.epilogue = {.fn = store_tile}, .y = p->y2.at, .rows = p->M, .columns = p->N};
		memset(p->y2.at, 0x5a, (size_t)(4 * n));
		k->matmul_i8_trit2_filled(ctx[i / 2], (void *[]){NULL, p->packed.at, i % 2 ? NULL : p->y2.at}, dims,
					  i % 2 ? &s.epilogue : NULL, &f.prologue);
		assert_memory_equal(p->y.at, p->y2.at, (size_t)(4 * n));
		assert_int_equal(f.elements, n ? p->M * p->K : 0);
	}
}

static void check_problem(const struct kernels *k, void *const *ctx, int64_t M, int64_t K, int64_t N)
{
	struct problem p = problem_new(M, K, N);
	struct {
		tri_kernel_fn *fn;
		void *x, *w;
		size_t elem;
	} all[] = {{k->matmul_i8_trit2, p.i8.at, p.packed.at, 1},
		   {k->matmul_f32_trit2, p.f32.at, p.packed.at, 4},
		   {k->matmul_f32, p.f32.at, p.w32.at, 4},
		   {k->matmul_f32_panels, p.f32.at, p.panels.at, 4}};
	for (int i = 0; i < 4; i++) {
		run(all[i].fn, ctx[0], &p, all[i].x, all[i].w, p.y.at);
		if (i == 0)
			check_i8(&p);
		else
			check_float(&p, i == 1, i == 1 ? "f32_trit2" : i == 2 ? "f32" : "f32_panels");
		if (i == 0 && K <= MOST_FILLED)
			check_prologue(k, ctx, &p);
		for (int c = 1; c < 3; c++) {
			run(all[i].fn, ctx[c], &p, all[i].x, all[i].w, p.y2.at);
			assert_memory_equal(p.y.at, p.y2.at, (size_t)(4 * M * N));
		}
		check_epilogue(all[i].fn, ctx[1], (void *[]){all[i].x, all[i].w}, (int64_t[]){M, K, N}, p.y.at, 1, M, N);
		if (M > 1 && M < 40)
			check_rows(all[i].fn, ctx[0], &p, all[i].x, all[i].elem, all[i].w);
	}
	problem_free(&p);
}

static void check_all(const struct kernels *k, void *const *ctx)
{
	static const int64_t fixed[][3] = {{0, 5, 5},      {3, 0, 7},        {3, 7, 0},     {1, 1, 1},      {1, 2560, 640},
					   {1, 1023, 97},  {70, 300, 160},   {600, 17, 33}, {9, 1025, 260}, {130, 64, 48},
					   {2, 4096, 129}, {250, 1024, 300}, {49, 2048, 40}};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		check_problem(k, ctx, fixed[i][0], fixed[i][1], fixed[i][2]);
	for (int i = 0; i < 120; i++)
		check_problem(k, ctx, 1 + rnd() % 20, rnd() % 300, 1 + rnd() % 100);
}

static void base_level(void **state) { on_level(RUNTIME_BASE, check_all); }
static void v3_level(void **state) { on_level(RUNTIME_V3, check_all); }
static void vnni_level(void **state) { on_level(RUNTIME_VNNI, check_all); }

/* Only sums are rounded: the bits are the same on every level; a zero trit hides a NaN. */
static void trit_sums_agree_between_levels(void **state)
{
	struct arena *a = arena_new(0);
	struct problem p = problem_new(5, 1100, 75);
	bool first = true;
	for (int64_t k = 0; k < p.K; k++)
		if (((int8_t *)p.trits.at)[k * p.N] == 0)
			((float *)p.f32.at)[k] = NAN; /* row 0 */
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++) {
		struct kernels k;
		_Alignas(64) char ctx[CONTEXT_BYTES];
		if (!kernels_open(a, level, &k))
			continue;
		k.init(ctx, 1);
		run(k.matmul_f32_trit2, ctx, &p, p.f32.at, p.packed.at, first ? p.y.at : p.y2.at);
		k.end(ctx);
		assert_false(isnan(((float *)(first ? p.y.at : p.y2.at))[0]));
		assert_true(isnan(((float *)(first ? p.y.at : p.y2.at))[1]));
		for (int64_t i = 0; !first && i < p.M * p.N; i++)
			assert_true(isnan(((float *)p.y.at)[i]) ? isnan(((float *)p.y2.at)[i])
								: ((int32_t *)p.y.at)[i] == ((int32_t *)p.y2.at)[i]);
		first = false;
		dlclose(k.library);
	}
	problem_free(&p);
	arena_free(a);
}

/* Largest magnitudes over a long K: nothing saturates or overflows on the way. */
static void extremes(void **state)
{
	enum { K = 600000, N = 3 };
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		for (int sign = -1; sign <= 1; sign += 2) {
			struct kernels k;
			_Alignas(64) char ctx[CONTEXT_BYTES];
			struct problem p = {.M = 2,
					    .K = K,
					    .N = N,
					    .i8 = guarded(2 * K),
					    .trits = guarded(K * N),
					    .packed = guarded(tri_trit2_packed_size(K, N)),
					    .y = guarded(4 * 2 * N)};
			memset(p.i8.at, 0x80, K); /* -128 */
			memset((char *)p.i8.at + K, 127, K);
			memset(p.trits.at, sign, K * N);
			tri_trit2_pack(p.trits.at, K, N, p.packed.at);
			if (kernels_open(a, level, &k)) {
				k.init(ctx, 1);
				run(k.matmul_i8_trit2, ctx, &p, p.i8.at, p.packed.at, p.y.at);
				for (int n = 0; n < N; n++) {
					assert_int_equal(((int32_t *)p.y.at)[n], -128 * K * sign);
					assert_int_equal(((int32_t *)p.y.at)[N + n], 127 * K * sign);
				}
				p.M = 1;
				run(k.matmul_i8_trit2, ctx, &p, p.i8.at, p.packed.at, p.y.at);
				assert_int_equal(((int32_t *)p.y.at)[N - 1], -128 * K * sign);
				k.end(ctx);
				dlclose(k.library);
			}
			release(p.i8), release(p.trits), release(p.packed), release(p.y);
		}
	arena_free(a);
}

static void packed_format(void **state)
{
	int8_t w[17 * 33];
	unsigned char out[2 * 2 * 64 + 2 * 64];
	assert_int_equal(tri_trit2_packed_size(17, 33), sizeof out);
	assert_int_equal(tri_trit2_packed_size(0, 33), 0);
	assert_int_equal(tri_trit2_packed_size(16, 1), 64);
	for (int i = 0; i < 17 * 33; i++)
		w[i] = (int8_t)((i * 7 + i / 5) % 3) - 1;
	tri_trit2_pack(w, 17, 33, out);
	for (int k = 0; k < 32; k++)
		for (int n = 0; n < 48; n++) {
			int panel = n / 32, half = n % 32 / 16, lane = n % 16, step = k / 16, f = k % 16 / 4, j = k % 4;
			int byte = out[panel * 256 + step * (panel ? 64 : 128) + half * 64 + 4 * lane + j];
			assert_int_equal(byte >> (2 * f) & 3, k < 17 && n < 33 ? w[k * 33 + n] + 1 : 0);
		}
}

int test_kernels(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_format),
		cmocka_unit_test(base_level),
		cmocka_unit_test(v3_level),
		cmocka_unit_test(vnni_level),
		cmocka_unit_test(trit_sums_agree_between_levels),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

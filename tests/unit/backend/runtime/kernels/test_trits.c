/* The kernel of trit × trit products of every processor level against naive loops: random shapes, rows that are too long to be packed at
 * once, with and without vectors that count words, any number of threads. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/runtime/context.h"
#include "backend/runtime/pack/trit_planes.h"
#include "base/arena.h"

struct kernel {
	void *library;
	tri_kernel_fn *matmul;
	bool (*init)(struct tri_context *ctx, uint32_t threads);
	void (*end)(struct tri_context *ctx);
};

static bool kernel_open(struct arena *a, enum runtime_level level, struct kernel *k)
{
	static const char *const names[] = {"tri_matmul_trits", "tri_context_init", "tri_context_end"};
	struct object *objects[MOST_OBJECTS];
	if (!level_runs(level))
		return false;
	k->library = link_open(a, objects, runtime_parse(a, level, objects), names, 3);
	*(void **)&k->matmul = symbol(k->library, names[0]);
	*(void **)&k->init = symbol(k->library, names[1]);
	*(void **)&k->end = symbol(k->library, names[2]);
	return true;
}

static uint64_t seed = 7;
static int8_t trit(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int8_t)((seed >> 33) % 3) - 1;
}

/* An epilogue that stores tiles in y [rows, columns]. */
struct stored {
	struct tri_epilogue epilogue;
	int32_t *y;
	int64_t columns;
};
static void store_tile(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	struct stored *s = (struct stored *)(uintptr_t)e;
	for (int64_t r = 0; r < rows; r++)
		memcpy(s->y + (at[1] + r) * s->columns + at[2], (const int32_t *)tile + r * stride, (size_t)columns * sizeof(int32_t));
}

struct problem {
	int64_t M, K, N;
	int8_t *x, *w;
	void *packed;
	int32_t *want, *y;
};

static struct problem problem_new(int64_t M, int64_t K, int64_t N)
{
	struct problem p = {M, K, N, malloc((size_t)(M * K) + 1), malloc((size_t)(K * N) + 1), NULL, NULL, NULL};
	size_t bytes = (size_t)(M * N) * sizeof(int32_t);
	p.packed = malloc(tri_planes_size(K, N) + 1), p.want = calloc(1, bytes + 1), p.y = malloc(bytes + 1);
	for (int64_t i = 0; i < M * K; i++)
		p.x[i] = trit();
	for (int64_t i = 0; i < K * N; i++)
		p.w[i] = trit();
	if (tri_planes_size(K, N))
		tri_planes_pack(&(struct tri_planes_source){p.w, K, N, N, 1}, p.packed);
	for (int64_t m = 0; m < M; m++)
		for (int64_t k = 0; k < K; k++)
			for (int64_t n = 0; n < N; n++)
				p.want[m * N + n] += p.x[m * K + k] * p.w[k * N + n];
	return p;
}
static void problem_free(struct problem *p) { free(p->x), free(p->w), free(p->packed), free(p->want), free(p->y); }

static void check(const struct kernel *k, struct tri_context *ctx, const struct problem *p, bool epilogue)
{
	size_t bytes = (size_t)(p->M * p->N) * sizeof(int32_t);
	struct stored s = {.epilogue = {.fn = store_tile}, .y = p->y, .columns = p->N};
	memset(p->y, 0x5a, bytes);
	k->matmul(ctx, (void *[]){p->x, p->packed, epilogue ? NULL : p->y}, (int64_t[]){p->M, p->K, p->N}, epilogue ? &s.epilogue : NULL);
	assert_memory_equal(p->y, p->want, bytes);
}

static void check_level(enum runtime_level level)
{
	static const int64_t fixed[][3] = {{1, 1, 1},     {0, 3, 3},     {3, 0, 5},     {5, 7, 0},       {1, 2560, 100}, {70, 33, 31},
					   {9, 1000, 48}, {600, 65, 33}, {4, 4096, 64}, {3, 270001, 17}, {5, 2049, 65}};
	struct arena *a = arena_new(0);
	struct kernel k;
	struct tri_context ctx;
	if (!kernel_open(a, level, &k)) {
		arena_free(a);
		skip();
	}
	for (int i = 0; i < 60; i++) {
		bool chosen = i < (int)(sizeof fixed / sizeof *fixed);
		struct problem p = chosen ? problem_new(fixed[i][0], fixed[i][1], fixed[i][2])
					  : problem_new(1 + (seed >> 40) % 90, 1 + (seed >> 20) % 300, 1 + (seed >> 30) % 90);
		for (uint32_t threads = 1; threads <= 3; threads++) {
			assert_true(k.init(&ctx, threads));
			check(&k, &ctx, &p, threads == 2);
			ctx.counts_words = false;
			check(&k, &ctx, &p, threads == 3);
			k.end(&ctx);
		}
		problem_free(&p);
	}
	dlclose(k.library);
	arena_free(a);
}
static void base_level(void **state) { check_level(RUNTIME_BASE); }
static void v3_level(void **state) { check_level(RUNTIME_V3); }
static void vnni_level(void **state) { check_level(RUNTIME_VNNI); }

/* Sums as large as they become: bytes and words must not overflow. */
static void extremes(void **state)
{
	enum { K = 40000, N = 3 };
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		for (int sign = -1; sign <= 1; sign += 2) {
			struct kernel k;
			struct tri_context ctx;
			struct problem p = problem_new(2, K, N);
			memset(p.x, 1, 2 * K);
			memset(p.w, sign, K * N);
			tri_planes_pack(&(struct tri_planes_source){p.w, K, N, N, 1}, p.packed);
			for (int i = 0; i < 2 * N; i++)
				p.want[i] = sign * K;
			if (kernel_open(a, level, &k)) {
				assert_true(k.init(&ctx, 1));
				check(&k, &ctx, &p, false);
				ctx.counts_words = false;
				check(&k, &ctx, &p, false);
				k.end(&ctx);
				dlclose(k.library);
			}
			problem_free(&p);
		}
	arena_free(a);
}

int test_trits(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(base_level), cmocka_unit_test(v3_level), cmocka_unit_test(vnni_level),
					   cmocka_unit_test(extremes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Packed blocks and lists of trits: which weights are packed sparse, that packing loses nothing, and the kernel of every processor level against naive
 * loops, with any number of threads and with an epilogue. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/runtime/context.h"
#include "backend/runtime/pack/trit_blocks.h"
#include "base/arena.h"
#include "tests/diff/guarded.h"

static uint64_t seed = 11;
static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

/* What is zero of the weights. */
enum pruned { NOTHING, BLOCKS, ROWS, COLUMNS, SINGLE, ALL };

struct block {
	int64_t k, n, high, wide;
};
static void clear_block(int8_t *w, int64_t K, int64_t N, struct block b)
{
	for (int64_t k = b.k; k < b.k + b.high && k < K; k++)
		for (int64_t n = b.n; n < b.n + b.wide && n < N; n++)
			w[k * N + n] = 0;
}

/* Trits of which `percent` are zero. */
static void fill(int8_t *w, int64_t K, int64_t N, enum pruned kind, uint32_t percent)
{
	struct block b = {.high = kind == BLOCKS ? 4 : kind == COLUMNS ? K : 1, .wide = kind == BLOCKS ? 32 : kind == ROWS ? N : 1};
	for (int64_t i = 0; i < K * N; i++)
		w[i] = (int8_t)(rnd() % 2 * 2) - 1;
	for (int64_t k = 0; k < K && kind != NOTHING; k += b.high)
		for (int64_t n = 0; n < N; n += b.wide)
			if (kind == ALL || rnd() % 100 < percent)
				clear_block(w, K, N, (struct block){k, n, b.high, b.wide});
}

struct packed {
	int64_t K, N;
	int8_t *w, *turned, *again;
	struct tri_blocks *from_rows, *from_columns;
};

static bool has_lists; /* the layout is TRIT_LISTS */
static struct packed pack(int64_t K, int64_t N, enum pruned kind, uint32_t percent)
{
	struct packed p = {K, N, malloc((size_t)(K * N) + 1), malloc((size_t)(K * N) + 1), malloc((size_t)(K * N) + 1), NULL, NULL};
	size_t bytes = (tri_blocks_size(K, N) + 63) / 64 * 64;
	p.from_rows = aligned_alloc(64, bytes);
	p.from_columns = aligned_alloc(64, bytes);
	memset(p.from_rows, 1, bytes);
	memset(p.from_columns, 2, bytes);
	fill(p.w, K, N, kind, percent);
	for (int64_t i = 0; i < K * N; i++)
		p.turned[i % N * K + i / N] = p.w[i];
	tri_blocks_pack(&(struct tri_blocks_source){p.w, K, N, N, 1}, has_lists, p.from_rows);
	tri_blocks_pack(&(struct tri_blocks_source){p.turned, K, N, 1, K}, has_lists, p.from_columns);
	return p;
}
static void pack_free(struct packed *p) { free(p->w), free(p->turned), free(p->again), free(p->from_rows), free(p->from_columns); }

/* Counts what is zero one by one. */
static struct tri_zeros count_zeros(const struct packed *p)
{
	struct tri_zeros z = {0};
	for (int64_t k = 0; k < p->K; k++) {
		int64_t row = 0;
		for (int64_t n = 0; n < p->N; n++)
			row += !p->w[k * p->N + n];
		z.trits += (uint64_t)row;
		z.rows += row == p->N;
	}
	for (int64_t n = 0; n < p->N; n++) {
		int64_t column = 0;
		for (int64_t k = 0; k < p->K; k++)
			column += !p->w[k * p->N + n];
		z.columns += column == p->K;
	}
	for (int64_t k = 0; k < p->K; k += 4)
		for (int64_t n = 0; n < p->N; n += 32) {
			int used = 0;
			for (int64_t i = 0; i < 128; i++)
				if (k + i / 32 < p->K && n + i % 32 < p->N)
					used |= p->w[(k + i / 32) * p->N + n + i % 32] != 0;
			z.blocks += !used;
		}
	return z;
}

static void packing_is_exact(void **state)
{
	static const int64_t sizes[] = {1, 3, 4, 5, 31, 32, 33, 50, 129, 260};
	for (size_t i = 0; i < 10; i++)
		for (size_t j = 0; j < 10; j++)
			for (enum pruned kind = NOTHING; kind <= ALL; kind++) {
				has_lists = (i + j + kind) % 2;
				struct packed p = pack(sizes[i], sizes[j], kind, rnd() % 100);
				assert_memory_equal(p.from_rows, p.from_columns, tri_blocks_size(p.K, p.N));
				struct tri_zeros want = count_zeros(&p);
				assert_memory_equal(&p.from_rows->zeros, &want, sizeof want);
				memset(p.again, 5, (size_t)(p.K * p.N));
				tri_blocks_unpack(p.from_rows, p.K, p.N, p.again);
				assert_memory_equal(p.again, p.w, (size_t)(p.K * p.N));
				pack_free(&p);
			}
}

static void check_choice(enum pruned kind, uint32_t percent, enum tri_form form)
{
	struct packed p = pack(1024, 512, kind, percent);
	assert_int_equal(p.from_rows->form, form);
	assert_true(p.from_rows->blocks_many <= p.from_rows->blocks_one);
	pack_free(&p);
}
static void sparse_if_it_pays(void **state)
{
	has_lists = false;
	check_choice(NOTHING, 0, TRI_DENSE);
	check_choice(BLOCKS, 20, TRI_DENSE);
	check_choice(SINGLE, 99, TRI_DENSE);
	check_choice(BLOCKS, 60, TRI_BLOCKS);
	check_choice(BLOCKS, 99, TRI_BLOCKS);
	check_choice(ROWS, 75, TRI_BLOCKS);
	check_choice(ALL, 100, TRI_BLOCKS);
	has_lists = true;
	check_choice(NOTHING, 0, TRI_DENSE);
	check_choice(SINGLE, 70, TRI_DENSE);
	check_choice(SINGLE, 90, TRI_LISTS);
	check_choice(SINGLE, 99, TRI_LISTS);
	check_choice(BLOCKS, 80, TRI_BLOCKS);
}

struct kernel {
	void *library;
	tri_kernel_fn *matmul;
	bool (*init)(struct tri_context *ctx, uint32_t threads);
	void (*end)(struct tri_context *ctx);
};

static bool kernel_open(struct arena *a, enum runtime_level level, struct kernel *k)
{
	const char *const names[] = {has_lists ? "tri_matmul_i8_lists" : "tri_matmul_i8_blocks", "tri_context_init", "tri_context_end"};
	struct object *objects[MOST_OBJECTS];
	if (!level_runs(level))
		return false;
	k->library = link_open(a, objects, runtime_parse(a, level, objects), names, 3);
	*(void **)&k->matmul = symbol(k->library, names[0]);
	*(void **)&k->init = symbol(k->library, names[1]);
	*(void **)&k->end = symbol(k->library, names[2]);
	return true;
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

static void check_product(const struct kernel *k, const struct packed *p, int64_t M, bool vbmi)
{
	size_t bytes = (size_t)(M * p->N) * sizeof(int32_t);
	int8_t *x = malloc((size_t)(M * p->K) + 1);
	int32_t *want = calloc(1, bytes + 1), *y = malloc(bytes + 1);
	for (int64_t i = 0; i < M * p->K; i++)
		x[i] = (int8_t)(rnd() % 8 ? rnd() : rnd() % 2 ? 0x80u : 0x7fu);
	for (int64_t m = 0; m < M; m++)
		for (int64_t i = 0; i < p->K * p->N; i++)
			want[m * p->N + i % p->N] += x[m * p->K + i / p->N] * p->w[i];
	for (uint32_t threads = 1; threads <= 3; threads++) {
		struct tri_context ctx;
		struct stored s = {.epilogue = {.fn = store_tile}, .y = y, .columns = p->N};
		memset(y, 0x5a, bytes);
		assert_true(k->init(&ctx, threads));
		ctx.has_vbmi &= vbmi;
		k->matmul(&ctx, (void *[]){x, p->from_rows, threads == 2 ? NULL : y}, (int64_t[]){M, p->K, p->N},
			  threads == 2 ? &s.epilogue : NULL);
		k->end(&ctx);
		assert_memory_equal(y, want, bytes);
	}
	free(x), free(want), free(y);
}

static void check_level(enum runtime_level level)
{
	static const uint32_t percents[] = {0, 50, 75, 90, 99};
	struct arena *a = arena_new(0);
	struct kernel k = {0};
	if (!kernel_open(a, level, &k)) {
		arena_free(a);
		skip();
	}
	for (int i = 0; i < 120; i++) {
		struct packed p = pack(1 + rnd() % 300, 1 + rnd() % 150, (enum pruned)(i % 6), percents[rnd() % 5]);
		check_product(&k, &p, 1 + rnd() % 20, i % 5);
		pack_free(&p);
	}
	for (int i = 0; i < 60; i++) { /* the last block ends behind the last row of x; the next row may be copied already */
		struct packed p = pack(61 + i % 4, 330, BLOCKS, 60);
		check_product(&k, &p, 300, true);
		pack_free(&p);
	}
	struct packed high = pack(16384, 33, has_lists ? SINGLE : BLOCKS, 97), tall = pack(1001, 70, has_lists ? SINGLE : ROWS, 95);
	assert_int_equal(high.from_rows->form, has_lists ? TRI_LISTS : TRI_BLOCKS);
	check_product(&k, &high, 19, true);
	check_product(&k, &tall, 300, true);
	check_product(&k, &tall, 0, true);
	pack_free(&high), pack_free(&tall);
	dlclose(k.library);
	arena_free(a);
}
/* Bits and numbers of headers and indices. What is still valid, the kernel multiplies without leaving the packed bytes, behind which is no memory. */
static void check_damage(enum pruned kind, uint32_t percent, enum tri_form form)
{
	static const uint32_t odd[] = {0, 1, 4, 64, 0x40404040, 0x80000000, UINT32_MAX};
	struct arena *a = arena_new(0);
	struct packed p = pack(150, 97, kind, percent);
	const size_t bytes = tri_blocks_size(p.K, p.N);
	struct guarded g = guarded_new(bytes);
	struct kernel k = {0};
	struct tri_context ctx;
	int8_t x[9 * 150] = {3, 4, 5};
	int32_t y[9 * 97];
	uint32_t n_valid = 0;
	assert_int_equal(p.from_rows->form, form);
	assert_true(kernel_open(a, RUNTIME_BASE, &k) && k.init(&ctx, 1));
	for (int i = 0; i < 5000; i++) {
		memcpy(g.data, p.from_rows, bytes);
		size_t at = rnd() % (i % 2 ? sizeof *p.from_rows : bytes);
		if (i % 3)
			g.data[at] ^= (char)(1 << rnd() % 8);
		else
			memcpy(g.data + at / 4 * 4, &odd[rnd() % 7], 4);
		bool valid = tri_blocks_are_valid(g.data, bytes, p.K, p.N);
		assert_true(valid || memcmp(g.data, p.from_rows, bytes) != 0);
		if (valid)
			k.matmul(&ctx, (void *[]){x, g.data, y}, (int64_t[]){9, p.K, p.N}, NULL);
		n_valid += valid;
	}
	assert_in_range(n_valid, 500, 4990);
	assert_false(tri_blocks_are_valid(p.from_rows, sizeof *p.from_rows - 1, p.K, p.N));
	k.end(&ctx);
	munmap(g.pages, g.all);
	pack_free(&p);
	dlclose(k.library);
	arena_free(a);
}
static void damage_is_found(void **state)
{
	has_lists = false;
	check_damage(NOTHING, 0, TRI_DENSE);
	check_damage(BLOCKS, 70, TRI_BLOCKS);
	check_damage(ROWS, 80, TRI_BLOCKS);
	has_lists = true;
	check_damage(SINGLE, 95, TRI_LISTS);
}

static void base_level(void **state) { has_lists = false, check_level(RUNTIME_BASE); }
static void v3_level(void **state) { has_lists = false, check_level(RUNTIME_V3); }
static void vnni_level(void **state) { has_lists = false, check_level(RUNTIME_VNNI); }
static void lists_of_base_level(void **state) { has_lists = true, check_level(RUNTIME_BASE); }
static void lists_of_vnni_level(void **state) { has_lists = true, check_level(RUNTIME_VNNI); }

int test_blocks(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packing_is_exact),    cmocka_unit_test(sparse_if_it_pays),
					   cmocka_unit_test(base_level),          cmocka_unit_test(v3_level),
					   cmocka_unit_test(vnni_level),          cmocka_unit_test(lists_of_base_level),
					   cmocka_unit_test(lists_of_vnni_level), cmocka_unit_test(damage_is_found)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

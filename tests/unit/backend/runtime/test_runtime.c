/* The runtime inside generated libraries: threads, and the checks of a run call. Compiled into this program, so that sanitizers see it. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A clock that moves only when it is read and when something works, so that every time is exact. */
enum { READ = 30, WORK = 1000, REPORT = 500000 };
static _Atomic int64_t time_ns;
static int fake_clock(clockid_t clock, struct timespec *t)
{
	int64_t ns = time_ns += READ;
	(void)clock;
	*t = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	return 0;
}
#define clock_gettime(clock, t) fake_clock(clock, t)

static _Atomic int allocations;
static void *counted_malloc(size_t n)
{
	allocations++;
	return malloc(n);
}
static void *counted_aligned_alloc(size_t align, size_t n)
{
	allocations++;
	return aligned_alloc(align, n);
}
#define malloc counted_malloc
#define aligned_alloc counted_aligned_alloc
#include "backend/runtime/async.c"
#include "backend/runtime/thread.c"
#include "backend/runtime/threads.c"
#include "backend/runtime/profile/profile.c"
#include "backend/runtime/model_io.c"
#include "backend/runtime/profile/origins.c"
#include "backend/runtime/model.c"
#include "backend/runtime/processor.c"
#include "backend/runtime/cpu.c"
#include "backend/runtime/weights.c"
#undef malloc
#undef aligned_alloc
#include "backend/runtime/kernels/matmul_i8_trit2.c" /* for the plainest processor: its portable tile, which no level of x86-64 embeds */

/* ---- threads ---- */

struct counts {
	struct tri_context *ctx;
	_Atomic int32_t hits[1000];
	_Atomic int64_t inner;
};
static void inner(void *arg, int64_t i) { atomic_fetch_add(&((struct counts *)arg)->inner, i); }
static void outer(void *arg, int64_t i)
{
	struct counts *c = arg;
	atomic_fetch_add(&c->hits[i], 1);
	if (i % 100 == 0)
		tri_parallel(c->ctx, inner, c, 5);
}

static void check_loops(struct tri_context *ctx, int rounds)
{
	static const int64_t sizes[] = {0, 1, 2, 3, 7, 100, 1000};
	for (int r = 0; r < rounds; r++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			struct counts *c = calloc(1, sizeof *c);
			c->ctx = ctx;
			tri_parallel(ctx, outer, c, sizes[s]);
			for (int64_t i = 0; i < 1000; i++)
				assert_int_equal(c->hits[i], i < sizes[s]);
			assert_int_equal(c->inner, 10 * ((sizes[s] + 99) / 100));
			free(c);
		}
}

static void loops_run_every_index_once(void **state)
{
	static const uint32_t threads[] = {1, 2, 3, 8, 0};
	for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
		struct tri_context ctx;
		tri_context_init(&ctx, threads[t]);
		check_loops(&ctx, 100);
		assert_true(ctx.threads >= 1);
		usleep(3000); /* let them fall asleep */
		check_loops(&ctx, 3);
		tri_context_end(&ctx);
	}
	for (int i = 0; i < 200; i++) { /* closed at once, unused or barely used */
		struct tri_context ctx;
		tri_context_init(&ctx, 3);
		struct counts *c = calloc(1, sizeof *c);
		c->ctx = &ctx;
		tri_parallel(&ctx, outer, c, i % 3 * 20);
		free(c);
		tri_context_end(&ctx);
	}
}

static void a_forked_child_goes_on(void **state)
{
	struct tri_context ctx;
	int status;
#if defined(__SANITIZE_THREAD__)
	skip(); /* it does not support threads in a forked child */
#endif
	tri_context_init(&ctx, 3);
	check_loops(&ctx, 1);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		tri_context_begin(&ctx);
		check_loops(&ctx, 2);
		int own = ctx.started > 0 && ctx.owner == getpid();
		tri_context_end(&ctx);
		_exit(own ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check_loops(&ctx, 2);
	tri_context_end(&ctx);
}

/* ---- a model: y [N, K+1] float32 of x [N, K] float32, z [2*N, 3] int8, w [?] int64; fails where x[0] is 99 ---- */

static int64_t seen_dims[3];
static void unit(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch)
{
	memcpy(seen_dims, dims, sizeof seen_dims);
	assert_int_equal((uintptr_t)scratch % 64, 0);
	memset(scratch, 1, (size_t)(dims[0] * 100));
	assert_string_equal((const char *)weights[0], "weights");
	for (int64_t i = 0; i < dims[0] * (dims[1] + 1); i++)
		((float *)bufs[3])[i] = (float)i;
	if (dims[0] > 0 && dims[1] > 0 && *(const float *)bufs[0] == 99.0f) {
		tri_fail(ctx, 0, 7, 5);
		tri_fail(ctx, 0, 8, 5);
	}
}
static int64_t scratch_size(const int64_t *dims) { return dims[0] > 1000000 ? INT64_MAX - 5 : dims[0] * 100; }

#define DIM(s) {s, (int32_t)(sizeof(s) / sizeof *(s)), 0}
static const tri_dim_step step_n[] = {{TRI_DIM_SYM, 0, 0}}, step_k[] = {{TRI_DIM_SYM, 0, 1}}, step_any[] = {{TRI_DIM_SYM, 0, 2}},
			  step_3[] = {{TRI_DIM_CONST, 0, 3}}, step_2n[] = {{TRI_DIM_CONST, 0, 2}, {TRI_DIM_SYM, 0, 0}, {TRI_DIM_MUL, 0, 0}},
			  step_k1[] = {{TRI_DIM_CONST, 0, 1}, {TRI_DIM_SYM, 0, 1}, {TRI_DIM_ADD, 0, 0}},
			  step_2k3[] = {{TRI_DIM_CONST, 0, 3},
					{TRI_DIM_SYM, 0, 1},
					{TRI_DIM_CONST, 0, 2},
					{TRI_DIM_MUL, 0, 0},
					{TRI_DIM_ADD, 0, 0}},
			  step_half[] = {{TRI_DIM_SYM, 0, 1}, {TRI_DIM_CONST, 0, 2}, {TRI_DIM_FLOORDIV, 0, 0}},
			  step_mod[] = {{TRI_DIM_SYM, 0, 1}, {TRI_DIM_CONST, 0, 2}, {TRI_DIM_MOD, 0, 0}};
static const tri_io_desc inputs[] = {
	{"x", TRI_FLOAT32, 2, {DIM(step_n), DIM(step_k)}},
	{"z", TRI_INT8, 2, {DIM(step_2n), DIM(step_3)}},
	{"w", TRI_INT64, 1, {DIM(step_any)}},
};
static const tri_io_desc outputs[] = {{"y", TRI_FLOAT32, 2, {DIM(step_n), DIM(step_k1)}}};
static const tri_io_desc solved[] = {{"a", TRI_BOOL, 1, {DIM(step_2k3)}}},
			 solved_out[] = {{"b", TRI_BOOL, 2, {DIM(step_half), DIM(step_mod)}}};
static const char *const names[] = {"N", "K", "?"};
static const void *const table[] = {"weights"};
static const struct tri_entry_code code = {.unit = unit, .scratch = scratch_size, .table = table};
static void idle(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch)
{
	(void)ctx, (void)bufs, (void)weights, (void)scratch;
	memcpy(seen_dims, dims, sizeof seen_dims);
}
static const struct tri_entry_code idle_code = {.unit = idle};
static const tri_entry_desc entries[] = {{"forward", inputs, outputs, 3, 1, names, 3, 0, &code, NULL, NULL, 0, 0, NULL},
					 {"other", solved, solved_out, 1, 1, names, 3, 0, &idle_code, NULL, NULL, 0, 0, NULL}};
static const tri_model_desc desc = {.abi = TRI_ABI, .n_entries = 2, .name = "m", .entries = entries, .engine = &tri_processor};

static char memory[4][4096];
#define TENSOR(k, type, r, ...) {memory[k] + 1, {__VA_ARGS__}, r, type} /* not aligned */
static void good(tri_tensor io[4])
{
	const tri_tensor t[4] = {TENSOR(0, TRI_FLOAT32, 2, 4, 5), TENSOR(1, TRI_INT8, 2, 8, 3), TENSOR(2, TRI_INT64, 1, 9),
				 TENSOR(3, TRI_FLOAT32, 2, 4, 6)};
	memcpy(io, t, sizeof t);
	for (int i = 0; i < 4; i++)
		io[i].data = memory[i];
}

static void expect(struct tri_model *m, uint32_t entry, tri_tensor *io, int want, const char *message)
{
	tri_error err = {-1, "untouched"};
	assert_int_equal(tri_model_run(m, entry, io, &err), want);
	assert_int_equal(err.code, want);
	assert_string_equal(err.message, message);
	assert_int_equal(tri_model_run(m, entry, io, NULL), want);
}

static void run_checks_its_tensors(void **state)
{
	tri_tensor io[4];
	tri_error err;
	struct tri_model *m = tri_model_open(&(tri_options){.size = sizeof(tri_options), .threads = 2}, &err, &desc);
	assert_non_null(m);
	good(io);
	expect(m, 0, io, TRI_OK, "");
	assert_int_equal(seen_dims[0], 4);
	assert_int_equal(seen_dims[1], 5);
	assert_int_equal(seen_dims[2], 9);
	expect(m, 2, io, TRI_ERR_ARGUMENT, "there is no entry 2: the model has 2");
	expect(m, 0, NULL, TRI_ERR_ARGUMENT, "io is NULL");
	expect(NULL, 0, io, TRI_ERR_ARGUMENT, "the model is NULL");
	io[0].dtype = TRI_INT8;
	expect(m, 0, io, TRI_ERR_DTYPE, "input x: expected float32, got int8");
	io[0].dtype = 77;
	expect(m, 0, io, TRI_ERR_DTYPE, "input x: expected float32, got an unknown dtype");
	good(io), io[0].rank = 1;
	expect(m, 0, io, TRI_ERR_SHAPE, "input x: expected [N, K], got [4]");
	io[0].rank = 1000000;
	expect(m, 0, io, TRI_ERR_SHAPE, "input x: expected [N, K], got [4, 5, 0, 0, 0, 0, 0, 0]");
	good(io), io[0].shape[1] = -1;
	expect(m, 0, io, TRI_ERR_SHAPE, "input x: expected [N, K], got [4, -1]");
	good(io), io[0].shape[0] = INT64_MAX;
	expect(m, 0, io, TRI_ERR_SHAPE, "input x: the number of bytes of shape [9223372036854775807, 5] exceeds 64 bits");
	good(io), io[1].shape[1] = 60;
	expect(m, 0, io, TRI_ERR_SHAPE, "input z: expected [8, 3], got [8, 60]");
	good(io), io[1].shape[0] = 9;
	expect(m, 0, io, TRI_ERR_SHAPE, "input z: expected [8, 3], got [9, 3]");
	good(io), io[3].shape[1] = 5;
	expect(m, 0, io, TRI_ERR_SHAPE, "output y: expected [N=4, 6], got [4, 5]");
	good(io), io[2].data = NULL;
	expect(m, 0, io, TRI_ERR_ARGUMENT, "input w: data is NULL");
	io[2].shape[0] = 0; /* nothing to read */
	expect(m, 0, io, TRI_OK, "");
	good(io), io[0].shape[0] = io[1].shape[0] = io[3].shape[0] = 0;
	expect(m, 0, io, TRI_OK, "");
	good(io), *(float *)(void *)memory[0] = 99.0f;
	expect(m, 0, io, TRI_ERR_RANGE, "index 7 is out of range: it must be at least 0 and less than 5");
	*(float *)(void *)memory[0] = 0;
	expect(m, 0, io, TRI_OK, "");
	io[0].shape[0] = 2000000, io[1].shape[0] = 4000000, io[3].shape[0] = 2000000;
	expect(m, 0, io, TRI_ERR_MEMORY, "out of memory for the intermediate tensors");
	good(io);
	expect(m, 0, io, TRI_OK, "");
	tri_model_close(m);
	tri_model_close(NULL);
}

static void dimensions_inside_expressions_are_solved(void **state)
{
	struct tri_model *m = tri_model_open(NULL, NULL, &desc);
	tri_tensor io[2] = {TENSOR(0, TRI_BOOL, 1, 13), TENSOR(1, TRI_BOOL, 2, 2, 1)};
	expect(m, 1, io, TRI_OK, ""); /* 3 + 2K = 13 */
	assert_int_equal(seen_dims[1], 5);
	io[0].shape[0] = 14;
	expect(m, 1, io, TRI_ERR_SHAPE, "input a: expected [13], got [14]");
	io[0].shape[0] = 1;
	expect(m, 1, io, TRI_ERR_SHAPE, "input a: dimension 0 does not follow from the inputs");
	tri_model_close(m);
}

static void later_runs_allocate_nothing(void **state)
{
	struct tri_model *m = tri_model_open(NULL, NULL, &desc);
	tri_tensor io[4];
	good(io);
	assert_int_equal(tri_model_run(m, 0, io, NULL), TRI_OK);
	int before = allocations;
	assert_int_equal(tri_model_run(m, 0, io, NULL), TRI_OK);
	io[0].shape[0] = 3, io[1].shape[0] = 6, io[3].shape[0] = 3;
	assert_int_equal(tri_model_run(m, 0, io, NULL), TRI_OK);
	assert_int_equal(allocations, before);
	io[0].shape[0] = 30, io[1].shape[0] = 60, io[3].shape[0] = 30;
	assert_int_equal(tri_model_run(m, 0, io, NULL), TRI_OK);
	assert_int_equal(allocations, before + 1);
	tri_model_close(m);
}

static uint32_t threads_of(const tri_options *opt) { return TRI_OPTION(opt, threads); }

static void old_options_are_understood(void **state)
{
	assert_int_equal(threads_of(&(tri_options){.size = 4, .threads = 9}), 0);
	assert_int_equal(threads_of(&(tri_options){.size = 8, .threads = 9}), 9);
	assert_int_equal(threads_of(NULL), 0);
	assert_true(cpu_count() >= 1);
}

static void devices_have_names_with_and_without_their_kind(void **state)
{
	static const struct {
		const char *given, *want;
	} devices[] = {{NULL, NULL},          {"", NULL},     {"opencl", NULL},       {"opencl:", NULL}, {"opencl:1", "1"}, {"1", "1"},
		       {"opencl:a:b", "a:b"}, {"cpu", "cpu"}, {"opencl2", "opencl2"}, {"open", "open"}};
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		const char *got = tri_wanted_device(&(tri_model_desc){.backend = "opencl"},
						    &(tri_options){.size = sizeof(tri_options), .device = devices[i].given});
		assert_true(got && devices[i].want ? strcmp(got, devices[i].want) == 0 : got == devices[i].want);
	}
}

static void folders_are_copied_without_detours(void **state)
{
	static const char *const folders[][2] = {{"/a/b/", "/a/b/"}, {"/a/././/./b/", "/a/b/"}, {"././/", ""},      {"//a/", "/a/"},
						 {"./a/", "a/"},     {"/./a./.b/", "/a./.b/"},  {"../a/", "../a/"}, {"/", "/"}};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char out[32];
		size_t n = tri_copy_folder(out, folders[i][0], strlen(folders[i][0]));
		assert_int_equal(n, strlen(folders[i][1]));
		assert_memory_equal(out, folders[i][1], n);
	}
}

/* ---- weights outside ---- */

enum { BLOCKS_K = 60, BLOCKS_N = 40, BLOCKS_AT = 320, BLOCKS_SIZE = 128 + 3 * 4 * 64, LISTED = BLOCKS_AT + BLOCKS_SIZE };

/* Blobs of 3, 64 and BLOCKS_SIZE bytes; table 0 holds blob 1 and table 1, table 1 holds blob 0. */
static const struct tri_weights outside = {
	.file = "none.triw",
	.size = LISTED,
	.digest = "0123456789abcde",
	.n_blobs = 3,
	.n_tables = 2,
	.blobs = (const struct tri_blob[]){{3, 0, 0}, {64, 0, 0}, {BLOCKS_SIZE, BLOCKS_K, BLOCKS_N}},
	.tables = (const uint32_t[]){0, 2, 3},
	.slots = (const uint32_t[]){1, TRI_SLOT_TABLE | 1, 0},
};

static void write_weights(const char *path, const char *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static int open_weights(const char *path, bool verify, struct tri_mapped *m, tri_error *err)
{
	struct tri_context ctx;
	assert_true(tri_context_init(&ctx, 2));
	int status = tri_weights_open(&outside, &ctx, &(struct tri_weights_request){path, verify}, m, err);
	tri_context_end(&ctx);
	return status;
}

static struct triw_entry entry(const char *file, uint64_t offset, uint64_t size)
{
	struct triw_entry e = {.offset = offset, .size = size};
	XXH128_hash_t chunk = XXH3_128bits(file + offset, size), all = XXH3_128bits(&chunk, sizeof chunk);
	memcpy(e.digest, &all, sizeof all);
	return e;
}

/* A matrix with one trit that is not zero. */
static void pack_matrix(char *out)
{
	static int8_t w[BLOCKS_K * BLOCKS_N];
	w[BLOCKS_K * BLOCKS_N - 1] = 1;
	assert_int_equal(tri_blocks_size(BLOCKS_K, BLOCKS_N), BLOCKS_SIZE);
	tri_blocks_pack(&(struct tri_blocks_source){w, BLOCKS_K, BLOCKS_N, BLOCKS_N, 1}, false, out);
	assert_int_equal(((const struct tri_blocks *)(const void *)out)->form, TRI_BLOCKS);
}

/* Each bit of the header and the table, and each cut, is an error at once. Damage of the data is one if it is verified, or if a kernel would
 * follow it out of its memory. */
static void weights_outside(void **state)
{
	static _Alignas(64) char file[LISTED];
	struct triw_header h = {.magic = TRIW_MAGIC, .version = TRIW_VERSION, .n_entries = 3, .size = LISTED, .digest = "0123456789abcde"};
	char path[] = "/tmp/trib-triw-XXXXXX";
	struct tri_mapped m = {0};
	tri_error err;
	close(mkstemp(path));
	_Static_assert(sizeof h + 3 * sizeof(struct triw_entry) == 208, "what follows is data");
	file[256] = 'z';
	pack_matrix(file + BLOCKS_AT);
	struct triw_entry table_[3] = {entry(file, 256, 3), entry(file, 256, 64), entry(file, BLOCKS_AT, BLOCKS_SIZE)};
	h.check = triw_check(&h, table_);
	memcpy(file, &h, sizeof h);
	memcpy(file + sizeof h, table_, sizeof table_);
	write_weights(path, file, sizeof file);
	for (int verify = 0; verify < 2; verify++) {
		assert_int_equal(open_weights(path, verify, &m, &err), TRI_OK);
		assert_int_equal(*(const char *)m.slots[0], 'z');
		assert_ptr_equal(m.slots[1], m.slots + 2);
		assert_int_equal(*(const char *)m.slots[2], 'z');
		tri_weights_close(&m);
	}
	uint32_t unnoticed = 0;
	for (size_t bit = 0; bit < 8 * sizeof file; bit++) {
		bool is_data = bit >= 8 * 256, verified = is_data && bit % 3;
		if (bit / 8 >= 208 && !is_data) /* padding */
			continue;
		file[bit / 8] ^= (char)(1 << bit % 8);
		write_weights(path, file, sizeof file);
		int status = open_weights(path, verified, &m, &err);
		unnoticed += status == TRI_OK;
		if (status == TRI_OK) {
			assert_true(is_data && !verified);
			tri_weights_close(&m);
		} else {
			assert_int_equal(status, TRI_ERR_WEIGHTS);
			assert_null(m.bytes);
			assert_non_null(strstr(err.message, path));
			assert_non_null(strstr(err.message, "build again"));
		}
		file[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_in_range(unnoticed, 1, 8 * BLOCKS_SIZE);
	for (size_t size = 0; size < sizeof file; size += 5) {
		write_weights(path, file, size);
		assert_int_equal(open_weights(path, false, &m, &err), TRI_ERR_WEIGHTS);
	}
	unlink(path);
	assert_int_equal(open_weights(path, true, &m, &err), TRI_ERR_WEIGHTS);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(open_weights(NULL, true, &m, &err), TRI_ERR_WEIGHTS);
	assert_non_null(strstr(err.message, "none.triw"));
}

static void the_processor_is_checked(void **state)
{
	static const char *const any[] = {"", "x86_64-linux x86-64-v2", "wasm64 +nosuchfeature", "x86_64-linux x86-64-v2 +xavx512vnni"};
	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		assert_null(tri_cpu_lacks(any[i]));
#if defined(__x86_64__)
#define SAME(target, name) assert_int_equal(!tri_cpu_lacks("x86_64-linux " target), !!__builtin_cpu_supports(name))
	__builtin_cpu_init();
	SAME("x86-64-v2 +avx512vnni", "avx512vnni");
	SAME("x86-64-v2 +gfni,+avx512bf16", "avx512bf16");
	SAME("x86-64-v2 +avx512vbmi2,+gfni", "avx512vbmi2");
	SAME("x86-64-v3", "avx2");
	SAME("x86-64-v4", "avx512bw");
	if (!__builtin_cpu_supports("avx512f")) {
		tri_error err;
		tri_model_desc other = {.target = "x86_64-linux x86-64-v4 +avx512vnni", .engine = &tri_processor};
		assert_null(tri_model_open(NULL, &err, &other));
		assert_int_equal(err.code, TRI_ERR_DEVICE);
	}
#endif
}

static void portable_tile(void **state)
{
	enum { LARGEST = 90 };
	struct tri_context ctx;
	tri_context_init(&ctx, 2);
	for (int64_t i = 0; i < 300; i++) {
		int64_t m = i % 7, k = i * 13 % LARGEST, n = i * 7 % LARGEST;
		static int8_t x[7 * LARGEST], w[LARGEST * LARGEST];
		static unsigned char packed[LARGEST * LARGEST];
		static int32_t y[7 * LARGEST];
		for (int64_t e = 0; e < m * k; e++)
			x[e] = (int8_t)(e % 5 == 0 ? -128 : e * 37 + i);
		for (int64_t e = 0; e < k * n; e++)
			w[e] = (int8_t)((e * 7 + e / 11 + i) % 3) - 1;
		assert_true(tri_trit2_packed_size(k, n) <= sizeof packed);
		tri_trit2_pack(w, k, n, packed);
		tri_matmul_i8_trit2(&ctx, (void *[]){x, packed, y}, (int64_t[]){m, k, n}, NULL);
		for (int64_t e = 0; e < m * n; e++) {
			int32_t want = 0;
			for (int64_t j = 0; j < k; j++)
				want += x[e / n * k + j] * w[j * n + e % n];
			assert_int_equal(y[e], want);
		}
	}
	tri_context_end(&ctx);
}

/* ---- the profile hook ---- */

static tri_profile_event seen[64];
static uint32_t n_seen;
/* A report that takes much longer than what it reports. */
static void report(void *user, const tri_profile_event *e)
{
	(void)user;
	seen[n_seen++] = *e;
	time_ns += REPORT;
}

static const tri_unit_desc described = {.name = "unit"};
static void open_hooked(struct tri_context *ctx, uint32_t threads)
{
	time_ns = 1000000000;
	n_seen = 0;
	assert_true(tri_context_init(ctx, threads));
	ctx->profile = report;
	tri_context_begin(ctx);
}

static void leaf(struct tri_context *ctx, uint32_t statement, int64_t work)
{
	struct tri_profile_cost cost = {0};
	tri_profile_begin(ctx, &cost);
	time_ns += work;
	tri_profile_end(ctx, statement, &cost, &described);
}

static void callers_contain_no_reports(void **state)
{
	struct tri_context ctx;
	open_hooked(&ctx, 1);
	struct tri_profile_cost cost = {0};
	tri_profile_begin(&ctx, &cost);
	for (uint32_t i = 0; i < 3; i++)
		leaf(&ctx, i, WORK);
	tri_profile_end(&ctx, 3, &cost, &described);
	assert_int_equal(n_seen, 4);
	for (uint32_t i = 0; i < 3; i++) {
		assert_in_range(seen[i].ns, WORK - 2, WORK + 2);
		assert_true(seen[i].start_ns > seen[3].start_ns && seen[i].start_ns + seen[i].ns <= seen[3].start_ns + seen[3].ns);
	}
	assert_in_range(seen[3].ns, 3 * WORK - 8, 3 * WORK + 8); /* times that are shown differ */
	tri_context_end(&ctx);
}

/* So that a statement is no part of the one before it. */
static void empty_statements_follow_each_other(void **state)
{
	struct tri_context ctx;
	open_hooked(&ctx, 1);
	for (uint32_t i = 0; i < 20; i++)
		leaf(&ctx, i, 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(seen[i].ns > 0 && seen[i].cpu_ns > 0);
		assert_true(i == 0 || seen[i].start_ns > seen[i - 1].start_ns + seen[i - 1].ns);
	}
	tri_context_end(&ctx);
}

static void works(void *arg, int64_t i)
{
	(void)arg, (void)i;
	time_ns += WORK;
}

static void no_more_threads_are_busy_than_there_are(void **state)
{
	for (uint32_t threads = 1; threads <= 3; threads++) {
		struct tri_context ctx;
		open_hooked(&ctx, threads);
		for (uint32_t i = 0; i < 50; i++) {
			struct tri_profile_cost cost = {0};
			n_seen = 0;
			tri_profile_begin(&ctx, &cost);
			tri_parallel(&ctx, works, NULL, i % 2 ? 100 : 1);
			tri_profile_end(&ctx, i, &cost, &described);
			assert_true(seen[0].cpu_ns >= (i % 2 ? 0 : seen[0].ns) && seen[0].cpu_ns <= threads * seen[0].ns);
		}
		tri_context_end(&ctx);
	}
}

int test_runtime(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_run_every_index_once),
		cmocka_unit_test(a_forked_child_goes_on),
		cmocka_unit_test(run_checks_its_tensors),
		cmocka_unit_test(dimensions_inside_expressions_are_solved),
		cmocka_unit_test(later_runs_allocate_nothing),
		cmocka_unit_test(old_options_are_understood),
		cmocka_unit_test(devices_have_names_with_and_without_their_kind),
		cmocka_unit_test(folders_are_copied_without_detours),
		cmocka_unit_test(the_processor_is_checked),
		cmocka_unit_test(portable_tile),
		cmocka_unit_test(weights_outside),
		cmocka_unit_test(callers_contain_no_reports),
		cmocka_unit_test(empty_statements_follow_each_other),
		cmocka_unit_test(no_more_threads_are_busy_than_there_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

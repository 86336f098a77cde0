/* The first call of a unit from many threads: it is compiled once and seen by all. A failure is reported to each caller and forgotten. The
 * runtime is compiled in, so that the sanitizers see it. */
#include <pthread.h>
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "backend/runtime/lazy.c" /* the pool and the others: test_runtime.c */

enum { THREADS = 8, UNITS = 40 };

static struct tri_lazy_slot slots[UNITS];
static struct tri_lazy_unit units[UNITS];
static struct tri_lazy_state_of_library state;
static struct tri_lazy_library library = {.abi = TRI_LAZY_ABI, .n_units = UNITS, .units = units, .state = &state, .libtrib = "/nowhere"};
static uint32_t compiled[UNITS];
static uint32_t fails;

static void code(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch)
{
	(void)ctx, (void)weights, (void)scratch;
	*(int64_t *)bufs[0] += dims[0];
}

static int64_t scratch_of(const int64_t *dims) { return (int64_t)(64 * (uint64_t)dims[0]); }

static int compile(const struct tri_lazy_unit *u, char *why, size_t n)
{
	if (__atomic_load_n(&fails, __ATOMIC_RELAXED)) {
		snprintf(why, n, "there is no room");
		return -1;
	}
	__atomic_fetch_add(&compiled[u - units], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&u->slot->scratch, scratch_of, __ATOMIC_RELEASE);
	__atomic_store_n(&u->slot->code, code, __ATOMIC_RELEASE);
	return 0;
}

static const struct tri_lazy_api api = {.abi = TRI_LAZY_ABI, .compile = compile};

static int set_up(void **s)
{
	memset(slots, 0, sizeof slots);
	memset(compiled, 0, sizeof compiled);
	state.api = &api;
	for (int i = 0; i < UNITS; i++)
		units[i] = (struct tri_lazy_unit){.library = &library, .slot = &slots[i], .name = "unit", .symbol = "unit"};
	return 0;
}

static void *call_all(void *arg)
{
	struct tri_context ctx;
	int64_t *sum = arg, one = 1;
	void *bufs[] = {sum};
	tri_context_init(&ctx, 1);
	for (int i = 0; i < UNITS; i++)
		tri_lazy_run(&ctx, bufs, NULL, &one, NULL, &units[i]);
	tri_context_end(&ctx);
	return NULL;
}

static void units_are_compiled_once(void **s)
{
	pthread_t threads[THREADS];
	int64_t sums[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_all, &sums[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(sums[i], UNITS);
	for (int i = 0; i < UNITS; i++)
		assert_int_equal(compiled[i], 1);
}

static void failures_are_reported_and_forgotten(void **s)
{
	struct tri_context ctx;
	int64_t sum = 0, one = 1;
	void *bufs[] = {&sum};
	tri_context_init(&ctx, 1);
	fails = 1;
	tri_context_begin(&ctx);
	tri_lazy_run(&ctx, bufs, NULL, &one, NULL, &units[0]);
	assert_int_equal(ctx.fail_code, TRI_ERR_COMPILE);
	assert_string_equal(ctx.fail_text, "unit cannot be compiled: there is no room");
	fails = 0;
	tri_lazy_run(&ctx, bufs, NULL, &one, NULL, &units[1]); /* of the failed run: not worth compiling */
	assert_int_equal(compiled[1], 0);
	tri_context_begin(&ctx);
	tri_lazy_run(&ctx, bufs, NULL, &one, NULL, &units[0]);
	assert_false(tri_failed(&ctx));
	assert_int_equal(sum, 1);
	tri_context_end(&ctx);
}

/* 8 * (d0 // d1) + d0 % d1, with what d1 = 0 makes of it. */
static void scratch_is_as_compiled_code_has_it(void **s)
{
	static const tri_dim_step steps[] = {{TRI_DIM_CONST, 0, 8},    {TRI_DIM_SYM, 0, 0}, {TRI_DIM_SYM, 0, 1},
					     {TRI_DIM_FLOORDIV, 0, 0}, {TRI_DIM_MUL, 0, 0}, {TRI_DIM_SYM, 0, 0},
					     {TRI_DIM_SYM, 0, 1},      {TRI_DIM_MOD, 0, 0}, {TRI_DIM_ADD, 0, 0}};
	static const tri_dim_step zero[] = {{TRI_DIM_CONST, 0, 0}};
	static const tri_dim_desc own = {steps, 9, 0}, none = {zero, 1, 0}, arg = {steps + 1, 1, 0};
	const struct tri_lazy_call call = {.callee = &units[1], .dims = &arg, .n_dims = 1};
	units[0].scratch = &own;
	units[1].scratch = &none;
	slots[1].scratch = scratch_of;
	assert_int_equal(tri_lazy_scratch((int64_t[]){-7, 2}, &units[0]), 8 * -4 + 1);
	assert_int_equal(tri_lazy_scratch((int64_t[]){7, 0}, &units[0]), 8 * 7);
	assert_int_equal(tri_lazy_scratch((int64_t[]){INT64_MIN, -1}, &units[0]), TRI_TOO_LARGE);
	units[0].calls = &call;
	units[0].n_calls = 1;
	assert_int_equal(tri_lazy_scratch((int64_t[]){7, 2}, &units[0]), 8 * 3 + 1 + 64 * 7);
	assert_int_equal(tri_lazy_scratch((int64_t[]){1ll << 61, 1}, &units[0]), TRI_TOO_LARGE);
}

int test_lazy(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(units_are_compiled_once, set_up),
		cmocka_unit_test_setup(failures_are_reported_and_forgotten, set_up),
		cmocka_unit_test_setup(scratch_is_as_compiled_code_has_it, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

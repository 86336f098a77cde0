/* Random numbers computed with vectors, against one number at a time; and parts of an initializer against all of it. */
#include "backend/interp/random.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/buildtime/operations.h"
#include "backend/buildtime/stream.h"
#include "backend/ir/ir.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

enum { SOME = 5000 };

static void check_vectors(struct ir_random r, dtype elem)
{
	static _Alignas(64) char got[SOME * 8], want[SOME * 8];
	size_t size = dtype_size(elem) * SOME;
	for (uint64_t seed = 0; seed < quick(50, 4); seed++) {
		int64_t first = (int64_t)seed * 999983;
		buildtime_random(&r, seed, first, SOME, elem, got);
		random_elements(&r, seed, first, SOME, elem, want);
		for (size_t k = 0; elem == DT_FLOAT32 && k < SOME; k++) { /* the sign of NaN may differ */
			float x, y;
			memcpy(&x, got + 4 * k, 4);
			memcpy(&y, want + 4 * k, 4);
			if (isnan(x) && isnan(y))
				memset(got + 4 * k, 0, 4), memset(want + 4 * k, 0, 4);
		}
		assert_memory_equal(got, want, size);
	}
}

static void vectors_equal_one_at_a_time(void **state)
{
	static const double params[][2] = {{0, 1},    {3, 0.02},    {-1e-3, 1e30}, {0, 0},  {5, 0}, {NAN, 1},     {0, -2},
					   {1, 1e-9}, {1.0 / 3, 0}, {0.5, 0},      {-1, 0}, {2, 0}, {0x1p-53, 0}, {0.99999, 0}};
	static const dtype elems[] = {DT_FLOAT32, DT_TRIT, DT_INT8, DT_FLOAT16, DT_FLOAT64};
	static const uint8_t kinds[] = {RANDOM_UNIFORM, RANDOM_NORMAL, RANDOM_TRIT};
	for (size_t p = 0; p < sizeof params / sizeof *params; p++)
		for (size_t e = 0; e < sizeof elems / sizeof *elems; e++)
			for (size_t k = 0; k < sizeof kinds; k++) {
				struct ir_random r = {.kind = kinds[k], .seed = 5, .stream = 3};
				memcpy(r.params, params[p], sizeof params[p]);
				if (kinds[k] == RANDOM_TRIT || (elems[e] != DT_TRIT && elems[e] != DT_INT8))
					check_vectors(r, elems[e]);
			}
}

/* The series of the logarithm and the cosine against those of the C library. */
static void normals_are_accurate(void **state)
{
	for (uint64_t k = 0; k < quick(1000000, 20000); k++) {
		double u = 1 - random_uniform(1, 2 * k, 53), v = random_uniform(1, 2 * k + 1, 53), got = random_normal(1, k);
		double size = sqrt(-2 * log(u)), want = size * cos(2 * acos(-1) * v);
		assert_true(fabs(got - want) <= fabs(want) * 0x1p-45 + size * 0x1p-50);
	}
	assert_true(random_log(1) == 0);
	assert_true(fabs(random_log(0x1p-53) + 53 * log(2)) < 1e-13);
}

/* Values of an earlier version: libraries with random weights stay the same. */
static void numbers_stay(void **state)
{
	static const float normals[] = {-0x1.3e7d86p-2f, -0x1.472292p-2f, -0x1.2b0908p-1f, -0x1.7931fep-2f};
	static const float uniforms[] = {0x1.566dbp-2f, 0x1.5900b8p+1f, 0x1.43ed2ap+1f, 0x1.1ddfc4p+0f};
	for (uint64_t k = 0; k < 4; k++) {
		assert_true((float)random_normal(42, 1000 + k) == normals[k]);
		assert_true((float)(-1 + 4 * random_uniform(42, 1000 + k, 24)) == uniforms[k]);
	}
}

static struct ir_fn *read_fn(struct arena *a, struct sources *sources, const char *text)
{
	struct diags *diags = diags_new(0);
	struct ir_fn *f = ir_read(a, sources_add(sources, "t.ir", text, strlen(text)), diags);
	if (!f)
		fail_msg("%s", diags_at(diags, 0)->message);
	diags_free(diags);
	return f;
}

static void check_parts(const char *text, bool has_parts)
{
	struct arena *a = arena_new(0);
	struct sources *sources = sources_new();
	struct ir_fn *f = read_fn(a, sources, text);
	struct stream_elements *e = stream_plan_elements(a, f, 7);
	const char *error = NULL;
	struct tensor want;
	assert_int_equal(e != NULL, has_parts);
	assert_true(interp_run(f, NULL, NULL, NULL, 7, a, &want, &error));
	for (int64_t first = 0, n = 1; e && first < tensor_count(&want); first += n, n = n * 3 + 1) {
		size_t size = dtype_size(want.elem);
		if (n > tensor_count(&want) - first)
			n = tensor_count(&want) - first;
		char *got = arena_alloc(a, (size_t)n * size + 1, 64);
		got[(size_t)n * size] = 0x5a;
		stream_read_elements(e, first, n, got);
		assert_memory_equal(got, (char *)want.data + (size_t)first * size, (size_t)n * size);
		assert_int_equal(got[(size_t)n * size], 0x5a);
	}
	if (e) {
		assert_int_equal(stream_element_type(e), want.elem);
		assert_int_equal(stream_element_count(e), tensor_count(&want));
	}
	sources_free(sources);
	arena_free(a);
}

static void parts_equal_the_whole(void **state)
{
	check_parts(
		"fn f()\n%0 = random normal seed 5 stream 0 params [0, 1] : float32[200, 300]\n%1 = const {0.02} : float32[]\n"
		"%2 = broadcast %1 : float32[200, 300]\n%3 = mul %0 %2 : float32[200, 300]\n%4 = cast %3 : bfloat16[200, 300]\nout %4\n",
		true);
	check_parts(
		"fn f()\n%0 = random uniform seed 5 stream 3 params [-1, 1] : float16[20001]\n%1 = random trit seed 5 stream 4 params [0.5, 0] : trit[20001]\n"
		"%2 = cast %1 : float16[20001]\n%3 = add %0 %2 : float16[20001]\nout %3\n",
		true);
	check_parts("fn f()\n%0 = random trit seed 5 stream 4 params [0.25, 0] : trit[20001]\nout %0\n", true);
	check_parts("fn f()\n%0 = random trit_balanced seed 5 stream 4 params [0.5, 0] : trit[20001]\nout %0\n", false);
	check_parts(
		"fn f()\n%0 = random normal seed 5 stream 0 params [0, 1] : float32[200, 300]\n%1 = transpose %0 perm [1, 0] : float32[300, 200]\nout %1\n",
		false);
	check_parts(
		"fn f()\n%0 = random normal seed 5 stream 0 params [0, 1] : float32[200, 300]\n%1 = reduce_max %0 dims [1] : float32[200]\nout %1\n",
		false);
}

int test_random(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_equal_one_at_a_time),
		cmocka_unit_test(normals_are_accurate),
		cmocka_unit_test(numbers_stay),
		cmocka_unit_test(parts_equal_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

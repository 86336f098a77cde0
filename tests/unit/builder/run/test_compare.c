/* Comparing outputs: tolerances by type, the worst element, integers beyond doubles, NaN. */
#include "builder/run/results.h"
#include "tests/unit/unit.h"
#include <math.h>
#include "base/buf.h"

static struct comparison compare(dtype t, const void *got, const void *want, int64_t n)
{
	struct tensor g = {.elem = t, .rank = 1, .dims = {n}, .data = (void *)(uintptr_t)got};
	struct tensor w = {.elem = t, .rank = 1, .dims = {n}, .data = (void *)(uintptr_t)want};
	struct comparison c;
	struct buf error = {0};
	assert_true(compare_tensors(&g, &w, tolerance_of(t, -1, -1), &c, &error));
	buf_free(&error);
	return c;
}

static void floats(void **state)
{
	float got[] = {1, 2.00001f, 300, NAN, INFINITY, -INFINITY}, want[] = {1.1f, 2, 310, NAN, INFINITY, INFINITY};
	struct comparison c = compare(DT_FLOAT32, got, want, 5);
	assert_int_equal(c.n_wrong, 2);
	assert_int_equal(c.worst, 0); /* of what is allowed for 310, the 10 are less than the 0.1 of what is for 1.1 */
	c = compare(DT_FLOAT32, got, want, 6);
	assert_int_equal(c.worst, 5);
	assert_true(c.got < 0 && c.want > 0);
	double near[] = {1.0}, far[] = {1.00001};
	assert_int_equal(compare(DT_FLOAT64, near, far, 1).n_wrong, 1);
	assert_int_equal(compare(DT_FLOAT64, near, near, 1).worst, -1);
	assert_int_equal(compare(DT_FLOAT32, got, want, 0).n_wrong, 0);
}

static void integers(void **state)
{
	int64_t got[] = {INT64_MAX, 5}, want[] = {INT64_MAX - 1, 5};
	struct comparison c = compare(DT_INT64, got, want, 2); /* equal as doubles */
	assert_int_equal(c.n_wrong, 1);
	assert_int_equal(c.worst, 0);
}

static void shapes_and_types(void **state)
{
	float f[2] = {0};
	int32_t i[2] = {0};
	struct tensor a = {.elem = DT_FLOAT32, .rank = 1, .dims = {2}, .data = f},
		      b = {.elem = DT_INT32, .rank = 1, .dims = {2}, .data = i}, c = a;
	struct comparison out;
	struct buf error = {0};
	assert_false(compare_tensors(&a, &b, tolerance_of(DT_FLOAT32, -1, -1), &out, &error));
	assert_string_equal(error.at, "is float32 [2], want int32 [2]");
	c.rank = 0;
	assert_false(compare_tensors(&a, &c, tolerance_of(DT_FLOAT32, -1, -1), &out, &error));
	buf_free(&error);
}

static void tolerances(void **state)
{
	assert_true(tolerance_of(DT_INT8, -1, -1).atol == 0);
	assert_true(tolerance_of(DT_FLOAT16, -1, -1).rtol > tolerance_of(DT_FLOAT32, -1, -1).rtol);
	assert_true(tolerance_of(DT_FLOAT32, 0.5, -1).rtol == 0.5);
	assert_true(tolerance_of(DT_FLOAT32, 0.5, 0).atol == 0);
}

int test_compare(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(integers), cmocka_unit_test(shapes_and_types),
					   cmocka_unit_test(tolerances)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/arith.h"
#include <math.h>
#include <stdbool.h>
#include "tests/unit/unit.h"

static bool is_same(double a, double b) { return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b); }

/* As torch.div(x, y, rounding_mode="floor") and torch.remainder(x, y). */
static void float_division(void **state)
{
	static const struct {
		double x, y, floordiv, mod;
	} cases[] = {
		{7, 2, 3, 1},
		{-7, 2, -4, 1},
		{7, -2, -4, -1},
		{-7, -2, 3, -1},
		{6, -2, -3, 0},
		{0.5, 1, 0, 0.5},
		{-0.0, 1, -0.0, -0.0},
		{0.0, -3, -0.0, 0.0},
		{-1, INFINITY, -1, INFINITY},
		{1, INFINITY, 0, 1},
		{1, -INFINITY, -1, -INFINITY},
		{-1, -INFINITY, 0, -1},
		{INFINITY, 2, NAN, NAN},
		{1, 0, INFINITY, NAN},
		{-1, 0, -INFINITY, NAN},
		{0, 0, NAN, NAN},
		{NAN, 1, NAN, NAN},
		{1, NAN, NAN, NAN},
		{1e300, 3, 1e300 / 3, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(is_same(arith_float_floordiv(cases[i].x, cases[i].y), cases[i].floordiv));
		assert_true(is_same(arith_float_mod(cases[i].x, cases[i].y), cases[i].mod));
	}
}

static void float_extremes(void **state)
{
	assert_true(isnan(arith_float_min(NAN, 1)) && isnan(arith_float_min(1, NAN)));
	assert_true(isnan(arith_float_max(NAN, 1)) && isnan(arith_float_max(1, NAN)));
	assert_true(arith_float_min(1, 2) == 1 && arith_float_max(1, 2) == 2);
}

static void int_division(void **state)
{
	for (int64_t x = -9; x <= 9; x++)
		for (int64_t y = -4; y <= 4; y++) {
			int64_t q = arith_int_floordiv(x, y), m = arith_int_mod(x, y);
			assert_true(y ? q == (int64_t)floor((double)x / (double)y) && q * y + m == x : q == 0 && m == 0);
		}
	assert_true(arith_int_floordiv(INT64_MIN, -1) == INT64_MIN && arith_int_mod(INT64_MIN, -1) == 0);
}

static void int_power(void **state)
{
	assert_true(arith_int_pow(-3, 3) == -27 && arith_int_pow(7, 0) == 1 && arith_int_pow(2, 64) == 0);
	assert_true(arith_int_pow(-1, -3) == -1 && arith_int_pow(-1, -2) == 1 && arith_int_pow(1, -5) == 1 && arith_int_pow(2, -1) == 0);
}

int test_arith(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(float_division), cmocka_unit_test(float_extremes),
					   cmocka_unit_test(int_division), cmocka_unit_test(int_power)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

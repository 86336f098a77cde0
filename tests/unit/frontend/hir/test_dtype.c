/* Element types: names, sizes and the widening order. */
#include "tests/unit/unit.h"
#include "frontend/hir/dtype.h"

static void names(void **state)
{
	for (int t = 0; t < DT_COUNT; t++)
		assert_int_equal(dtype_find(dtype_text((dtype)t)), t);
	assert_int_equal(dtype_find("int"), DT_INT32);
	assert_int_equal(dtype_find("float"), DT_FLOAT32);
	assert_int_equal(dtype_find("float3"), DT_COUNT);
	assert_int_equal(dtype_size(DT_TRIT), 1);
	assert_int_equal(dtype_size(DT_BFLOAT16), 2);
}

static void widening(void **state)
{
	assert_true(dtype_widens(DT_INT8, DT_INT64));
	assert_true(dtype_widens(DT_INT64, DT_FLOAT32));
	assert_true(dtype_widens(DT_FLOAT16, DT_FLOAT64));
	assert_false(dtype_widens(DT_FLOAT16, DT_BFLOAT16));
	assert_false(dtype_widens(DT_INT32, DT_FLOAT16));
	assert_false(dtype_widens(DT_FLOAT32, DT_INT64));
	assert_true(dtype_widens(DT_TRIT, DT_INT8));
	assert_true(dtype_widens(DT_TRIT, DT_FLOAT16));
	assert_false(dtype_widens(DT_INT8, DT_TRIT));
	assert_false(dtype_widens(DT_BOOL, DT_INT8));
	assert_true(dtype_widens(DT_UINT8, DT_INT16));
	assert_true(dtype_widens(DT_UINT8, DT_FLOAT32));
	assert_false(dtype_widens(DT_UINT8, DT_INT8));
	assert_false(dtype_widens(DT_INT8, DT_UINT8));
	assert_false(dtype_widens(DT_TRIT, DT_UINT8));
}

/* A partial order, and the join is its least upper bound. */
static void order(void **state)
{
	for (int a = 0; a < DT_COUNT; a++)
		for (int b = 0; b < DT_COUNT; b++) {
			dtype j = dtype_join((dtype)a, (dtype)b);
			assert_int_equal(j, dtype_join((dtype)b, (dtype)a));
			if (a != b)
				assert_false(dtype_widens((dtype)a, (dtype)b) && dtype_widens((dtype)b, (dtype)a));
			for (int c = 0; c < DT_COUNT; c++) {
				if (dtype_widens((dtype)a, (dtype)b) && dtype_widens((dtype)b, (dtype)c))
					assert_true(dtype_widens((dtype)a, (dtype)c));
				if (dtype_widens((dtype)a, (dtype)c) && dtype_widens((dtype)b, (dtype)c))
					assert_true(j != DT_COUNT && dtype_widens(j, (dtype)c));
			}
		}
	assert_int_equal(dtype_join(DT_FLOAT16, DT_BFLOAT16), DT_FLOAT32);
	assert_int_equal(dtype_join(DT_TRIT, DT_FLOAT32), DT_FLOAT32);
	assert_int_equal(dtype_join(DT_TRIT, DT_BOOL), DT_COUNT);
	assert_int_equal(dtype_join(DT_UINT8, DT_UINT8), DT_UINT8);
	assert_int_equal(dtype_join(DT_UINT8, DT_INT8), DT_INT16);
	assert_int_equal(dtype_join_operands(DT_TRIT, DT_UINT8), DT_INT16);
	assert_int_equal(dtype_join_operands(DT_TRIT, DT_BOOL), DT_COUNT);
	assert_int_equal(dtype_join_operands(DT_INT8, DT_TRIT), DT_INT8);
}

static void limits(void **state)
{
	uint8_t bytes[2] = {0};
	assert_int_equal(dtype_least_int(DT_UINT8), 0);
	assert_int_equal(dtype_largest_int(DT_UINT8), 255);
	assert_int_equal(dtype_least_int(DT_INT64), INT64_MIN);
	assert_int_equal(dtype_largest_int(DT_TRIT), 1);
	assert_true(dtype_is_unsigned(DT_UINT8) && dtype_is_unsigned(DT_BOOL));
	assert_false(dtype_is_unsigned(DT_INT8) || dtype_is_unsigned(DT_TRIT) || dtype_is_unsigned(DT_FLOAT32));
	dtype_put_int(DT_UINT8, bytes, 1, 456);
	assert_int_equal(dtype_int(DT_UINT8, bytes, 1), 200);
	assert_int_equal(dtype_int(DT_INT8, bytes, 1), -56);
}

int test_dtype(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(widening), cmocka_unit_test(order),
					   cmocka_unit_test(limits)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/half.h"
#include <math.h>
#include <string.h>
#include "tests/unit/unit.h"

/* Every number of both formats survives; halves between neighbours go to the even one. */
static void formats(void **state)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		double h = float16_value((uint16_t)bits), b = bfloat16_value((uint16_t)bits);
		if (!isnan(h))
			assert_int_equal(float16_bits(h), bits);
		if (!isnan(b))
			assert_int_equal(bfloat16_bits(b), bits);
		uint32_t wide = bits << 16;
		float f;
		memcpy(&f, &wide, 4);
		assert_true(isnan(b) ? isnan(f) : b == (double)f);
	}
	for (uint32_t bits = 0; bits < 0x7bff; bits++) {
		double low = float16_value((uint16_t)bits), high = float16_value((uint16_t)(bits + 1));
		assert_int_equal(float16_bits((low + high) / 2), bits + (bits & 1));
		assert_int_equal(float16_bits(nextafter((low + high) / 2, 0)), bits);
		assert_int_equal(float16_bits(nextafter((low + high) / 2, high)), bits + 1);
	}
	assert_int_equal(float16_bits(65520), 0x7c00);
	assert_int_equal(float16_bits(65519.99), 0x7bff);
	assert_true(isnan(float16_value(float16_bits(NAN))) && isnan(bfloat16_value(bfloat16_bits(NAN))));
}

int test_half(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(formats)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

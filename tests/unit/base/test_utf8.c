#include "base/utf8.h"
#include "tests/unit/unit.h"

static void round_trip(void **state)
{
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		char text[4];
		uint32_t back;
		size_t n;

		if (cp >= 0xD800 && cp < 0xE000)
			continue;
		n = utf8_put(cp, text);
		assert_int_equal(utf8_decode(text, n, &back), n);
		assert_int_equal(back, cp);
		assert_int_equal(utf8_valid_prefix(text, n), n);
		if (n > 1)
			assert_int_equal(utf8_valid_prefix(text, n - 1), 0);
	}
}

static void invalid(void **state)
{
	static const char *const bad[] = {"\x80",         "\xC0\xAF",         "\xC1\xBF",         "\xE0\x80\xAF",
					  "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint32_t cp;

		assert_int_equal(utf8_decode(bad[i], 4, &cp), 1);
		assert_int_equal(cp, 0xFFFD);
	}
	assert_int_equal(utf8_valid_prefix("ab\xFF", 3), 2);
}

static void widths(void **state)
{
	assert_int_equal(utf8_width('a'), 1);
	assert_int_equal(utf8_width(0xE9), 1);
	assert_int_equal(utf8_width(0x301), 0);
	assert_int_equal(utf8_width(0x200D), 0);
	assert_int_equal(utf8_width(0x4E2D), 2);
	assert_int_equal(utf8_width(0xAC00), 2);
	assert_int_equal(utf8_width(0xFF21), 2);
	assert_int_equal(utf8_width(0xFF71), 1); /* half-width katakana */
	assert_int_equal(utf8_width(0x1F600), 2);
	assert_int_equal(utf8_width(0x3B1), 1);
	assert_int_equal(utf8_width(0x10FFFF), 1);
}

int test_utf8(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(invalid), cmocka_unit_test(widths)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

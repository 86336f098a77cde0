#include "base/buf.h"
#include "tests/unit/unit.h"
#include <string.h>

static void text(void **state)
{
	struct buf b = {0};

	buf_put(&b, "", 0);
	assert_string_equal(b.at, "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
	assert_int_equal(strlen(b.at), b.len);
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	buf_puts(&b, "ab");
	buf_putc(&b, 'c');
	assert_string_equal(b.at, "abc");
	buf_free(&b);
	assert_null(b.at);
	buf_clear(&b); /* of an empty one */
	buf_free(&b);
}

static void binary(void **state)
{
	static const unsigned char expect[] = {0xAB, 0x78, 0x56, 0x34, 0x12, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01};
	struct buf b = {0};

	buf_u8(&b, 0xAB);
	buf_u32(&b, 0x12345678);
	buf_u64(&b, 0x0123456789ABCDEF);
	assert_int_equal(b.len, sizeof expect);
	assert_memory_equal(b.at, expect, sizeof expect);
	buf_free(&b);
}

int test_buf(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(text), cmocka_unit_test(binary)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

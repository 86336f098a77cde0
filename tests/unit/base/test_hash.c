#include "base/hash.h"
#include "tests/unit/unit.h"
#include <string.h>

/* XXH3's published value of the empty input: the hash is stored on disk and must never change. */
static void known_values(void **state)
{
	char hex[33];

	hash_hex(hash_bytes("", 0), hex);
	assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
	assert_true(hash64_bytes("", 0) == 0x2D06800538D394C2u);
}

static void streaming_equals_whole(void **state)
{
	unsigned char data[3000];

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 31);
	for (size_t n = 0; n < sizeof data; n += 37) {
		struct hasher *h = hasher_new();

		for (size_t at = 0; at < n; at += 100)
			hasher_add(h, data + at, n - at < 100 ? n - at : 100);
		assert_true(hash_eq(hasher_finish(h), hash_bytes(data, n)));
	}
}

static void streaming_64_bits(void **state)
{
	static unsigned char data[100000];

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 31 ^ i >> 8);
	for (size_t n = 0; n < sizeof data; n = n * 5 / 4 + 1) {
		struct hasher *h = hasher_new();

		for (size_t at = 0; at < n; at += 3000)
			hasher_add(h, data + at, n - at < 3000 ? n - at : 3000);
		assert_true(hasher_finish64(h) == hash64_bytes(data, n));
	}
}

/* Long inputs are hashed with wider vectors where the machine has them. */
static void long_inputs_equal_short_parts(void **state)
{
	static unsigned char data[100000];

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 31 ^ i >> 8);
	for (size_t n = 1000; n < sizeof data; n = n * 5 / 4 + 1) {
		struct hasher *narrow = hasher_new(), *mixed = hasher_new();

		for (size_t at = 0; at < n; at += 200)
			hasher_add(narrow, data + at, n - at < 200 ? n - at : 200);
		hasher_add(mixed, data, 77);
		hasher_add(mixed, data + 77, n - 77);
		hash128 h = hasher_finish(narrow);
		assert_true(hash_eq(h, hash_bytes(data, n)));
		assert_true(hash_eq(h, hasher_finish(mixed)));
	}
}

static hash128 of_two(const char *a, const char *b)
{
	struct hasher *h = hasher_new();

	hasher_add_str(h, a);
	hasher_add_str(h, b);
	return hasher_finish(h);
}

static void boundaries_and_order_matter(void **state)
{
	hash128 a = hash_bytes("a", 1), b = hash_bytes("b", 1);

	assert_false(hash_eq(of_two("ab", "c"), of_two("a", "bc")));
	assert_true(hash_eq(of_two("ab", "c"), of_two("ab", "c")));
	assert_false(hash_eq(hash_combine(a, b), hash_combine(b, a)));
	assert_true(hash_is_zero((hash128){0}));
	assert_false(hash_is_zero(a));
}

static void hex_round_trip(void **state)
{
	hash128 h = hash_bytes("trit", 4), back = {0};
	char hex[33];

	hash_hex(h, hex);
	assert_int_equal(strlen(hex), 32);
	assert_true(hash_parse_hex(hex, &back));
	assert_true(hash_eq(h, back));
	assert_true(hash_parse_hex("ABCDEF00000000000000000000000000", &back));
	assert_true(back.hi == 0xABCDEF0000000000u && back.lo == 0);
	assert_false(hash_parse_hex("", &back));
	assert_false(hash_parse_hex("abc", &back));
	assert_false(hash_parse_hex("ABCDEF0000000000000000000000000000", &back));
	assert_false(hash_parse_hex("g0000000000000000000000000000000", &back));
	assert_false(hash_parse_hex("@0000000000000000000000000000000", &back));
}

int test_hash(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(streaming_equals_whole),
		cmocka_unit_test(streaming_64_bits),
		cmocka_unit_test(long_inputs_equal_short_parts),
		cmocka_unit_test(boundaries_and_order_matter),
		cmocka_unit_test(hex_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "builder/weights/npy.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

/* A file of that version with this header text and n bytes 0, 1, 2 … */
static struct buf file(int version, const char *header, size_t n)
{
	struct buf b = {0};
	size_t len = strlen(header);
	buf_put(&b, "\x93NUMPY", 6);
	buf_u8(&b, (uint8_t)version);
	buf_u8(&b, 0);
	if (version == 1) {
		buf_u8(&b, (uint8_t)len);
		buf_u8(&b, (uint8_t)(len >> 8));
	} else {
		buf_u32(&b, (uint32_t)len);
	}
	buf_puts(&b, header);
	for (size_t i = 0; i < n; i++)
		buf_u8(&b, (uint8_t)i);
	return b;
}

static bool parses(int version, const char *header, size_t n)
{
	struct arena *a = arena_new(0);
	struct buf b = file(version, header, n);
	struct tensor t;
	const char *error = NULL;
	bool ok = npy_parse(a, b.at, b.len, &t, &error);
	assert_true(ok || error);
	buf_free(&b);
	arena_free(a);
	return ok;
}

static void versions_and_types(void **state)
{
	for (int v = 1; v <= 3; v++)
		assert_true(parses(v, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24));
	assert_true(parses(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (), }", 1));
	assert_true(parses(1, "{\"shape\": (5,), \"descr\": \"<i8\", \"fortran_order\": False}", 40));
	assert_true(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", 0));
}

static void damage(void **state)
{
	assert_false(parses(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23));
	assert_false(parses(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", 24));
	assert_false(parses(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'shape': (2, 3), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999, 0), }", 24));
	assert_false(parses(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 24));
	assert_false(parses(1, "", 0));
	assert_false(parses(1, "{", 0));
	assert_false(parses(1, "{'descr", 0));
}

static void cut_at_every_byte(void **state)
{
	struct arena *a = arena_new(0);
	struct buf b = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
	for (size_t n = 0; n < b.len; n++) {
		struct tensor t;
		const char *error = NULL;
		char *exact = malloc(n ? n : 1);
		memcpy(exact, b.at, n);
		assert_false(npy_parse(a, exact, n, &t, &error));
		assert_non_null(error);
		free(exact);
	}
	buf_free(&b);
	arena_free(a);
}

static void fortran_order_is_reordered(void **state)
{
	struct arena *a = arena_new(0);
	struct buf b = file(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", 6);
	struct tensor t;
	const char *error;
	assert_true(npy_parse(a, b.at, b.len, &t, &error));
	assert_memory_equal(t.data, ((int8_t[]){0, 2, 4, 1, 3, 5}), 6);
	buf_free(&b);
	arena_free(a);
}

static void round_trip(void **state)
{
	struct arena *a = arena_new(0);
	float data[6] = {1, -2.5f, 3, 4, 5, 1e-30f};
	struct tensor t = {.elem = DT_FLOAT32, .rank = 2, .dims = {3, 2}, .data = data}, back;
	struct buf b = {0};
	const char *error;
	npy_write(&t, &b);
	assert_int_equal((b.len - sizeof data) % 64, 0);
	assert_true(npy_parse(a, b.at, b.len, &back, &error));
	assert_int_equal(back.rank, 2);
	assert_int_equal(back.dims[0], 3);
	assert_memory_equal(back.data, data, sizeof data);
	buf_clear(&b);
	int8_t trits[3] = {-1, 0, 1};
	t = (struct tensor){.elem = DT_TRIT, .rank = 1, .dims = {3}, .data = trits};
	npy_write(&t, &b);
	assert_true(npy_parse(a, b.at, b.len, &back, &error));
	assert_int_equal(back.elem, DT_INT8);
	assert_memory_equal(back.data, trits, 3);
	buf_clear(&b);
	uint8_t pixels[3] = {0, 128, 255};
	t = (struct tensor){.elem = DT_UINT8, .rank = 1, .dims = {3}, .data = pixels};
	npy_write(&t, &b);
	assert_non_null(strstr(b.at + 10, "'|u1'"));
	assert_true(npy_parse(a, b.at, b.len, &back, &error));
	assert_int_equal(back.elem, DT_UINT8);
	assert_memory_equal(back.data, pixels, 3);
	buf_free(&b);
	arena_free(a);
}

int test_npy(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_and_types),         cmocka_unit_test(damage),     cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(fortran_order_is_reordered), cmocka_unit_test(round_trip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Packing a matrix from its transpose, or a value part by part, gives the same bytes. */
#include "backend/plan/plan.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"

static void check(enum layout layout, dtype elem, int64_t k, int64_t n)
{
	struct tensor t = {elem, 2, {k, n}, NULL}, turned = {elem, 2, {n, k}, NULL};
	size_t size = dtype_size(elem), packed = layout_packed_size(layout, &t), all = (size_t)tensor_bytes(&t);
	char *a = malloc(all), *b = malloc(all), *from_a = malloc(packed), *from_b = malloc(packed);
	t.data = a;
	turned.data = b;
	for (int64_t r = 0; r < k; r++)
		for (int64_t c = 0; c < n; c++) {
			elem_put_int(elem, a, r * n + c, (r * 31 + c * 17) % 3 - 1);
			memcpy(b + (size_t)(c * k + r) * size, a + (size_t)(r * n + c) * size, size);
		}
	memset(from_a, 1, packed);
	memset(from_b, 2, packed);
	layout_pack(layout, &t, from_a);
	layout_pack_transposed(layout, &turned, from_b);
	assert_memory_equal(from_a, from_b, packed);
	free(a);
	free(b);
	free(from_a);
	free(from_b);
}

static void packs_from_the_transpose(void **state)
{
	static const int64_t sizes[] = {1, 3, 15, 16, 17, 32, 33, 50, 64, 100};
	for (size_t i = 0; i < 10; i++)
		for (size_t j = 0; j < 10; j++) {
			check(LAYOUT_TRIT2, DT_TRIT, sizes[i], sizes[j]);
			check(LAYOUT_TRIT1_6, DT_TRIT, sizes[i], sizes[j]);
			check(LAYOUT_TRIT_BLOCKS, DT_TRIT, sizes[i], sizes[j]);
			check(LAYOUT_TRIT_LISTS, DT_TRIT, sizes[i], sizes[j]);
			check(LAYOUT_PLANES, DT_TRIT, sizes[i], sizes[j]);
			check(LAYOUT_PLAIN, DT_INT16, sizes[i], sizes[j]);
		}
}

static void pack(enum layout layout, const struct tensor *t, bool is_transposed, char *out)
{
	(is_transposed ? layout_pack_transposed : layout_pack)(layout, t, out);
}

/* Packs parts of so many rows, one after the other; returns the size of all. */
static size_t pack_parts(enum layout layout, struct tensor t, bool is_transposed, int64_t each, char *out)
{
	int64_t rows = t.dims[0];
	size_t at = 0, row = (size_t)tensor_bytes(&t) / (size_t)rows;
	for (int64_t r = 0; r < rows; r += each, t.data = (char *)t.data + (size_t)each * row) {
		t.dims[0] = rows - r < each ? rows - r : each;
		struct tensor straight = is_transposed ? tensor_transposed(&t) : t;
		pack(layout, &t, is_transposed, out + at);
		at += layout_packed_size(layout, &straight);
	}
	return at;
}

static void check_parts(enum layout layout, struct tensor t, bool is_transposed)
{
	int64_t each = layout_part_rows(layout, is_transposed);
	struct tensor straight = is_transposed ? tensor_transposed(&t) : t;
	size_t packed = layout_packed_size(layout, &straight);
	char *whole = calloc(1, packed), *parts = calloc(1, packed);
	t.data = malloc((size_t)tensor_bytes(&t));
	for (int64_t i = 0; i < tensor_bytes(&t); i++)
		((char *)t.data)[i] = (char)(i % 61);
	assert_true(each > 0);
	pack(layout, &t, is_transposed, whole);
	for (int64_t n = 1; n <= 3; n++) {
		assert_int_equal(pack_parts(layout, t, is_transposed, n * each, parts), packed);
		assert_memory_equal(parts, whole, packed);
	}
	free(t.data);
	free(whole);
	free(parts);
}

static void packs_in_parts(void **state)
{
	static const int64_t rows[] = {1, 31, 32, 33, 64, 100, 161};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check_parts(LAYOUT_PLAIN, (struct tensor){DT_FLOAT32, 2, {rows[i], 1}, NULL}, false);
		check_parts(LAYOUT_PANELS, (struct tensor){DT_FLOAT32, 2, {rows[i], 7}, NULL}, true);
		check_parts(LAYOUT_PANELS, (struct tensor){DT_FLOAT16, 2, {rows[i], 7}, NULL}, true);
		check_parts(LAYOUT_WINDOW_PANELS, (struct tensor){DT_FLOAT32, 4, {rows[i], 5, 3, 2}, NULL}, false);
	}
}

int test_layout(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packs_from_the_transpose), cmocka_unit_test(packs_in_parts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Packing a matrix from its transpose gives the same bytes. */
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

int test_layout_transposed(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packs_from_the_transpose)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

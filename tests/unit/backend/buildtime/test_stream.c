/* Quantizers and other functions of one large weight, block by block, against the interpreter: equal bit by bit. */
#include "backend/buildtime/stream.h"
#include "backend/interp/interp.h"
#include "tests/unit/backend/buildtime/stream_fixture.h"
#include <math.h>

/* Not taken: a reduction of columns, a value of a transposed one, a product. */
static const char *const refused[] = {
	"%1 = reduce_sum %0 dims [0] : ELEM[300]\nout %1\n",
	"%1 = transpose %0 perm [1, 0] : ELEM~\n%2 = abs %1 : ELEM~\nout %2\n",
	"%1 = transpose %0 perm [1, 0] : ELEM~\n%2 = matmul %0 %1 : ELEM[96, 96]\nout %2\n",
};

static void check(const char *text, dtype elem, int rows, int cols, bool in_blocks)
{
	struct fixture x;
	struct stream_result got[4];
	struct tensor want[4];
	const char *error = NULL;
	open_fixture(&x, text, elem, rows, cols);
	struct stream_weight w = {.tensor = x.weight, .read = read_block, .reader = &x};
	if (in_blocks)
		w.tensor.data = NULL;
	struct stream *s = stream_plan(x.a, x.f);
	assert_non_null(s);
	assert_true(stream_run(s, &w, NULL, x.a, got, &error));
	assert_true(interp_run(x.f, NULL, &x.weight, NULL, 0, x.a, want, &error));
	for (uint32_t k = 0; k < x.f->n_outputs; k++)
		compare(&got[k], &want[k]);
	close_fixture(&x);
}

static void equals_the_interpreter(void **state)
{
	static const char *const texts[] = {STREAM_ABSMEAN, STREAM_ABSMAX, STREAM_ADAPTIVE, STREAM_FOLDED};
	static const int shapes[][2] = {{96, 300}, {7, 5000}, {1, 20001}, {20001, 1}, {4096, 5}, {8, 2048}};
	static const dtype elems[] = {DT_FLOAT32, DT_BFLOAT16, DT_FLOAT16, DT_FLOAT64};
	for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
		for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
			for (size_t e = 0; e < quick(4, 1); e++)
				check(texts[t], elems[e], shapes[k][0], shapes[k][1], (t + k + e) % 2);
}

/* Large numbers cancel, so that the sum depends on the order of its terms; and a sum is midway between two float32. */
static void sums_have_the_order_of_the_interpreter(void **state)
{
	static const float terms[][3] = {{1e16f, 1, -1e16f}, {-3e15f, 0.5f, 3e15f}, {1, 2, 3}};
	struct fixture x;
	struct stream_result got;
	struct tensor want;
	const char *error = NULL;
	open_fixture(&x, "%1 = reduce_sum %0 dims [1] : ELEM$\nout %1\n", DT_FLOAT32, 4, 5000);
	float *data = x.weight.data;
	for (int k = 0; k < 15000; k++)
		data[k] = terms[k / 5000][k % 3];
	for (int k = 15000; k < 20000; k++)
		data[k] = k == 15000 ? 16777216 : k == 19999;
	struct stream_weight w = {.tensor = x.weight};
	struct stream *s = stream_plan(x.a, x.f);
	assert_true(stream_run(s, &w, NULL, x.a, &got, &error));
	assert_true(interp_run(x.f, NULL, &x.weight, NULL, 0, x.a, &want, &error));
	compare(&got, &want);
	close_fixture(&x);
}

/* Numbers from 2^22 to 2^23 have halves, larger ones have none. */
static void large_numbers_are_rounded(void **state)
{
	static const float starts[] = {-3, 0x1p22f - 1000, 0x1p23f - 3000, -0x1p23f - 2000, -0x1p22f - 1500};
	struct fixture x;
	struct tensor got;
	const char *error = NULL;
	open_fixture(&x, "%1 = round %0 : ELEM@\nout %1\n", DT_FLOAT32, 5, 5000);
	float *data = x.weight.data;
	for (int k = 0; k < 25000; k++)
		data[k] = starts[k / 5000] + (float)(k % 5000) * 0.5f;
	assert_true(interp_run(x.f, NULL, &x.weight, NULL, 0, x.a, &got, &error));
	for (int k = 0; k < 25000; k++)
		assert_true(((float *)got.data)[k] == rintf(data[k]));
	close_fixture(&x);
}

static void others_are_refused(void **state)
{
	struct fixture x;
	for (size_t t = 0; t < sizeof refused / sizeof *refused; t++) {
		open_fixture(&x, refused[t], DT_FLOAT32, 96, 300);
		assert_null(stream_plan(x.a, x.f));
		close_fixture(&x);
	}
	open_fixture(&x, STREAM_ABSMEAN, DT_FLOAT32, 3, 4); /* small */
	assert_null(stream_plan(x.a, x.f));
	close_fixture(&x);
}

static bool fail_to_read(void *reader, int64_t first, int64_t n, void *out, const char **error)
{
	(void)reader, (void)n, (void)out;
	*error = "gone";
	return first < 4096;
}

static void errors(void **state)
{
	struct fixture x;
	struct stream_result got[4];
	const char *error = NULL;
	open_fixture(&x, STREAM_ABSMEAN, DT_FLOAT32, 96, 300);
	struct stream_weight w = {.tensor = x.weight, .read = fail_to_read};
	w.tensor.data = NULL;
	struct stream *s = stream_plan(x.a, x.f);
	assert_false(stream_run(s, &w, NULL, x.a, got, &error));
	assert_string_equal(error, "gone");
	close_fixture(&x);
}

int test_stream(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_interpreter),
		cmocka_unit_test(sums_have_the_order_of_the_interpreter),
		cmocka_unit_test(large_numbers_are_rounded),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

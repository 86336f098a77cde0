/* What rounding changes in a model, and the tolerance that follows from it. */
#include "builder/run/rounding.h"
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "tests/unit/unit.h"

enum { N = 64 };

/* out: 1000 times the inputs; sum: an integer; none: nothing of the inputs. */
static enum status run(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error)
{
	const float *x = io[0].data;
	float *out = io[1].data;
	*(int *)ctx += 1;
	for (int i = 0; i < N; i++)
		out[i] = 1000 * x[i];
	*(int64_t *)io[2].data = (int64_t)(x[0] * 1e9f);
	*(float *)io[3].data = NAN;
	return STATUS_OK;
}
static void reset(void *ctx) { (void)ctx; }

static void differences_are_those_of_changed_inputs(void **state)
{
	static const tri_io_desc inputs[] = {{.name = "x", .dtype = TRI_FLOAT32, .rank = 1}};
	static const tri_io_desc outputs[] = {{.name = "out", .dtype = TRI_FLOAT32, .rank = 1},
					      {.name = "sum", .dtype = TRI_INT64},
					      {.name = "none", .dtype = TRI_FLOAT32}};
	const tri_entry_desc e = {.name = "forward", .inputs = inputs, .n_inputs = 1, .outputs = outputs, .n_outputs = 3};
	float x[N], out[N], none;
	int64_t sum;
	int runs = 0;
	struct arena *a = arena_new(0);
	struct buf error = {0};
	struct options o = {0};
	tri_tensor io[] = {{.data = x, .rank = 1, .dtype = TRI_FLOAT32, .shape = {N}},
			   {.data = out, .rank = 1, .dtype = TRI_FLOAT32, .shape = {N}},
			   {.data = &sum, .dtype = TRI_INT64},
			   {.data = &none, .dtype = TRI_FLOAT32}};
	for (int i = 0; i < N; i++)
		x[i] = 4;
	const struct run_model m = {"net", &e, 1, run, reset, &runs};
	assert_int_equal(run(&runs, 0, io, &error), STATUS_OK);
	double *r = rounding_measure(a, &m, 0, &(struct run_io){.entry = &e, .tensors = io}, &o, &error);
	assert_non_null(r);
	assert_int_equal(runs, 9);
	assert_true(r[0] > 4000 * 1.9e-6 && r[0] < 4000 * 2.1e-6); /* one run is up, another one down */
	assert_true(r[1] == 0 && r[2] == 0);
	assert_true(x[5] == 4 && out[5] == 4000); /* the first run stays as it is */
	buf_free(&error);
	arena_free(a);
}

static void tolerance_is_four_differences(void **state)
{
	float want[] = {0, -8, NAN, 2};
	struct tensor t = {.elem = DT_FLOAT32, .rank = 1, .dims = {4}, .data = want};
	struct tolerance usual = tolerance_of(DT_FLOAT32, -1, -1), wide = rounding_widen(usual, 0.25, &t);
	assert_true(wide.rtol == usual.rtol && wide.atol == usual.atol && wide.rounding == 1);
	assert_true(rounding_widen(usual, 1.5, &t).rounding == 4); /* half of the largest element: zeros never pass */
	float got[] = {0.99f, -7.1f, NAN, 2}, zeros[4] = {0};
	struct tensor near = t, zero = t;
	struct comparison c;
	struct buf error = {0};
	near.data = got;
	zero.data = zeros;
	assert_true(compare_tensors(&near, &t, wide, &c, &error));
	assert_int_equal(c.n_wrong, 0);
	got[3] = 3.1f;
	assert_true(compare_tensors(&near, &t, wide, &c, &error));
	assert_true(c.n_wrong == 1 && c.worst == 3);
	assert_true(compare_tensors(&zero, &t, rounding_widen(usual, 1e9, &t), &c, &error));
	assert_true(c.n_wrong == 2);
	buf_free(&error);
}

int test_rounding(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_those_of_changed_inputs),
		cmocka_unit_test(tolerance_is_four_differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

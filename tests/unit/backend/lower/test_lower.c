/* Lowering: every builtin that can reach the back end has a row, and what compound builtins compute. */
#include <math.h>
#include "tests/unit/unit.h"
#include <stdlib.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/lower/lower.h"
#include "backend/lower/state.h"
#include "base/buf.h"
#include "base/diag.h"
#include "tests/unit/backend/hir_fixture.h"

static void every_builtin_has_a_row(void **state)
{
	static const bool composed[BI_COUNT] = {
#define BUILTIN(id, ...)
#define COMPOSED(id, ...) [BI_##id] = true,
#include "frontend/hir/builtins.def"
#undef BUILTIN
	};
	for (int b = 0; b < BI_COUNT; b++) {
		if ((lowering_of((enum builtin)b)->fn != NULL) == composed[b])
			fail_msg("%s", builtin_name((enum builtin)b));
	}
}

/* Runs a unit with one float32 [2, 3] input; result 0 as floats. */
static const float *run(struct arena *a, struct hir_unit *u, const float *x)
{
	struct diags *d = diags_new(0);
	struct buf why = {0};
	struct ir_fn *f = lower_unit(a, u, d);
	if (!f)
		fail_msg("%s", diags_at(d, 0)->message);
	if (!ir_verify(f, &why))
		fail_msg("%s", why.at);
	float *data = arena_alloc(a, 6 * sizeof *data, 8);
	memcpy(data, x, 6 * sizeof *data);
	struct tensor in = {.elem = DT_FLOAT32, .rank = 2, .dims = {2, 3}, .data = data}, out[4];
	const char *error = NULL;
	if (!interp_run(f, &in, NULL, NULL, 0, a, out, &error))
		fail_msg("%s", error);
	diags_free(d);
	return out[0].data;
}

static struct hir_unit *unit(struct arena *a, hir_ref *x)
{
	struct hir_unit *u = hir_new(a, "lower_0");
	*x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 2, 3), false);
	return u;
}

#define S23 SHAPE(u, DT_FLOAT32, 2, 3)
static const float data[6] = {1, 2, 3, -1, 0, 5};

static void near(float got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * (1 + fabs(want))))
		fail_msg("%.9g is not %.9g", got, want);
}

static void softmax_sums_to_one(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_output_new(u, BI(u, BI_SOFTMAX, S23, T(x), I(1)));
	const float big[6] = {1000, 1001, 1002, -1, 0, 5};
	const float *y = run(a, u, big);
	double sum = exp(-2) + exp(-1) + 1;
	near(y[0], exp(-2) / sum);
	near(y[2], 1 / sum);
	near(y[3] + y[4] + y[5], 1);
}

static void layer_norm_and_rms_norm(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_output_new(u, BI(u, BI_LAYER_NORM, S23, T(x), I(3), NONE, NONE, F(1e-5)));
	near(run(a, u, data)[2], 1 / sqrt(2.0 / 3 + 1e-5));
	u = unit(a, &x);
	hir_output_new(u, BI(u, BI_RMS_NORM, S23, T(x), I(3), NONE, F(1e-5)));
	near(run(a, u, data)[2], 3 / sqrt(14.0 / 3 + 1e-5));
}

static void batch_norm_without_statistics(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_output_new(u, BI(u, BI_BATCH_NORM, S23, T(x), NONE, NONE, NONE, NONE, NONE, NONE, F(1e-5)));
	near(run(a, u, data)[0], 1 / sqrt(1 + 1e-5));
}

static void activations(void **state)
{
	struct arena *a = *state;
	static const struct {
		enum builtin b;
		double want; /* at 3 */
	} cases[] = {{BI_SILU, 3 / (1 + 0.049787068367863944)},
		     {BI_SIGMOID, 1 / (1 + 0.049787068367863944)},
		     {BI_RELU2, 9},
		     {BI_RELU6, 3},
		     {BI_HARDSWISH, 3}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		hir_ref x;
		struct hir_unit *u = unit(a, &x);
		hir_output_new(u, BI(u, cases[k].b, S23, T(x)));
		near(run(a, u, data)[2], cases[k].want);
	}
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_output_new(u, BI(u, BI_GELU, S23, T(x), NONE));
	near(run(a, u, data)[2], 3 * 0.5 * (1 + erf(3 / sqrt(2))));
	u = unit(a, &x);
	hir_output_new(u, BI(u, BI_SOFTPLUS, S23, T(x), F(1), F(20)));
	near(run(a, u, data)[2], log1p(exp(3)));
}

static void variance_corrects(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_output_new(u, BI(u, BI_VAR, SHAPE(u, DT_FLOAT32, 2), T(x), I(1), I(1), I(0)));
	const float *y = run(a, u, data);
	near(y[0], 1);
	near(y[1], 31.0 / 3);
}

static void absmax_quantize_gives_int8_and_scale(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_ref q = BI(u, BI_ABSMAX_QUANTIZE, SHAPE(u, DT_INT8, 2, 3), T(x), I(1));
	hir_ref q8 = hir_result_new(u, q, 0, SHAPE(u, DT_INT8, 2, 3)), s = hir_result_new(u, q, 1, SHAPE(u, DT_FLOAT32, 2, 1));
	hir_ref back = BI(u, BI_CAST, S23, T(q8));
	hir_output_new(u, BI(u, BI_MUL, S23, T(back), T(s)));
	const float *y = run(a, u, data);
	near(y[2], 3);
	near(y[0], 42 * 3.0 / 127); /* 42.33 */
}

static void matmul_of_vectors(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	hir_ref row = BI(u, BI_SELECT, SHAPE(u, DT_FLOAT32, 3), T(x), I(0), I(0));
	hir_output_new(u, BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, 2), T(x), T(row)));
	near(run(a, u, data)[1], 14);
	u = unit(a, &x);
	row = BI(u, BI_SELECT, SHAPE(u, DT_FLOAT32, 3), T(x), I(0), I(1));
	hir_output_new(u, BI(u, BI_MATMUL, ((struct hir_type){.elem = DT_FLOAT32}), T(row), T(row)));
	near(run(a, u, data)[0], 26);
}

static void repeat_and_concat(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	struct hir_arg two = {.kind = ARG_DIM, .u.d = dim_const(u->dims, 2)};
	hir_ref row = BI(u, BI_SELECT, SHAPE(u, DT_FLOAT32, 3), T(x), I(0), I(1));
	hir_output_new(u, BI(u, BI_REPEAT, SHAPE(u, DT_FLOAT32, 6), T(row), two));
	const float *y = run(a, u, data);
	assert_true(y[0] == -1 && y[2] == 5 && y[3] == -1 && y[5] == 5);
}

static void an_unknown_builtin_is_reported(void **state)
{
	struct arena *a = *state;
	hir_ref x;
	struct hir_unit *u = unit(a, &x);
	struct diags *d = diags_new(0);
	hir_output_new(u, BI(u, BI_CHUNK, S23, T(x), I(1), I(0)));
	assert_null(lower_unit(a, u, d));
	assert_int_equal(diags_errors(d), 1);
	assert_int_equal(diags_at(d, 0)->code, DIAG_LOWER);
	diags_free(d);
}

static int setup(void **state) { return *state = arena_new(0), 0; }
static int teardown(void **state) { return arena_free(*state), 0; }

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int test_lower(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_builtin_has_a_row),
		TEST(softmax_sums_to_one),
		TEST(layer_norm_and_rms_norm),
		TEST(batch_norm_without_statistics),
		TEST(activations),
		TEST(variance_corrects),
		TEST(absmax_quantize_gives_int8_and_scale),
		TEST(matmul_of_vectors),
		TEST(repeat_and_concat),
		TEST(an_unknown_builtin_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

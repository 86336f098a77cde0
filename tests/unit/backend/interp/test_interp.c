/* The interpreter beyond single operations: random numbers, calls, run-time errors. */
#include <math.h>
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/expand/expand.h"
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "backend/lower/lower.h"
#include "base/diag.h"
#include "tests/unit/backend/hir_fixture.h"

static void random_tensor(struct arena *a, enum ir_distribution kind, dtype elem, int64_t stream, uint64_t seed, double f0, double f1,
			  struct tensor *out)
{
	struct ir_fn *f = ir_fn_new(a, "random", dims_new(a));
	struct hir_type t = {.elem = elem, .rank = 1, .dims = {dim_const(f->dims, 10001)}};
	ir_ref r = ir_emit(f, OP_RANDOM, &t, NULL, 0, ORIGINS_NONE);
	ir_set_random(f, r, (struct ir_random){kind, 7, stream, {f0, f1}});
	f->outputs = &r;
	f->n_outputs = 1;
	const char *error;
	assert_true(interp_run(f, NULL, NULL, NULL, seed, a, out, &error));
}

static void random_is_deterministic(void **state)
{
	struct tensor x, y;
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, 0, 1, 0, 1, &x);
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, 0, 1, 0, 1, &y);
	assert_memory_equal(x.data, y.data, (size_t)tensor_bytes(&x));
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, 0, 2, 0, 1, &y);
	assert_memory_not_equal(x.data, y.data, (size_t)tensor_bytes(&x));
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, 1, 1, 0, 1, &y);
	assert_memory_not_equal(x.data, y.data, (size_t)tensor_bytes(&x));
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, -1, 1, 0, 1, &x);
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, -1, 2, 0, 1, &y);
	assert_memory_equal(x.data, y.data, (size_t)tensor_bytes(&x));
}

static void random_distributions(void **state)
{
	struct tensor x;
	double sum = 0, squares = 0;
	random_tensor(*state, RANDOM_NORMAL, DT_FLOAT32, 0, 1, 0, 1, &x);
	for (int k = 0; k < 10001; k++)
		sum += ((float *)x.data)[k], squares += pow(((float *)x.data)[k], 2);
	assert_true(fabs(sum / 10001) < 0.05 && fabs(squares / 10001 - 1) < 0.05);
	random_tensor(*state, RANDOM_UNIFORM, DT_FLOAT16, 0, 1, 0, 1, &x);
	for (int k = 0; k < 10001; k++)
		assert_true(elem_float(DT_FLOAT16, x.data, k) >= 0 && elem_float(DT_FLOAT16, x.data, k) < 1);
	int count[3] = {0};
	random_tensor(*state, RANDOM_TRIT_BALANCED, DT_TRIT, 0, 1, 0.5, 0, &x);
	for (int k = 0; k < 10001; k++)
		count[((int8_t *)x.data)[k] + 1]++;
	assert_int_equal(count[1], 5000);
	assert_int_equal(count[2], 2500);
	memset(count, 0, sizeof count);
	random_tensor(*state, RANDOM_TRIT, DT_TRIT, 0, 1, 1.0 / 3, 0, &x);
	for (int k = 0; k < 10001; k++)
		count[((int8_t *)x.data)[k] + 1]++;
	for (int k = 0; k < 3; k++)
		assert_true(count[k] > 3200 && count[k] < 3470);
}

static void calls_run_the_callee(void **state)
{
	struct arena *a = *state;
	struct hir_unit *callee = hir_new(a, "callee"), *u = hir_new(a, "caller");
	dim_new_sym(callee->dims, "M");
	hir_ref w = hir_input_new(callee, "w", SHAPE(callee, DT_FLOAT32, 2), true),
		x = hir_input_new(callee, "x", SHAPE(callee, DT_FLOAT32, -1, 2), false);
	hir_output_new(callee, BI(callee, BI_MUL, SHAPE(callee, DT_FLOAT32, -1, 2), T(x), T(w)));
	dim_new_sym(u->dims, "N");
	w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, 2), true), x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, -1, 2), false);
	dim *syms = ARENA_ARRAY(a, dim, 1);
	syms[0] = dim_sym(u->dims, 0);
	hir_output_new(u, hir_call_new(u, callee, syms, SHAPE(u, DT_FLOAT32, -1, 2), (const struct hir_arg[]){T(w), T(x)}, 2));
	float wd[] = {2, 3}, xd[] = {1, 10, 100, 1000};
	struct tensor weight = {.elem = DT_FLOAT32, .rank = 1, .dims = {2}, .data = wd},
		      in = {.elem = DT_FLOAT32, .rank = 2, .dims = {2, 2}, .data = xd}, out;
	struct diags *d = diags_new(0);
	const char *error = NULL;
	int64_t n = 2;
	assert_true(interp_run(lower_unit(a, u, d), &in, &weight, &n, 0, a, &out, &error));
	assert_true(((float *)out.data)[1] == 30 && ((float *)out.data)[2] == 200);
	n = 3;
	assert_false(interp_run(lower_unit(a, u, d), &in, &weight, &n, 0, a, &out, &error));
	assert_non_null(strstr(error, "input 0"));
	diags_free(d);
}

/* Weights have the bits that compiled code would give them, also if a callee computes them. */
static void callees_run_their_expansions(void **state)
{
	struct arena *a = *state;
	struct hir_unit *callee = hir_new(a, "callee"), *u = hir_new(a, "caller");
	hir_ref x = hir_input_new(callee, "x", SHAPE(callee, DT_FLOAT32, 64), false);
	hir_output_new(callee, BI(callee, BI_LOG_SOFTMAX, SHAPE(callee, DT_FLOAT32, 64), T(x), I(0)));
	x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 64), false);
	hir_output_new(u, hir_call_new(u, callee, NULL, SHAPE(u, DT_FLOAT32, 64), (const struct hir_arg[]){T(x)}, 1));
	float data[64];
	for (int k = 0; k < 64; k++)
		data[k] = (float)sin(k) * 3;
	struct tensor in = {.elem = DT_FLOAT32, .rank = 1, .dims = {64}, .data = data}, out, direct, expanded;
	struct diags *d = diags_new(0);
	struct ir_fn *f = lower_unit(a, callee, d);
	const char *error = NULL;
	assert_true(interp_run(lower_unit(a, u, d), &in, NULL, NULL, 0, a, &out, &error));
	assert_true(interp_run(f, &in, NULL, NULL, 0, a, &direct, &error));
	assert_int_equal(expand_compound(f, NULL, NULL), 1);
	assert_true(interp_run(f, &in, NULL, NULL, 0, a, &expanded, &error));
	assert_memory_equal(out.data, expanded.data, sizeof data);
	assert_memory_not_equal(direct.data, expanded.data, sizeof data);
	diags_free(d);
}

static void an_index_out_of_range_is_an_error(void **state)
{
	struct arena *a = *state;
	struct ir_fn *f = ir_fn_new(a, "gather", dims_new(a));
	static const int8_t table[2] = {1, 2}, index[1] = {2};
	struct hir_type t = {.elem = DT_INT8, .rank = 1, .dims = {dim_const(f->dims, 2)}},
			one = {.elem = DT_INT8, .rank = 1, .dims = {dim_const(f->dims, 1)}};
	ir_ref operands[2] = {ir_emit(f, OP_CONST, &t, NULL, 0, ORIGINS_NONE), ir_emit(f, OP_CONST, &one, NULL, 0, ORIGINS_NONE)};
	ir_set_const(f, operands[0], table);
	ir_set_const(f, operands[1], index);
	ir_ref r = ir_emit(f, OP_GATHER, &one, operands, 2, ORIGINS_NONE);
	ir_set_gather(f, r, (struct ir_gather){.mask = 1});
	f->outputs = &r;
	f->n_outputs = 1;
	struct tensor out;
	const char *error = NULL;
	assert_false(interp_run(f, NULL, NULL, NULL, 0, a, &out, &error));
	assert_string_equal(error, "index 2 is out of range: it must be at least 0 and less than 2");
}

static int setup(void **state) { return *state = arena_new(0), 0; }
static int teardown(void **state) { return arena_free(*state), 0; }

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int test_interp(void)
{
	const struct CMUnitTest tests[] = {TEST(random_is_deterministic), TEST(random_distributions), TEST(calls_run_the_callee),
					   TEST(callees_run_their_expansions), TEST(an_index_out_of_range_is_an_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

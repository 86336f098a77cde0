/* Random functions through the interpreter: optimised and not, bit for bit. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "backend/passes/passes.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

enum { INPUTS = 2, SIZE = 30, ROUNDS = 3000 };

struct random_fn {
	struct arena *a;
	struct ir_fn *f;
	uint32_t seed;
};

static uint32_t below(struct random_fn *r, uint32_t n)
{
	r->seed = r->seed * 1664525u + 1013904223u;
	return (r->seed >> 8) % n;
}

static struct hir_type type_of(struct random_fn *r, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct hir_type t = {.elem = elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dim_const(r->f->dims, dims[k]);
	return t;
}

static ir_ref any(struct random_fn *r) { return below(r, r->f->n_insts); }

/* A value of this type: one that exists, or a broadcast constant. */
static ir_ref like(struct random_fn *r, const struct hir_type *t)
{
	for (int tries = 0; tries < 6; tries++) {
		ir_ref v = any(r);
		if (ir_type_same(&ir_at(r->f, v)->type, t))
			return v;
	}
	static const double constants[] = {0, -0.0, 1, -1, 2, 0.5, 3, INFINITY, NAN, 8};
	struct hir_type scalar = {.elem = t->elem};
	double v = constants[below(r, 10)];
	void *data = arena_alloc(r->a, 8, 8);
	elem_cast(t->elem, data, 0, DT_FLOAT64, &v, 0);
	ir_ref c = ir_emit(r->f, OP_CONST, &scalar, NULL, 0, ORIGINS_NONE);
	ir_set_const(r->f, c, data);
	return t->rank ? ir_emit(r->f, OP_BROADCAST, t, &c, 1, ORIGINS_NONE) : c;
}

static void add_ewise(struct random_fn *r, ir_ref x)
{
	/* not MIN and MAX: which zero they give is left open */
	static const enum ir_op unary[] = {OP_NEG, OP_ABS, OP_SIGN, OP_CEIL, OP_ROUND},
				binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_FLOORDIV, OP_MOD, OP_LT, OP_EQ};
	static const enum ir_op logic[] = {OP_AND, OP_OR, OP_XOR, OP_SHL, OP_SHR};
	struct hir_type t = ir_at(r->f, x)->type;
	ir_ref operands[3] = {x, IR_NONE, IR_NONE};
	if (t.elem == DT_BOOL) {
		operands[1] = like(r, &t);
		ir_emit(r->f, logic[below(r, 3)], &t, operands, 2, ORIGINS_NONE);
	} else if (dtype_class(t.elem) == DTC_INT && below(r, 3) == 0) {
		operands[1] = like(r, &t);
		ir_emit(r->f, logic[below(r, 5)], &t, operands, 2, ORIGINS_NONE);
	} else if (below(r, 4) == 0) {
		ir_emit(r->f, unary[below(r, 5)], &t, operands, 1, ORIGINS_NONE);
	} else {
		operands[1] = like(r, &t);
		enum ir_op op = below(r, 5) == 0 && dtype_class(t.elem) == DTC_FLOAT ? OP_DIV : binary[below(r, 7)];
		if (below(r, 2))
			operands[0] = operands[1], operands[1] = x;
		if (op == OP_LT || op == OP_EQ)
			t.elem = DT_BOOL;
		ir_emit(r->f, op, &t, operands, 2, ORIGINS_NONE);
	}
}

static void add_cast(struct random_fn *r, ir_ref x)
{
	static const dtype to[] = {DT_FLOAT32, DT_INT8, DT_INT32, DT_FLOAT16, DT_FLOAT64, DT_BOOL};
	struct hir_type t = ir_at(r->f, x)->type;
	t.elem = to[below(r, 6)];
	ir_emit(r->f, OP_CAST, &t, &x, 1, ORIGINS_NONE);
}

static void add_move(struct random_fn *r, ir_ref x)
{
	struct hir_type t = ir_at(r->f, x)->type;
	int64_t n = ir_type_count(r->f->dims, &t);
	switch (below(r, 5)) {
	case 0: t = type_of(r, t.elem, 1, &n), ir_emit(r->f, OP_RESHAPE, &t, &x, 1, ORIGINS_NONE); return;
	case 1: t = type_of(r, t.elem, 2, (int64_t[]){n, 1}), ir_emit(r->f, OP_RESHAPE, &t, &x, 1, ORIGINS_NONE); return;
	case 2:
		if (n == 6)
			t = type_of(r, t.elem, 2, (int64_t[]){2, 3}), ir_emit(r->f, OP_RESHAPE, &t, &x, 1, ORIGINS_NONE);
		return;
	case 3:
		if (t.rank != 2)
			return;
		dim d = t.dims[0];
		t.dims[0] = t.dims[1];
		t.dims[1] = d;
		ir_ref y = ir_emit(r->f, OP_TRANSPOSE, &t, &x, 1, ORIGINS_NONE);
		ir_set_perm(r->f, y, (struct ir_perm){{1, 0}});
		return;
	default:
		if (t.rank == 0 || t.elem == DT_BOOL)
			return;
		uint32_t rank = --t.rank;
		ir_ref s = ir_emit(r->f, OP_REDUCE_SUM, &t, &x, 1, ORIGINS_NONE);
		ir_set_axes(r->f, s, (struct ir_axes){1u << rank});
		return;
	}
}

static struct ir_fn *random_function(struct random_fn *r)
{
	r->f = ir_fn_new(r->a, "random", dims_new(r->a));
	r->f->inputs = ARENA_ARRAY(r->a, struct hir_type, INPUTS);
	r->f->n_inputs = INPUTS;
	for (uint32_t k = 0; k < INPUTS; k++) {
		r->f->inputs[k] = type_of(r, k ? DT_INT32 : DT_FLOAT32, 2, (int64_t[]){2, 3});
		ir_set_number(r->f, ir_emit(r->f, OP_INPUT, &r->f->inputs[k], NULL, 0, ORIGINS_NONE), (struct ir_number){k});
	}
	while (r->f->n_insts < SIZE) {
		ir_ref x = any(r);
		uint32_t what = below(r, 6);
		if (what < 3)
			add_ewise(r, x);
		if (what == 3)
			add_cast(r, x);
		if (what > 3)
			add_move(r, x);
	}
	r->f->n_outputs = 4;
	r->f->outputs = ARENA_ARRAY(r->a, ir_ref, 4);
	for (uint32_t k = 0; k < 4; k++)
		r->f->outputs[k] = any(r);
	ir_mark_build_time(r->f);
	return r->f;
}

static bool same_element(const struct tensor *a, const struct tensor *b, int64_t k)
{
	if (dtype_class(a->elem) != DTC_FLOAT)
		return elem_int(a->elem, a->data, k) == elem_int(b->elem, b->data, k);
	double x = elem_float(a->elem, a->data, k), y = elem_float(b->elem, b->data, k);
	return (x == y && signbit(x) == signbit(y)) || (isnan(x) && isnan(y));
}

static void run(struct random_fn *r, struct tensor *out)
{
	static float floats[] = {0, -0.0f, 1.5f, -3, INFINITY, NAN};
	static int32_t ints[] = {0, -1, 7, INT32_MIN, INT32_MAX, 2};
	struct tensor in[INPUTS] = {{.elem = DT_FLOAT32, .rank = 2, .dims = {2, 3}, .data = floats},
				    {.elem = DT_INT32, .rank = 2, .dims = {2, 3}, .data = ints}};
	const char *error = NULL;
	if (!interp_run(r->f, in, NULL, NULL, 0, r->a, out, &error))
		fail_msg("%s", error);
}

static void show(const char *what, const struct ir_fn *f)
{
	struct buf text = {0};
	ir_print(f, &text);
	print_message("%s\n%s", what, text.at);
	buf_free(&text);
}

static void compare(struct random_fn *r, uint32_t seed)
{
	struct tensor want[4], got[4];
	struct diags *d = diags_new(0);
	struct pass_context c =
		pass_context_new(&(struct plan_options){.target = target_get(TARGET_X86_64_V3), .opt = 2, .verify = true}, d, NULL);
	random_function(r);
	struct ir_fn before = *r->f;
	run(r, want);
	assert_true(passes_run(r->f, &c, ALL_PASSES));
	run(r, got);
	for (uint32_t k = 0; k < 4; k++)
		for (int64_t i = 0; i < tensor_count(&want[k]); i++) {
			if (same_element(&want[k], &got[k], i))
				continue;
			show("before", &before);
			show("after", r->f);
			fail_msg("seed %u: output %u differs at %lld", seed, k, (long long)i);
		}
	diags_free(d);
}

static void optimised_equals_not(void **state)
{
	for (uint32_t seed = 0; seed < ROUNDS; seed++) {
		struct random_fn r = {.a = arena_new(0), .seed = seed};
		compare(&r, seed);
		arena_free(r.a);
	}
}

/* Reassociation only: results equal those of the unchanged text within rounding. The inputs are constants of the text. */
static void ternary_changes_rounding_only(void **state)
{
	static const char *const operands[][2] = {
		/* left [2, 4], right [4, 3], both float32 */
		{"%3", "%8"},  {"%3", "%9"}, {"%3", "%10"}, {"%12", "%8"}, {"%12", "%9"},
		{"%14", "%8"}, {"%0", "%8"}, {"%12", "%1"}, {"%0", "%10"}, {"%15", "%16"},
	};
	for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
		char text[2048];
		snprintf(
			text, sizeof text,
			"fn f()\n%%0 = const {1, -1, 0, 1, 1, 1, -1, 0} : trit[2, 4]\n%%1 = const {1, -1, 0, 0, 1, 1, -1, -1, 1, 0, 0, 1} : trit[4, 3]\n"
			"%%2 = const {5, -128, 7, 127, 3, 0, -9, 1} : int8[2, 4]\n%%3 = const {0.1, 2.5, -3, 1e-3, 7, 11, 0.3, -2} : float32[2, 4]\n"
			"%%4 = const {0.5, 3, -0.7} : float32[3]\n%%5 = broadcast %%4 : float32[4, 3]\n%%6 = const {0.37} : float32[]\n"
			"%%7 = cast %%1 : float32[4, 3]\n%%8 = mul %%7 %%5 : float32[4, 3]\n%%9 = mul %%5 %%7 : float32[4, 3]\n%%10 = cast %%1 : float32[4, 3]\n"
			"%%11 = cast %%2 : float32[2, 4]\n%%12 = cast %%2 : float32[2, 4]\n%%13 = broadcast %%6 : float32[2, 4]\n%%14 = mul %%11 %%13 : float32[2, 4]\n"
			"%%15 = transpose %%7 perm [1, 0] : float32[3, 4]\n%%16 = transpose %%12 perm [1, 0] : float32[4, 2]\n"
			"%%17 = matmul %s %s : float32[%d, %d]\nout %%17\n",
			operands[k][0], operands[k][1], !strcmp(operands[k][0], "%15") ? 3 : 2, !strcmp(operands[k][1], "%16") ? 2 : 3);
		struct random_fn r = {.a = arena_new(0)};
		struct sources *sources = sources_new();
		struct diags *d = diags_new(0);
		struct pass_context c =
			pass_context_new(&(struct plan_options){.target = target_get(TARGET_X86_64_V3), .opt = 1, .verify = true}, d, NULL);
		struct tensor want, got;
		r.f = ir_read(r.a, sources_add(sources, "t.ir", text, strlen(text)), d);
		if (!r.f)
			fail_msg("%s", diags_at(d, 0)->message);
		run(&r, &want);
		pass_run_named("ternary", r.f, &c);
		run(&r, &got);
		for (int64_t i = 0; i < tensor_count(&want); i++) {
			double x = elem_float(want.elem, want.data, i), y = elem_float(got.elem, got.data, i);
			if (!(fabs(x - y) <= 1e-4))
				fail_msg("case %zu at %d: %g is not %g", k, (int)i, y, x);
		}
		diags_free(d);
		sources_free(sources);
		arena_free(r.a);
	}
}

/* The second group of clean-ups runs only if something has changed since the first, and what runs is measured. */
static void second_group_runs_after_a_change(void **state)
{
	struct random_fn r = {.a = arena_new(0), .seed = 1};
	struct diags *d = diags_new(0);
	struct pass_figures figures[PASS_COUNT] = {{0}};
	struct pass_trace trace = {.figures = figures};
	struct pass_context c = pass_context_new(&(struct plan_options){.opt = 1, .verify = true}, d, &trace);
	random_function(&r);
	assert_true(passes_run(r.f, &c, EARLY | LEGALIZE | LATE));
	uint64_t first = figures[PASS_cse].runs;
	assert_true(first > 0 && figures[PASS_cse].changes + figures[PASS_dce].changes > 0 && figures[PASS_cse].bytes > 0);
	assert_true(passes_run(r.f, &c, LATE));
	assert_int_equal(figures[PASS_cse].runs, first);
	c.run.facts &= ~(uint32_t)FACT_SETTLED;
	assert_true(passes_run(r.f, &c, LATE));
	assert_true(figures[PASS_cse].runs > first);
	diags_free(d);
	arena_free(r.a);
}

/* A pass that runs before what it needs holds is a bug. */
static void needs_are_checked(void **state)
{
	struct random_fn r = {.a = arena_new(0), .seed = 1};
	struct pass_context c = pass_context_new(&(struct plan_options){.opt = 1}, NULL, NULL);
	int status = 0;
	random_function(&r);
	pid_t child = fork();
	if (!child) {
		fclose(stderr);
		passes_run(r.f, &c, LAYOUT);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	arena_free(r.a);
}

int test_passes(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(optimised_equals_not), cmocka_unit_test(ternary_changes_rounding_only),
					   cmocka_unit_test(second_group_runs_after_a_change), cmocka_unit_test(needs_are_checked)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

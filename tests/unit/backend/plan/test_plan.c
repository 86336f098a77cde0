/* Plans: what goes to the build_fn and to the run_fn, the slots between them, and which edits change which hash. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include "backend/interp/interp.h"
#include "backend/plan/plan.h"
#include "base/buf.h"
#include "base/diag.h"
#include "tests/unit/backend/hir_fixture.h"

struct fixture {
	struct arena *a;
	struct diags *d;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof *x);
	x->a = arena_new(0);
	x->d = diags_new(0);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;
	arena_free(x->a);
	diags_free(x->d);
	free(x);
	return 0;
}

static struct plan *plan(struct fixture *x, const struct hir_unit *u, uint8_t opt)
{
	struct plan_options o = {.target = target_get(TARGET_X86_64_V3), .opt = opt, .verify = true};
	struct plan *p = plan_unit(x->a, u, &o, x->d, NULL);
	if (!p)
		fail_msg("%s", diags_at(x->d, 0)->message);
	return p;
}

/* Linear with a quantised weight: absmean_quantize(w) is a build-time value. y = (x @ trits) * scale + b */
static struct hir_unit *bitlinear(struct fixture *x, bool dead_weight)
{
	struct hir_unit *u = hir_new(x->a, "bitlinear_0");
	dim_new_sym(u->dims, "N");
	hir_ref in = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, -1, 3), false);
	hir_ref w = hir_input_new(u, "weight", SHAPE(u, DT_FLOAT32, 3, 2), true);
	hir_ref b = hir_input_new(u, "bias", SHAPE(u, DT_FLOAT32, 2), true);
	if (dead_weight)
		hir_input_new(u, "unused", SHAPE(u, DT_FLOAT32, 2), true);
	hir_ref q = BI(u, BI_ABSMEAN_QUANTIZE, SHAPE(u, DT_TRIT, 3, 2), T(w));
	hir_ref t = hir_result_new(u, q, 0, SHAPE(u, DT_TRIT, 3, 2));
	hir_ref s = hir_result_new(u, q, 1, (struct hir_type){.elem = DT_FLOAT32});
	hir_ref y = BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, -1, 2), T(in), T(t));
	y = BI(u, BI_MUL, SHAPE(u, DT_FLOAT32, -1, 2), T(y), T(s));
	hir_output_new(u, BI(u, BI_ADD, SHAPE(u, DT_FLOAT32, -1, 2), T(y), T(b)));
	return u;
}

static struct tensor matrix(float *data, int64_t rows, int64_t cols)
{
	return (struct tensor){.elem = DT_FLOAT32, .rank = 2, .dims = {rows, cols}, .data = data};
}

static void packing_swaps_channels(void **state)
{
	static int16_t data[2 * 3 * 2] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out[12];
	static const int16_t want[] = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
	struct tensor t = {.elem = DT_INT16, .rank = 4, .dims = {2, 3, 1, 2}, .data = data};
	assert_int_equal(layout_packed_size(LAYOUT_CHANNELS_LAST, &t), sizeof out);
	layout_pack(LAYOUT_CHANNELS_LAST, &t, out);
	assert_memory_equal(out, want, sizeof want);
}

static void packing_moves_a_dim_first(void **state)
{
	static int16_t data[2 * 3 * 2] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out[12];
	static const int16_t of_1[] = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}, of_2[] = {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11};
	struct tensor t = {.elem = DT_INT16, .rank = 3, .dims = {2, 3, 2}, .data = data};
	assert_int_equal(layout_packed_size(LAYOUT_DIM1_FIRST, &t), sizeof out);
	layout_pack(LAYOUT_DIM1_FIRST, &t, out);
	assert_memory_equal(out, of_1, sizeof of_1);
	layout_pack(LAYOUT_DIM2_FIRST, &t, out);
	assert_memory_equal(out, of_2, sizeof of_2);
}

static void slots_of_a_quantised_layer(void **state)
{
	struct plan *p = plan(*state, bitlinear(*state, false), 1);
	assert_int_equal(p->n_slots, 3);
	assert_int_equal(p->slots[0].kind, SLOT_DATA);
	assert_int_equal(p->slots[0].layout, LAYOUT_TRIT2);
	assert_int_equal(p->slots[0].type.elem, DT_TRIT);
	assert_int_equal(p->slots[1].layout, LAYOUT_PLAIN);
	assert_int_equal(p->slots[1].type.rank, 0); /* the scale before its broadcast */
	assert_int_equal(p->slots[2].type.rank, 1);
	assert_int_equal(p->build_fn->n_outputs, 3);
}

/* build_fn and then run_fn compute what the function computes. */
static void runs_as_planned(void **state)
{
	struct fixture *f = *state;
	float x[] = {1, 2, 3, -1, 0.5f, 2}, w[] = {1, -1, 0.1f, 2, -0.9f, 0}, b[] = {10, 20};
	struct tensor in = matrix(x, 2, 3), weights[] = {matrix(w, 3, 2), {.elem = DT_FLOAT32, .rank = 1, .dims = {2}, .data = b}};
	for (uint8_t opt = 0; opt <= 3; opt++) {
		struct plan *p = plan(f, bitlinear(f, false), opt);
		struct tensor slots[8], out;
		const char *error;
		int64_t syms[] = {2};
		assert_true(interp_run(p->build_fn, NULL, weights, NULL, 0, f->a, slots, &error));
		assert_true(interp_run(p->run_fn, &in, slots, syms, 0, f->a, &out, &error));
		float scale = (1 + 1 + 0.1f + 2 + 0.9f + 0) / 6; /* 0.8333: trits 1 -1 / 0 1 / -1 0 */
		const float *y = out.data;
		assert_true(y[0] - ((1 - 3) * scale + 10) < 1e-5f && y[0] - ((1 - 3) * scale + 10) > -1e-5f);
		assert_true(y[3] - ((1 + 0.5f) * scale + 20) < 1e-5f && y[3] - ((1 + 0.5f) * scale + 20) > -1e-5f);
	}
}

static void an_ir_back_end_gets_no_loops(void **state)
{
	struct fixture *f = *state;
	struct plan_options o = {.target = target_get(TARGET_X86_64_V3), .opt = 1, .verify = true, .no_loops = true};
	struct plan *p = plan_unit(f->a, bitlinear(f, false), &o, f->d, NULL), *with_loops = plan(f, bitlinear(f, false), 1);
	assert_true(p && p->run_fn && !p->loops && !p->origins.n && with_loops->loops && with_loops->origins.n);
	assert_true(hash_eq(p->run_fn_hash, with_loops->run_fn_hash));
}

static void dead_weights_get_no_slot(void **state)
{
	for (uint8_t opt = 0; opt <= 2; opt++)
		assert_int_equal(plan(*state, bitlinear(*state, true), opt)->n_slots, 3);
}

static void constants_get_no_slot(void **state)
{
	struct fixture *f = *state;
	static const float two = 2;
	struct hir_unit *u = hir_new(f->a, "constant_0");
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 4), false);
	hir_ref c = BI(u, BI_EXP, ((struct hir_type){.elem = DT_FLOAT32}), T(hir_const_f32(u, &two)));
	hir_output_new(u, BI(u, BI_MUL, SHAPE(u, DT_FLOAT32, 4), T(x), T(c)));
	for (uint8_t opt = 0; opt <= 2; opt++)
		assert_int_equal(plan(f, u, opt)->n_slots, 0);
}

/* scale(w, x) = x * w and its caller, which passes a parameter */
static struct hir_unit *scale_callee(struct fixture *f, enum builtin op)
{
	struct hir_unit *u = hir_new(f->a, "scale_0");
	dim_new_sym(u->dims, "M");
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, 4), true), x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, -1, 4), false);
	hir_output_new(u, BI(u, op, SHAPE(u, DT_FLOAT32, -1, 4), T(x), T(w)));
	return u;
}

static struct hir_unit *caller(struct fixture *f, struct hir_unit *callee)
{
	struct hir_unit *u = hir_new(f->a, "caller_0");
	dim_new_sym(u->dims, "N");
	hir_ref w = hir_input_new(u, "s.w", SHAPE(u, DT_FLOAT32, 4), true), x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, -1, 4), false);
	dim *syms = ARENA_ARRAY(f->a, dim, 1);
	syms[0] = dim_sym(u->dims, 0);
	hir_ref y = hir_call_new(u, callee, syms, SHAPE(u, DT_FLOAT32, -1, 4), (const struct hir_arg[]){T(w), T(x)}, 2);
	hir_output_new(u, BI(u, BI_RELU, SHAPE(u, DT_FLOAT32, -1, 4), T(y)));
	return u;
}

static void a_call_has_a_table(void **state)
{
	struct fixture *f = *state;
	struct hir_unit *callee = scale_callee(f, BI_MUL);
	struct plan *p = plan(f, caller(f, callee), 1);
	assert_int_equal(p->n_inlined, 0);
	assert_int_equal(p->n_slots, 1);
	assert_int_equal(p->slots[0].kind, SLOT_TABLE);
	assert_ptr_equal(p->slots[0].callee, callee);
	assert_int_equal(p->slots[0].n_args, 1);
	assert_int_equal(p->build_fn->n_outputs, 1);
}

static void inlines_by_level(void **state)
{
	struct fixture *f = *state;
	struct hir_unit *callee = scale_callee(f, BI_MUL);
	assert_int_equal(plan(f, caller(f, callee), 2)->n_inlined, 1);
	callee->never_inline = true;
	assert_int_equal(plan(f, caller(f, callee), 2)->n_inlined, 0);
	callee->never_inline = false;
	callee->always_inline = true;
	assert_int_equal(plan(f, caller(f, callee), 0)->n_inlined, 0);
	struct plan *p = plan(f, caller(f, callee), 1);
	assert_int_equal(p->n_inlined, 1);
	assert_ptr_equal(p->inlined[0], callee);
	assert_int_equal(p->slots[0].kind, SLOT_DATA);
}

/* Early cutoff: a unit's hash covers the bodies of inlined callees, and not those of others. */
static void hashes_follow_what_is_taken_in(void **state)
{
	struct fixture *f = *state;
	struct plan *before = plan(f, caller(f, scale_callee(f, BI_MUL)), 1), *after = plan(f, caller(f, scale_callee(f, BI_ADD)), 1);
	assert_true(hash_eq(before->run_fn_hash, after->run_fn_hash));
	assert_true(hash_eq(before->build_fn_hash, after->build_fn_hash));
	before = plan(f, caller(f, scale_callee(f, BI_MUL)), 2);
	after = plan(f, caller(f, scale_callee(f, BI_ADD)), 2);
	assert_false(hash_eq(before->run_fn_hash, after->run_fn_hash));
	assert_true(hash_eq(before->build_fn_hash, after->build_fn_hash));
	struct plan *again = plan(f, caller(f, scale_callee(f, BI_ADD)), 2);
	assert_true(hash_eq(after->run_fn_hash, again->run_fn_hash));
}

/* A call of build-time values only is part of the build_fn at every level. */
static void build_time_calls_go_to_the_slice(void **state)
{
	struct fixture *f = *state;
	struct hir_unit *callee = scale_callee(f, BI_MUL), *u = hir_new(f->a, "outer_0");
	callee->never_inline = true;
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, 4), true), m = hir_input_new(u, "m", SHAPE(u, DT_FLOAT32, 5, 4), true);
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 5, 4), false);
	dim *syms = ARENA_ARRAY(f->a, dim, 1);
	syms[0] = dim_const(u->dims, 5);
	hir_ref y = hir_call_new(u, callee, syms, SHAPE(u, DT_FLOAT32, 5, 4), (const struct hir_arg[]){T(w), T(m)}, 2);
	hir_output_new(u, BI(u, BI_ADD, SHAPE(u, DT_FLOAT32, 5, 4), T(x), T(y)));
	struct plan *p = plan(f, u, 0);
	assert_int_equal(p->n_slots, 1);
	assert_int_equal(p->slots[0].kind, SLOT_DATA);
	for (ir_ref r = 0; r < p->build_fn->n_insts; r++)
		assert_int_not_equal(ir_at(p->build_fn, r)->op, OP_CALL);
}

static void empty_constants_stay(void **state)
{
	struct fixture *f = *state;
	struct hir_unit *u = hir_new(f->a, "empty_0");
	hir_output_new(u, hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 2), false));
	hir_ref c = hir_node_new(u, HIR_CONST, SHAPE(u, DT_FLOAT32, 0));
	u->nodes[c].data = "";
	hir_output_new(u, c);
	struct plan *p = plan(f, u, 1); /* verifies that constants have data */
	assert_int_equal(p->n_slots, 0);
}

int test_plan(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing_swaps_channels),
		cmocka_unit_test(packing_moves_a_dim_first),
		cmocka_unit_test_setup_teardown(slots_of_a_quantised_layer, setup, teardown),
		cmocka_unit_test_setup_teardown(runs_as_planned, setup, teardown),
		cmocka_unit_test_setup_teardown(an_ir_back_end_gets_no_loops, setup, teardown),
		cmocka_unit_test_setup_teardown(dead_weights_get_no_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(constants_get_no_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_has_a_table, setup, teardown),
		cmocka_unit_test_setup_teardown(inlines_by_level, setup, teardown),
		cmocka_unit_test_setup_teardown(hashes_follow_what_is_taken_in, setup, teardown),
		cmocka_unit_test_setup_teardown(build_time_calls_go_to_the_slice, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_constants_stay, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

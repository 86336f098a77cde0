/* Layouts of arguments: which the body of a unit decides, which stay plain, and that callers and callees agree. */
#include "backend/plan/plan.h"
#include "base/buf.h"
#include "base/diag.h"
#include "tests/unit/backend/passes/program/program_fixture.h"

enum { N = 2, C = 4, S = 8 };

static struct hir_type image(struct hir_unit *u) { return SHAPE(u, DT_FLOAT32, N, C, S, S); }

static struct hir_arg ones(struct hir_unit *u, uint32_t n)
{
	struct hir_arg list = {.kind = ARG_LIST, .u.list = {u->n_args, n}};
	for (uint32_t k = 0; k < n; k++)
		u->args[u->n_args++] = I(1);
	return list;
}

static hir_ref conv(struct hir_unit *u, hir_ref x, hir_ref w)
{
	struct hir_arg stride = ones(u, 2), pad = ones(u, 4), dilation = ones(u, 2);
	return BI(u, BI_CONV2D, image(u), T(x), T(w), NONE, stride, pad, dilation, I(1));
}

/* relu(conv(x)), and twice `other`. */
static struct hir_unit *convolution(struct arena *a, const char *name, bool build_time)
{
	struct hir_unit *u = hir_new(a, name);
	hir_ref x = hir_input_new(u, "x", image(u), false);
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, C, C, 3, 3), build_time);
	hir_ref other = hir_input_new(u, "other", image(u), false);
	hir_output_new(u, BI(u, BI_RELU, image(u), T(conv(u, x, w))));
	hir_output_new(u, BI(u, BI_ADD, image(u), T(other), T(other)));
	return u;
}

/* The first result of `callee` for x, through `between`, which has one input, if it is not NULL. */
static struct hir_unit *caller(struct arena *a, const char *name, struct hir_unit *callee, struct hir_unit *between)
{
	struct hir_unit *u = hir_new(a, name);
	hir_ref x = hir_input_new(u, "x", image(u), false);
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, C, C, 3, 3), true);
	struct hir_arg one = T(x);
	if (between)
		one = T(hir_call_new(u, between, NULL, image(u), &one, 1));
	hir_output_new(u, hir_call_new(u, callee, NULL, image(u), (const struct hir_arg[]){one, T(w), T(x)}, 3));
	return u;
}

static struct hir_unit *relu(struct arena *a)
{
	struct hir_unit *u = hir_new(a, "relu");
	hir_output_new(u, BI(u, BI_RELU, image(u), T(hir_input_new(u, "x", image(u), false))));
	return u;
}

struct decided {
	struct ir_program *program;
	struct hir_unit *units[4];
};

static void decide(struct decided *d, struct arena *a, enum target_id target, const struct hir_unit *entry)
{
	d->program = program_decided(a, d->units, target, entry);
}

static void end(struct decided *d, struct arena *a)
{
	ir_program_free(d->program);
	arena_free(a);
}

/* inputs, outputs: bit k says that it is channels-last. */
static void expect(const struct decided *d, uint32_t unit, uint32_t inputs, uint32_t outputs)
{
	struct argument_layouts l = ir_program_layouts(d->program, d->units[unit]);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(argument_input(l, k), inputs >> k & 1 ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN);
		assert_int_equal(argument_output(l, k), outputs >> k & 1 ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN);
		assert_int_equal(argument_grows(l, k), IR_NONE);
	}
	assert_int_equal(argument_layouts_code(l) != 0, inputs || outputs);
}

static void test_body_decides(void **state)
{
	struct arena *a = arena_new(0);
	struct decided d = {.units = {convolution(a, "conv", true), convolution(a, "dynamic", false), relu(a)}};
	decide(&d, a, TARGET_X86_64_V3, NULL);
	expect(&d, 0, 1, 1); /* `other` has nothing to do with the convolution; w is no run-time input */
	expect(&d, 1, 0, 0); /* weights that cannot be packed */
	expect(&d, 2, 0, 0);
	end(&d, a);
}

struct between {
	enum builtin builtin;
	int64_t channels, rows; /* of the operand; the result is an image */
	bool follows;
};

static struct hir_arg list_of(struct hir_unit *u, uint32_t n, const struct hir_arg *items)
{
	struct hir_arg list = {.kind = ARG_LIST, .u.list = {u->n_args, n}};
	for (uint32_t k = 0; k < n; k++)
		u->args[u->n_args++] = items[k];
	return list;
}

/* The operation with the arguments that it needs to give an image. */
static hir_ref operation(struct hir_unit *u, const struct between *b, hir_ref x, hir_ref known)
{
	enum builtin op = b->builtin;
	struct hir_arg two = list_of(u, 2, (const struct hir_arg[]){T(x), T(x)}),
		       swapped = list_of(u, 4, (const struct hir_arg[]){I(0), I(1), I(3), I(2)});
	switch (op) {
	case BI_ADD:
	case BI_MATMUL: return BI(u, op, image(u), T(x), T(known));
	case BI_SLICE: return BI(u, op, image(u), T(x), I(1), I(0), I(C), I(1));
	case BI_CONCAT: return BI(u, op, image(u), two, I(1));
	case BI_TRANSPOSE: return BI(u, op, image(u), T(x), I(2), I(3));
	case BI_PERMUTE: return BI(u, op, image(u), T(x), swapped);
	case BI_ATTENTION: return BI(u, op, image(u), T(x), T(x), T(x), NONE, I(0), NONE);
	default: return BI(u, op, image(u), T(x), NONE);
	}
}

/* A convolution of operation `b` of x, and the sum of `other` and an operand known when the library is built. */
static struct hir_unit *unit_with(struct arena *a, const struct between *b)
{
	struct hir_unit *u = hir_new(a, "between");
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, N, b->channels, b->rows, S), false);
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, C, C, 3, 3), true);
	hir_ref other = hir_input_new(u, "other", image(u), false), known = hir_input_new(u, "known", image(u), true);
	hir_output_new(u, conv(u, operation(u, b, x, known), w));
	hir_output_new(u, BI(u, BI_ADD, image(u), T(other), T(known)));
	return u;
}

static void test_operations_between(void **state)
{
	static const struct between cases[] = {
		{BI_RELU, C, S, true},
		{BI_GELU, C, S, true},
		{BI_ADD, C, S, true},
		{BI_SLICE, 2 * C, S, true},
		{BI_CONCAT, C / 2, S, true},
		{BI_RESHAPE, C, S, true},
		{BI_RESHAPE, 2 * C, S / 2, false},
		{BI_TRANSPOSE, C, S, false},
		{BI_PERMUTE, C, S, false},
		{BI_MATMUL, C, S, false},
		{BI_ATTENTION, C, S, false},
		{BI_EXPAND, 1, S, false},
		{BI_EXPAND, C, 1, true},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct arena *a = arena_new(0);
		struct decided d = {.units = {unit_with(a, &cases[k])}};
		decide(&d, a, TARGET_X86_64_V3, NULL);
		expect(&d, 0, cases[k].follows, 1);
		end(&d, a);
	}
}

/* A convolution of the mean over rows and columns, which keeps its dims. */
static void test_means_keep_channels(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *u = hir_new(a, "mean");
	struct hir_type one = SHAPE(u, DT_FLOAT32, N, C, 1, 1);
	hir_ref x = hir_input_new(u, "x", image(u), false), w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, C, C, 3, 3), true);
	hir_ref mean = BI(u, BI_MEAN, one, T(x), list_of(u, 2, (const struct hir_arg[]){I(2), I(3)}), I(1));
	struct hir_arg stride = ones(u, 2), pad = ones(u, 4), dilation = ones(u, 2);
	hir_output_new(u, BI(u, BI_CONV2D, one, T(mean), T(w), NONE, stride, pad, dilation, I(1)));
	struct decided d = {.units = {u}};
	decide(&d, a, TARGET_X86_64_V3, NULL);
	expect(&d, 0, 1, 1);
	end(&d, a);
}

static void test_devices_decide_alike(void **state)
{
	struct arena *a = arena_new(0);
	struct decided d = {.units = {convolution(a, "conv", true)}};
	decide(&d, a, TARGET_OPENCL, NULL);
	expect(&d, 0, 1, 1); /* they convolve float32 windows, too */
	end(&d, a);
}

static void test_callers_follow(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *callee = convolution(a, "conv", true), *between = relu(a);
	struct decided d = {.units = {callee, between, caller(a, "net", callee, NULL), caller(a, "through", callee, between)}};
	decide(&d, a, TARGET_X86_64_V3, NULL);
	expect(&d, 2, 1, 1);
	expect(&d, 3, 1, 1);
	end(&d, a);
}

static void test_entries_and_branches_are_plain(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *callee = convolution(a, "conv", true), *branch = convolution(a, "branch", true),
			*net = caller(a, "net", callee, NULL);
	static const bool yes = true;
	hir_ref condition = hir_node_new(net, HIR_CONST, (struct hir_type){.elem = DT_BOOL}), r = hir_node_new(net, HIR_IF, image(net));
	const struct hir_arg args[] = {T(condition), T(0), T(1), T(0), T(0), T(1), T(0)};
	net->nodes[condition].data = &yes;
	net->nodes[r].callee = net->nodes[r].other = branch;
	hir_apply(net, r, args, 7);
	struct decided d = {.units = {callee, branch, net}};
	decide(&d, a, TARGET_X86_64_V3, net);
	expect(&d, 0, 1, 1);
	expect(&d, 1, 0, 0);
	expect(&d, 2, 0, 0);
	end(&d, a);
}

/* ---- plans ---- */

static const struct plan *plan(struct arena *a, const struct hir_unit *u, const struct ir_program *program)
{
	struct diags *diags = diags_new(0);
	struct plan_options o = {.target = target_get(TARGET_X86_64_V3), .program = program, .verify = true};
	const struct plan *p = plan_unit(a, u, &o, diags, NULL);
	assert_non_null(p);
	diags_free(diags);
	return p;
}

static const struct loop_fn *find(void *ctx, const char *symbol)
{
	const struct plan *p = ctx;
	return strcmp(p->unit->symbol, symbol) == 0 ? p->loops : NULL;
}

static bool call_fits(const struct plan *from, const struct plan *to, struct buf *why)
{
	return loops_verify_calls(from->loops, find, (void *)(uintptr_t)to, why); /* only read */
}

static uint32_t conversions(const struct plan *p)
{
	uint32_t n = 0;
	for (ir_ref r = 0; r < p->run_fn->n_insts; r++)
		n += ir_at(p->run_fn, r)->op == OP_CONVERT_LAYOUT;
	return n;
}

static void test_plans_agree(void **state)
{
	struct arena *a = arena_new(0);
	struct buf why = {0};
	struct hir_unit *callee = convolution(a, "conv", true), *net = caller(a, "net", callee, NULL),
			*entry = caller(a, "entry", callee, NULL);
	struct decided d = {.units = {callee, net, entry}};
	decide(&d, a, TARGET_X86_64_V3, entry);
	const struct plan *to = plan(a, callee, d.program), *from = plan(a, net, d.program), *plain = plan(a, callee, NULL);
	const struct plan *outer = plan(a, entry, d.program);
	assert_int_equal(conversions(to), 0);
	assert_int_equal(conversions(plain), 2);
	assert_int_equal(conversions(from), 1); /* x is an argument of two layouts */
	assert_int_equal(conversions(outer), 2);
	assert_true(call_fits(from, to, &why) && call_fits(outer, to, &why));
	assert_false(call_fits(from, plain, &why));
	assert_non_null(strstr(why.at, "an argument with another layout"));
	assert_false(hash_eq(to->run_fn_hash, plain->run_fn_hash));
	assert_false(hash_eq(from->run_fn_hash, plan(a, net, NULL)->run_fn_hash));
	buf_free(&why);
	end(&d, a);
}

static void expect_misfit(const struct plan *from, const struct plan *to, const char *message)
{
	struct buf why = {0};
	assert_false(call_fits(from, to, &why));
	assert_non_null(strstr(why.at, message));
	buf_free(&why);
}

static void test_calls_that_do_not_fit(void **state)
{
	struct arena *a = arena_new(0);
	struct buf why = {0};
	struct hir_unit *callee = convolution(a, "conv", true);
	const struct plan *to = plan(a, callee, NULL), *from = plan(a, caller(a, "net", callee, NULL), NULL);
	struct loop_fn *f = (struct loop_fn *)(uintptr_t)to->loops; /* only this test has it */
	uint32_t input = 0, n = 0, k = 0;
	while (f->buffers[input].kind != BUFFER_INPUT)
		input++;
	f->buffers[input].type.elem = DT_FLOAT16;
	expect_misfit(from, to, "an argument with another element type");
	f->buffers[input].type.elem = DT_FLOAT32;
	f->n_outputs++;
	expect_misfit(from, to, "a call with other arguments than the callee has");
	f->n_outputs--;
	assert_true(f->n_slots && call_fits(from, to, &why));
	struct loop_call *call = NULL;
	for (; !n; k++)
		call = (struct loop_call *)(uintptr_t)loop_stmt_calls(&from->loops->stmts[k], &n);
	call->slot = LOOP_NONE;
	expect_misfit(from, to, "a call without a weight table");
	call->callee = "unknown";
	expect_misfit(from, to, "a call of a unit that does not exist");
	buf_free(&why);
	arena_free(a);
}

int test_channels(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_body_decides),
					   cmocka_unit_test(test_operations_between),
					   cmocka_unit_test(test_means_keep_channels),
					   cmocka_unit_test(test_calls_that_do_not_fit),
					   cmocka_unit_test(test_devices_decide_alike),
					   cmocka_unit_test(test_callers_follow),
					   cmocka_unit_test(test_entries_and_branches_are_plain),
					   cmocka_unit_test(test_plans_agree)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

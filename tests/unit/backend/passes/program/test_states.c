/* States among the arguments of units: how they are stored, which outputs grow them, and that callers and callees agree. */
#include "backend/plan/plan.h"
#include "base/buf.h"
#include "base/diag.h"
#include "tests/unit/backend/passes/program/program_fixture.h"

struct decided {
	struct ir_program *program;
	struct hir_unit *units[4];
};

static void decide(struct decided *d, struct arena *a, enum target_id target, const struct hir_unit *entry)
{
	d->program = program_decided(a, d->units, target, entry);
}

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

enum { X, KEYS, NEXT = 1 };

static struct hir_type rows(struct hir_unit *u, dim n)
{
	struct hir_type t = SHAPE(u, DT_FLOAT16, 1, 2, 0, 8);
	t.dims[2] = n;
	return t;
}

/* A unit of one new row and a state of T, [1, 2, T, 8]. */
static struct hir_unit *with_state(struct arena *a, const char *name)
{
	struct hir_unit *u = hir_new(a, name);
	dim T = dim_new_sym(u->dims, "T");
	hir_input_new(u, "x", rows(u, dim_const(u->dims, 1)), false);
	hir_input_new(u, "k", rows(u, T), false);
	u->inputs[KEYS].grows = 3;
	return u;
}

static hir_ref append(struct hir_unit *u, hir_ref to, int64_t axis)
{
	struct hir_arg list = {.kind = ARG_LIST, .u.list = {u->n_args, 2}};
	u->args[u->n_args++] = T(to);
	u->args[u->n_args++] = T(X);
	return BI(u, BI_CONCAT, rows(u, dim_add(u->dims, u->nodes[to].type.dims[2], dim_const(u->dims, 1))), list, I(axis));
}

static void next_state(struct hir_unit *u, hir_ref value)
{
	hir_output_new(u, value);
	u->outputs[u->n_outputs - 1].state = KEYS + 1;
}

/* Appends to the state, `times` times. */
static struct hir_unit *appender(struct arena *a, const char *name, uint32_t times)
{
	struct hir_unit *u = with_state(a, name);
	hir_ref k = KEYS;
	hir_output_new(u, BI(u, BI_RELU, rows(u, dim_const(u->dims, 1)), T(X)));
	for (uint32_t i = 0; i < times; i++)
		k = append(u, k, 2);
	next_state(u, k);
	return u;
}

/* The next state that a call of `callee` gives for this one. */
static hir_ref call_appender(struct hir_unit *u, struct hir_unit *callee, hir_ref state)
{
	dim *syms = &u->nodes[state].type.dims[2];
	hir_ref y = hir_call_new(u, callee, syms, rows(u, dim_const(u->dims, 1)), (const struct hir_arg[]){T(X), T(state)}, 2);
	return hir_result_new(u, u->nodes[y].source, NEXT, rows(u, dim_add(u->dims, *syms, dim_const(u->dims, 1))));
}

/* Calls twice: the second call grows what the first one has grown, or `again` the same state, whose value is lost. */
static struct hir_unit *calls_twice(struct arena *a, const char *name, struct hir_unit *callee, bool again)
{
	struct hir_unit *u = with_state(a, name);
	hir_ref first = call_appender(u, callee, KEYS), second = call_appender(u, callee, again ? (hir_ref)KEYS : first);
	hir_output_new(u, again ? second : first);
	next_state(u, again ? first : second);
	return u;
}

static void expect_state(const struct decided *d, uint32_t unit, uint32_t grows)
{
	struct argument_layouts l = ir_program_layouts(d->program, d->units[unit]);
	assert_int_equal(argument_input(l, X), LAYOUT_PLAIN);
	assert_int_equal(argument_input(l, KEYS), LAYOUT_DIM2_FIRST);
	assert_int_equal(argument_output(l, 0), LAYOUT_PLAIN);
	assert_int_equal(argument_output(l, NEXT), LAYOUT_DIM2_FIRST);
	assert_int_equal(argument_grows(l, 0), IR_NONE);
	assert_int_equal(argument_grows(l, NEXT), grows);
	assert_true(argument_layouts_code(l));
}

static void test_states_grow(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *one = appender(a, "one", 1), *replaced = with_state(a, "replaced");
	hir_output_new(replaced, X);
	next_state(replaced, BI(replaced, BI_RELU, replaced->nodes[KEYS].type, T(KEYS)));
	struct decided d = {.units = {one, appender(a, "three", 3), replaced, calls_twice(a, "calls", one, false)}};
	decide(&d, a, TARGET_X86_64_V3, d.units[3]);
	expect_state(&d, 0, KEYS);
	expect_state(&d, 1, KEYS);
	expect_state(&d, 2, IR_NONE);
	expect_state(&d, 3, KEYS);
	ir_program_free(d.program);
	arena_free(a);
}

static uint32_t growing(const struct loop_fn *f, bool temporaries)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < f->n_buffers; k++)
		n += f->buffers[k].grows != LOOP_NONE && (f->buffers[k].kind == BUFFER_TEMP) == temporaries;
	return n;
}

static void test_calls_grow_states(void **state)
{
	struct arena *a = arena_new(0);
	struct buf why = {0};
	struct hir_unit *one = appender(a, "one", 1);
	struct decided d = {.units = {one, calls_twice(a, "chain", one, false), calls_twice(a, "again", one, true)}};
	one->never_inline = true;
	decide(&d, a, TARGET_X86_64_V3, NULL);
	const struct plan *to = plan(a, one, d.program), *chain = plan(a, d.units[1], d.program), *again = plan(a, d.units[2], d.program);
	assert_true(call_fits(chain, to, &why) && call_fits(again, to, &why));
	assert_int_equal(growing(to->loops, false), 1);
	assert_int_equal(to->loops->n_stmts, 1); /* of the new row; the other output is merged with it */
	assert_int_equal(growing(chain->loops, false) + growing(chain->loops, true), 2);
	assert_int_equal(growing(again->loops, false), 1); /* the state itself; the other call gets a copy with room */
	assert_int_equal(growing(again->loops, true), 1);
	for (uint32_t k = 0; k < chain->loops->n_buffers; k++)
		chain->loops->buffers[k].grows = LOOP_NONE;
	assert_false(call_fits(chain, to, &why));
	assert_non_null(strstr(why.at, "a call without memory that the callee grows"));
	buf_free(&why);
	ir_program_free(d.program);
	arena_free(a);
}

int test_states(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_states_grow), cmocka_unit_test(test_calls_grow_states)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What summaries say of units: groups of values, how tables are read, what is passed to callees, what is appended and put. */
#include "backend/lower/summary.h"
#include "base/buf.h"
#include "tests/unit/backend/hir_fixture.h"
#include "tests/unit/unit.h"

enum { N = 2, C = 4, S = 8 };

static struct hir_type image(struct hir_unit *u) { return SHAPE(u, DT_FLOAT32, N, C, S, S); }
static struct hir_type table(struct hir_unit *u) { return SHAPE(u, DT_FLOAT32, 10, 6); }

/* The lines of the last unit must be these. */
static void expect(struct arena *a, struct hir_unit **units, uint32_t n, const char *lines)
{
	const struct hir_program from = {.units = units, .n_units = n};
	struct ir_program *p = lower_program(a, &from, lower_summaries(a, &from, NULL), NULL);
	struct buf text = {0}, why = {0};
	assert_true(ir_program_verify(p, &why));
	ir_program_print(p, &text);
	char *last = text.at, *next;
	while ((next = strstr(last + 1, "unit @")))
		last = next;
	assert_string_equal(strchr(last, '\n') + 1, lines);
	buf_free(&text);
	ir_program_free(p);
}

static struct hir_arg numbers(struct hir_unit *u, uint32_t n, int64_t v)
{
	struct hir_arg list = {.kind = ARG_LIST, .u.list = {u->n_args, n}};
	for (uint32_t k = 0; k < n; k++)
		u->args[u->n_args++] = I(v);
	return list;
}

static hir_ref conv(struct hir_unit *u, hir_ref x, hir_ref w)
{
	struct hir_arg stride = numbers(u, 2, 1), pad = numbers(u, 4, 1), dilation = numbers(u, 2, 1);
	return BI(u, BI_CONV2D, image(u), T(x), T(w), NONE, stride, pad, dilation, I(1));
}

static void test_groups(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *u = hir_new(a, "groups");
	hir_ref x = hir_input_new(u, "x", image(u), false), y = hir_input_new(u, "y", image(u), false);
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, C, C, 3, 3), true), v = hir_input_new(u, "v", u->inputs[w].type, false);
	hir_output_new(u, BI(u, BI_RELU, image(u), T(conv(u, x, w))));
	hir_output_new(u, BI(u, BI_ADD, image(u), T(conv(u, y, v)), T(y)));
	hir_output_new(u, BI(u, BI_RELU, u->inputs[w].type, T(w)));
	expect(a, &u, 1,
	       "  in float32 rank 4 group 0\n"
	       "  in float32 rank 4 group 1\n"
	       "  known float32 rank 4\n"
	       "  in float32 rank 4 group 2\n"
	       "  conv float32 group 0 group 3 keeps\n"
	       "  out float32 rank 4 group 3\n"
	       "  out float32 rank 4 group 1\n"
	       "  out float32 rank 4\n");
	arena_free(a);
}

/* Looks up a table, and multiplies by its transpose. */
static struct hir_unit *tied(struct arena *a)
{
	struct hir_unit *u = hir_new(a, "tied");
	hir_ref ids = hir_input_new(u, "ids", SHAPE(u, DT_INT64, 3), false), w = hir_input_new(u, "w", table(u), true);
	hir_ref x = BI(u, BI_EMBEDDING, SHAPE(u, DT_FLOAT32, 3, 6), T(ids), T(w));
	hir_ref turned = BI(u, BI_TRANSPOSE, SHAPE(u, DT_FLOAT32, 6, 10), T(w), I(0), I(1));
	hir_output_new(u, BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, 3, 10), T(x), T(turned)));
	return u;
}

static void test_weights(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *callee = tied(a), *u = hir_new(a, "caller"), *units[] = {callee, u};
	struct hir_type result = SHAPE(u, DT_FLOAT32, 3, 10), half = SHAPE(u, DT_FLOAT16, 10, 6);
	hir_ref ids = hir_input_new(u, "ids", SHAPE(u, DT_INT64, 3), false), w = hir_input_new(u, "w", table(u), true);
	hir_ref v = hir_input_new(u, "v", half, true), wide = BI(u, BI_CAST, table(u), T(v));
	hir_ref twice = BI(u, BI_ADD, table(u), T(w), T(w));
	expect(a, &callee, 1, "  in int64 rank 1\n  known float32 rank 2 rows columns\n  out float32 rank 2\n");
	hir_ref y = hir_call_new(u, callee, NULL, result, (const struct hir_arg[]){T(ids), T(w)}, 2);
	hir_call_new(u, callee, NULL, result, (const struct hir_arg[]){T(ids), T(wide)}, 2);
	hir_call_new(u, callee, NULL, result, (const struct hir_arg[]){T(ids), T(twice)}, 2);
	hir_output_new(u, BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, 3, 6), T(y), T(w)));
	hir_ref turned = BI(u, BI_TRANSPOSE, SHAPE(u, DT_FLOAT32, 6, 10), T(w), I(0), I(1));
	hir_ref back = BI(u, BI_TRANSPOSE, table(u), T(turned), I(0), I(1));
	hir_output_new(u, BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, 3, 6), T(y), T(back)));
	expect(a, units, 2,
	       "  in int64 rank 1\n"
	       "  known float32 rank 2\n"
	       "  known float16 rank 2\n"
	       "  call @tied dc04e6a760ddfa9a083178fa07c749cf (input 0, weight 0) (-)\n"
	       "  call @tied dc04e6a760ddfa9a083178fa07c749cf (input 0, weight 1 cast) (-)\n"
	       "  call @tied dc04e6a760ddfa9a083178fa07c749cf (input 0, -) (-)\n"
	       "  out float32 rank 2\n"
	       "  out float32 rank 2\n");
	arena_free(a);
}

static hir_ref append(struct hir_unit *u, hir_ref to, hir_ref rows, int64_t axis)
{
	struct hir_arg list = {.kind = ARG_LIST, .u.list = {u->n_args, 2}};
	struct hir_type t = u->nodes[to].type;
	u->args[u->n_args++] = T(to);
	u->args[u->n_args++] = T(rows);
	t.dims[axis] = dim_add(u->dims, t.dims[axis], u->nodes[rows].type.dims[axis]);
	return BI(u, BI_CONCAT, t, list, I(axis));
}

static void test_appended_rows(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *u = hir_new(a, "rows");
	dim_new_sym(u->dims, "T");
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, 1, 6), false), k = hir_input_new(u, "k", SHAPE(u, DT_FLOAT32, -1, 6), false);
	u->inputs[k].grows = 1;
	hir_ref once = append(u, k, x, 0);
	hir_output_new(u, append(u, once, x, 0));
	u->outputs[0].state = k + 1;
	hir_output_new(u, append(u, once, once, 1));
	hir_output_new(u, append(u, BI(u, BI_RELU, u->inputs[k].type, T(k)), x, 0));
	expect(a, &u, 1,
	       "  in float32 rank 2\n"
	       "  in float32 rank 2 along 0\n"
	       "  out float32 rank 2 input 1 along 0 next 1\n"
	       "  out float32 rank 2\n"
	       "  out float32 rank 2\n");
	arena_free(a);
}

/* x with a row replaced; `again`: something else reads x, or the result. */
static struct hir_unit *put(struct arena *a, bool of_input, bool of_result)
{
	struct hir_unit *u = hir_new(a, "put");
	hir_ref x = hir_input_new(u, "x", table(u), false), row = hir_input_new(u, "row", SHAPE(u, DT_FLOAT32, 6), false);
	hir_ref at = hir_input_new(u, "at", (struct hir_type){.elem = DT_INT64}, false);
	hir_ref y = BI(u, BI_SELECT_SCATTER, table(u), T(x), T(row), I(0), T(at));
	hir_output_new(u, y);
	hir_output_new(u, of_input ? x : of_result ? y : row);
	return u;
}

static void test_slices_are_put(void **state)
{
	struct arena *a = arena_new(0);
	struct hir_unit *only = put(a, false, false), *read = put(a, true, false), *used = put(a, false, true);
	const char *inputs = "  in float32 rank 2\n  in float32 rank 1\n  in int64 rank 0\n";
	expect(a, &only, 1, arena_printf(a, "%s  out float32 rank 2 puts 0\n  out float32 rank 1 input 1\n", inputs));
	expect(a, &read, 1, arena_printf(a, "%s  out float32 rank 2\n  out float32 rank 2 input 0\n", inputs));
	expect(a, &used, 1, arena_printf(a, "%s  out float32 rank 2\n  out float32 rank 2\n", inputs));
	arena_free(a);
}

int test_summary(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_weights),
					   cmocka_unit_test(test_appended_rows), cmocka_unit_test(test_slices_are_put)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Elaboration: units and their hashes under edits, parameters, entries. */
#include "tests/unit/unit.h"
#include "base/os.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "tests/unit/frontend/front_fixture.h"

struct elaborated {
	struct front front;
	struct front_file file;
	struct hir_program *p;
};

static void open_text(struct elaborated *t, const char *text, const char *entry)
{
	t->file = (struct front_file){"main.tri", text};
	front_open(&t->front, &t->file, 1);
	frontend_add_file(t->front.f, "main.tri");
	frontend_check(t->front.f);
	t->p = diags_errors(t->front.diags) ? NULL : front_elaborate(&t->front, entry, NULL, 0);
	if (!t->p)
		diags_print(t->front.diags, t->front.sources, stderr, false);
}

static const struct hir_unit *unit_named(const struct hir_program *p, const char *prefix)
{
	for (uint32_t i = 0; i < p->n_units; i++)
		if (!strncmp(p->units[i]->name, prefix, strlen(prefix)))
			return p->units[i];
	return NULL;
}

static const struct hir_param *param_named(const struct hir_program *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_params; i++)
		if (!strcmp(p->params[i].name, name))
			return &p->params[i];
	return NULL;
}

static void digits(void **state)
{
	char *text;
	size_t len;
	struct elaborated t;
	assert_true(os_read_file(TRIB_SOURCE_DIR "/examples/digits/src/digits.tri", 0, &text, &len));
	open_text(&t, text, "DigitsNet");
	assert_non_null(t.p);
	assert_int_equal(t.p->n_units, 4);
	assert_int_equal(t.p->n_entries, 1);
	const struct hir_unit *u = t.p->entries[0].unit;
	assert_ptr_equal(u, t.p->units[3]);
	assert_int_equal(u->n_outputs, 1);
	uint32_t run_time = 0;
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		run_time += t.p->entries[0].params[i] == HIR_NONE;
		assert_int_equal(u->inputs[i].build_time, t.p->entries[0].params[i] != HIR_NONE);
	}
	assert_int_equal(run_time, 1);
	assert_non_null(param_named(t.p, "fc2.weight"));
	assert_non_null(param_named(t.p, "fc2.weight")->init);
	assert_true(unit_named(t.p, "BitLinear(64, 128)")->always_inline);
	front_close(&t.front);
	free(text);
}

/* ---- hashes under edits ---- */

static const char base_text[] = "import nn\n"
				"fn act(v: Tensor<float32, [N, M]>) { let w = relu(v); return w * 2.0 }\n"
				"layer Fc(n: int, m: int) {\n"
				"    param weight: Tensor<float32, [m, n]>\n"
				"    fn forward(x: Tensor<float32, [N, n]>) { let y = x @ weight.transpose(0, 1); return act(y) }\n"
				"}\n"
				"layer Net() {\n"
				"    let a = Fc(8, 16)\n"
				"    let b = Fc(16, 4)\n"
				"    fn forward(x: Tensor<float32, [N, 8]>) { return b(a(x)) }\n"
				"}\n";

/* The text with the first `old` replaced. */
static char *edited(const char *old, const char *new)
{
	const char *at = strstr(base_text, old);
	struct buf b = {0};
	assert_non_null(at);
	buf_put(&b, base_text, (size_t)(at - base_text));
	buf_puts(&b, new);
	buf_puts(&b, at + strlen(old));
	return b.at;
}

/* How many units have another hash than in the base text; -1: other units. */
static int changed_units(const char *text)
{
	struct elaborated a, b;
	int changed = 0;
	open_text(&a, base_text, "Net");
	open_text(&b, text, "Net");
	assert_non_null(a.p);
	assert_non_null(b.p);
	if (a.p->n_units != b.p->n_units)
		changed = -1;
	for (uint32_t i = 0; changed >= 0 && i < a.p->n_units; i++) {
		assert_true(hash_eq(a.p->units[i]->identity, b.p->units[i]->identity));
		assert_string_equal(a.p->units[i]->symbol, b.p->units[i]->symbol);
		changed += !hash_eq(hir_unit_hash(a.p->units[i]), hir_unit_hash(b.p->units[i]));
	}
	front_close(&a.front);
	front_close(&b.front);
	return changed;
}

static void edits(void **state)
{
	static const struct {
		const char *old, *new;
		int changed;
	} table[] = {
		{"let w = relu(v); return w * 2.0", "let w = relu(v); return w * 2.0", 0},
		{"let w = relu(v); return w * 2.0", "\n\n  # a comment\n  let other = relu(v)\n  return (other * 2.0)\n", 0},
		{"let y = x @ weight.transpose(0, 1); return act(y)", "return act(x @ weight.transpose(0, 1))", 0},
		{"w * 2.0", "w * 3.0", 2}, /* act on [N, 16] and on [N, 4] */
		{"return b(a(x))", "return b(a(x) + 1.0)", 1},
		{"return act(y)", "return act(-y)", 2}, /* Fc(8, 16) and Fc(16, 4) */
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		char *text = edited(table[i].old, table[i].new);
		assert_int_equal(changed_units(text), table[i].changed);
		free(text);
	}
}

static void renamed_argument(void **state)
{
	char *text = edited("fn act(v: Tensor<float32, [N, M]>) { let w = relu(v); return w * 2.0 }",
			    "fn act(value: Tensor<float32, [Rows, Cols]>) { return relu(value) * 2.0 }");
	assert_int_equal(changed_units(text), 0);
	free(text);
}

/* Two runs give the same text, symbols and hashes. */
static void deterministic(void **state)
{
	struct elaborated a, b;
	struct buf ta = {0}, tb = {0};
	open_text(&a, base_text, "Net");
	open_text(&b, base_text, "Net");
	for (uint32_t i = 0; i < a.p->n_units; i++) {
		hir_print(a.p->units[i], &ta);
		hir_print(b.p->units[i], &tb);
	}
	assert_string_equal(ta.at, tb.at);
	buf_free(&ta);
	buf_free(&tb);
	front_close(&a.front);
	front_close(&b.front);
}

/* ---- entries ---- */

static struct hir_program *elaborate_with(struct elaborated *t, const char *text, struct elab_request r)
{
	t->file = (struct front_file){"main.tri", text};
	front_open(&t->front, &t->file, 1);
	frontend_add_file(t->front.f, "main.tri");
	r.at = SPAN_NONE;
	t->p = frontend_check(t->front.f) ? frontend_elaborate(t->front.f, &r) : NULL;
	return t->p;
}

static void functional(void **state)
{
	static const char text[] = "layer Fc(w: TernaryTensor<trit, [K, N]>, b: Tensor<float32, [N]>, x: Tensor<float32, [?, K]>)\n"
				   "    -> Tensor<float32, [?, N]> { return x @ w + b }\n";
	const char *entry = "Fc", *names[] = {"w", "b"};
	struct elab_input x = {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, 8}, .at = SPAN_NONE};
	struct elab_input weights[] = {
		{.name = "w", .elem = DT_INT8, .rank = 2, .dims = {8, 3}, .at = SPAN_NONE},
		{.name = "b", .elem = DT_FLOAT32, .rank = 1, .dims = {3}, .at = SPAN_NONE},
	};
	struct elab_request r = {.entries = &entry,
				 .n_entries = 1,
				 .inputs = &x,
				 .n_inputs = 1,
				 .weight_names = names,
				 .n_weight_names = 2,
				 .weights = weights,
				 .n_weights = 2};
	struct elaborated t;
	struct buf b = {0};
	assert_non_null(elaborate_with(&t, text, r));
	assert_int_equal(t.p->n_params, 2);
	const struct hir_unit *u = t.p->entries[0].unit;
	assert_int_equal(u->n_inputs, 3);
	assert_true(u->inputs[0].build_time && u->inputs[1].build_time && !u->inputs[2].build_time);
	hir_print(u, &b);
	assert_non_null(strstr(b.at, "float32[D0, 3] = matmul"));
	front_close(&t.front);
	weights[1].dims[0] = 4; /* the weights disagree with each other */
	b.len = 0;
	assert_null(elaborate_with(&t, text, r));
	assert_string_equal(front_codes(&t.front, &b), "E0401");
	front_close(&t.front);
	x.dims[1] = DIM_DYNAMIC; /* everything from the weights */
	weights[1].dims[0] = 3;
	assert_non_null(elaborate_with(&t, text, r));
	front_close(&t.front);
	r.n_weights = 0; /* N cannot be known */
	b.len = 0;
	assert_null(elaborate_with(&t, text, r));
	assert_non_null(strstr(front_codes(&t.front, &b), "E0601"));
	front_close(&t.front);
	buf_free(&b);
}

static void several_entries(void **state)
{
	static const char text[] = "layer Net() {\n"
				   "    param w: Tensor<float32, [4, 4]>\n"
				   "    fn prefill(x: Tensor<float32, [N, 4]>) { return x @ w }\n"
				   "    fn decode(x: Tensor<float32, [4]>, y: Tensor<float32, [4]>) { return x * w, y }\n"
				   "}\n";
	const char *entries[] = {"Net.prefill", "Net.decode"};
	struct elab_request r = {.entries = entries, .n_entries = 2};
	struct elaborated t;
	assert_non_null(elaborate_with(&t, text, r));
	assert_int_equal(t.p->n_entries, 2);
	assert_int_equal(t.p->n_params, 1);
	assert_string_equal(t.p->entries[1].name, "decode");
	assert_int_equal(t.p->entries[1].unit->n_outputs, 2);
	front_close(&t.front);
}

static void entry_errors(void **state)
{
	static const char text[] = "layer Net(n: int) { fn forward(x: Tensor<float32, [4]>) { return x } }\n"
				   "fn f(x: Tensor<float32, [N, 4]>) { return x }\n"
				   "fn g(x: Tensor<float32, [4]>, y = [zeros([4])]) { return x + y[0] }\n"
				   "fn half(x: Tensor<float32, [N // 2, 4]>) { return x }\n"
				   "fn square(x: Tensor<float32, [N * N, N // 3]>) { return x }\n"
				   "fn sum(x: Tensor<float32, [N + M, M * N]>) { return x }\n"
				   "fn both(x: Tensor<float32, [N // 2, 5 - N]>) { return x }\n";
	static const struct {
		const char *entry;
		struct elab_input in;
		const char *codes;
	} table[] = {
		{"Nett", {.name = "x", .elem = DT_FLOAT32, .rank = 1, .dims = {4}}, "E0507"},
		{"Net", {.name = "x", .elem = DT_FLOAT32, .rank = 1, .dims = {4}}, "E0507"},
		{"f", {.name = "x", .elem = DT_FLOAT32, .rank = 1, .dims = {4}}, "E0508"},
		{"f", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {3, 5}}, "E0401"},
		{"f", {.name = "x", .elem = DT_INT8, .rank = 2, .dims = {3, 4}}, "E0508"},
		{"f", {.name = "y", .elem = DT_FLOAT32, .rank = 2, .dims = {3, 4}}, "E0508"},
		{"f", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, 4}}, ""},
		{"g", {.name = "x", .elem = DT_FLOAT32, .rank = 1, .dims = {4}}, "E0507"},
		{"half", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, 4}}, "E0507"},
		{"square", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, DIM_DYNAMIC}}, "E0507"},
		{"sum", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, DIM_DYNAMIC}}, "E0507"},
		{"both", {.name = "x", .elem = DT_FLOAT32, .rank = 2, .dims = {DIM_DYNAMIC, DIM_DYNAMIC}}, ""},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct elab_input in = table[i].in;
		struct elab_request r = {.entries = &table[i].entry, .n_entries = 1, .inputs = &in, .n_inputs = 1};
		struct elaborated t;
		struct buf b = {0};
		in.at = SPAN_NONE;
		elaborate_with(&t, text, r);
		assert_string_equal(front_codes(&t.front, &b), table[i].codes);
		assert_true(!t.p == (*table[i].codes != 0));
		buf_free(&b);
		front_close(&t.front);
	}
}

int test_elab(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits),        cmocka_unit_test(edits),      cmocka_unit_test(renamed_argument),
		cmocka_unit_test(deterministic), cmocka_unit_test(functional), cmocka_unit_test(several_entries),
		cmocka_unit_test(entry_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

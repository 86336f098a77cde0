/* What the front end notes for editors. */
#include "tests/unit/unit.h"
#include "base/buf.h"
#include "frontend/index/index.h"
#include "tests/unit/frontend/front_fixture.h"

struct fixture {
	struct front t;
	struct index *ix;
	struct buf out;
};

static const char blocks[] = "layer Block(c: int) {\n"
			     "    param gain: Tensor<float32, [c]>\n"
			     "    fn forward(x: Tensor<float32, [N, c]>) { return x * gain }\n"
			     "}\n"
			     "fn twice(x: Tensor<float32, [M, K]>) { return x + x }\n";

static void check_at(struct fixture *fx, const char *main, uint32_t ask)
{
	struct front_file files[] = {{"main.tri", main}, {"blocks.tri", blocks}};
	front_open(&fx->t, files, 2);
	fx->ix = index_new();
	fx->out = (struct buf){0};
	frontend_set_index(fx->t.f, fx->ix);
	if (ask != UINT32_MAX)
		index_ask(fx->ix, 0, ask);
	frontend_add_file(fx->t.f, "main.tri");
	frontend_check(fx->t.f);
	index_finish(fx->ix);
}

static void done(struct fixture *fx)
{
	buf_free(&fx->out);
	index_free(fx->ix);
	front_close(&fx->t);
}

/* "kind name file:line type" of the name at the n-th (from 0) occurrence of a word in main.tri. */
static const char *use(struct fixture *fx, const char *main, const char *word, int n)
{
	const char *at = strstr(main, word);
	for (; n > 0 && at; n--)
		at = strstr(at + 1, word);
	assert_non_null(at);
	const struct index_use *u = index_use_at(fx->ix, 0, (uint32_t)(at - main));
	buf_clear(&fx->out);
	if (!u)
		return "nothing";
	const struct symbol *s = u->symbol == SYMBOL_NONE ? NULL : &fx->ix->symbols.at[u->symbol];
	if (s)
		buf_printf(&fx->out, "%s %s ", symbol_kind_text(s->kind), s->name);
	if (s && !s->std)
		buf_printf(&fx->out, "%s:%u ", sources_get(fx->t.sources, s->at.source)->path,
			   source_position(fx->t.sources, s->at.source, s->at.start).line);
	buf_puts(&fx->out, u->type ? u->type : "-");
	return fx->out.at;
}

static void names_lead_to_definitions_and_types(void **state)
{
	static const char main[] = "import blocks\n"
				   "from blocks import twice as double\n"
				   "const SIZE = 64\n"
				   "layer Net() {\n"
				   "    let b = blocks.Block(c=SIZE)\n"
				   "    fn forward(x: Tensor<float32, [B, 64]>) {\n"
				   "        let (y, n) = (b(x).relu(), B)\n"
				   "        return double(y) * b.gain\n"
				   "    }\n"
				   "}\n";
	struct fixture fx;
	check_at(&fx, main, UINT32_MAX);
	assert_string_equal(use(&fx, main, "blocks.Block", 0), "module blocks main.tri:1 -");
	assert_string_equal(use(&fx, main, "Block(c", 0), "layer Block blocks.tri:1 -");
	assert_string_equal(use(&fx, main, "c=SIZE", 0), "argument c blocks.tri:1 -");
	assert_string_equal(use(&fx, main, "SIZE)", 0), "constant SIZE main.tri:3 int = 64");
	assert_string_equal(use(&fx, main, "b = ", 0), "member b main.tri:5 Block(64)");
	assert_string_equal(use(&fx, main, "x).relu", 0), "argument x main.tri:6 float32[B, 64]");
	assert_string_equal(use(&fx, main, "relu", 0), "builtin relu -");
	assert_string_equal(use(&fx, main, "y, n", 0), "local y main.tri:7 float32[B, 64]");
	assert_string_equal(use(&fx, main, "n) = ", 0), "local n main.tri:7 int = B");
	assert_string_equal(use(&fx, main, "double(y", 0), "import double main.tri:2 -");
	assert_string_equal(use(&fx, main, "twice", 0), "function twice blocks.tri:5 -");
	assert_string_equal(use(&fx, main, "gain", 0), "parameter gain blocks.tri:2 float32[64]");
	assert_string_equal(use(&fx, main, "B, 64", 0), "dimension B main.tri:6 -");
	assert_string_equal(use(&fx, main, "= 64", 0), "nothing");
	const struct symbol *forward = &fx.ix->symbols.at[index_use_at(fx.ix, 0, (uint32_t)(strstr(main, "forward") - main))->symbol];
	assert_string_equal(forward->type, "float32[B, 64]");
	assert_false(forward->typed);
	assert_int_equal(diags_count(fx.t.diags), 0);
	done(&fx);
}

static void text_with_errors_is_indexed_in_part(void **state)
{
	static const char main[] = "fn f(x: Tensor<float32, [N, 4]>) {\n"
				   "    let y = relu(x)\n"
				   "    let z = y +\n"
				   "}\n"
				   "fn g(a: int) { return f(a }\n";
	struct fixture fx;
	check_at(&fx, main, UINT32_MAX);
	assert_true(diags_errors(fx.t.diags) > 0);
	assert_string_equal(use(&fx, main, "y = relu", 0), "local y main.tri:2 float32[N, 4]");
	assert_string_equal(use(&fx, main, "y +", 0), "local y main.tri:2 float32[N, 4]");
	for (uint32_t i = 0; i < diags_count(fx.t.diags); i++) /* no more than without an index */
		assert_true(diag_is_syntax_error(diags_at(fx.t.diags, i)->code));
	done(&fx);
}

static bool offers(const struct fixture *fx, const char *name)
{
	for (uint32_t i = 0; i < fx->ix->candidates.len; i++)
		if (!strcmp(fx->ix->candidates.at[i].name, name))
			return true;
	return false;
}

static void ask(struct fixture *fx, const char *main) { check_at(fx, main, (uint32_t)(strchr(main, '_') - main)); }

static void candidates_are_those_of_the_place(void **state)
{
	struct fixture fx;
	ask(&fx, "import blocks\nfn f(x: int) { for i in 0..3 { let inner = 1 }\n let y = x\n return _ }\n");
	assert_int_equal(fx.ix->context, ASK_NAME);
	assert_true(offers(&fx, "x") && offers(&fx, "y") && offers(&fx, "f") && offers(&fx, "blocks") && offers(&fx, "relu"));
	assert_false(offers(&fx, "i") || offers(&fx, "inner"));
	done(&fx);
	ask(&fx, "import blocks\nlet b = blocks._\nfn f() { let b = blocks._ }\n");
	done(&fx);
	ask(&fx, "import blocks\nfn f() { let b = blocks._ }\n");
	assert_int_equal(fx.ix->context, ASK_MEMBER);
	assert_true(offers(&fx, "Block") && offers(&fx, "twice") && !offers(&fx, "relu"));
	done(&fx);
	ask(&fx, "import blocks\nlayer N() { let b = blocks.Block(4)\n fn forward(x: Tensor<float32, [M, 4]>) { return b._ } }\n");
	assert_true(offers(&fx, "gain") && offers(&fx, "forward") && !offers(&fx, "relu"));
	done(&fx);
	ask(&fx, "fn f(x: Tensor<float32, [M, 4]>) { return x._\n }\n");
	assert_true(offers(&fx, "shape") && offers(&fx, "relu") && !offers(&fx, "zeros"));
	done(&fx);
	ask(&fx, "type Image = Tensor<float32, [4]>\nfn f(x: _) { }\n");
	assert_int_equal(fx.ix->context, ASK_TYPE);
	assert_true(offers(&fx, "Image") && offers(&fx, "Tensor") && offers(&fx, "float32") && !offers(&fx, "relu"));
	done(&fx);
	ask(&fx, "from blocks import _\n");
	assert_int_equal(fx.ix->context, ASK_IMPORT);
	assert_true(offers(&fx, "Block"));
	done(&fx);
	ask(&fx, "@_\nfn f() { }\n");
	assert_int_equal(fx.ix->context, ASK_ATTRIBUTE);
	assert_true(offers(&fx, "inline"));
	done(&fx);
}

static void every_builtin_has_a_line_of_documentation(void **state)
{
	struct fixture fx;
	check_at(&fx, "", UINT32_MAX);
	for (uint32_t i = 0; i < fx.ix->n_builtins; i++)
		if (!fx.ix->symbols.at[i].doc)
			fail_msg("names/index_note.c has no help for `%s`", fx.ix->symbols.at[i].name);
	done(&fx);
}

int test_index(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lead_to_definitions_and_types),
		cmocka_unit_test(text_with_errors_is_indexed_in_part),
		cmocka_unit_test(candidates_are_those_of_the_place),
		cmocka_unit_test(every_builtin_has_a_line_of_documentation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

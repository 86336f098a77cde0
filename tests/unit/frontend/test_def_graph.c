/* Which definitions name which; deep hashes change with whatever is below, and with nothing else. */
#include "tests/unit/unit.h"
#include "base/arena.h"
#include "base/buf.h"
#include "frontend/def_graph.h"
#include "tests/unit/frontend/front_fixture.h"

struct fixture {
	struct front t;
	struct index *ix;
	struct arena *a;
	struct def_graph *g;
	struct buf out;
};

static const char parts[] = "const GAIN = 2.0\n"
			    "type Row = Tensor<float32, [N, 8]>\n"
			    "layer Block() {\n"
			    "    fn forward(x: Row) -> Row { return x * GAIN }\n"
			    "}\n"
			    "fn loose(x: Row) -> Row { return x }\n";
static const char net[] = "import \"parts.tri\" as p\n"
			  "from \"parts.tri\" import loose as free\n"
			  "fn step(x: Tensor<float32, [N, 8]>) { let GAIN = 1.0; return free(x) * GAIN }\n"
			  "layer Net() {\n"
			  "    let b = p.Block()\n"
			  "    fn forward(x: Tensor<float32, [N, 8]>) { return b(step(x)) }\n"
			  "}\n"
			  "main { print(Net()) }\n";

static void open_graph(struct fixture *fx, const char *main_text, const char *parts_text)
{
	struct front_file files[] = {{"net.tri", main_text}, {"parts.tri", parts_text}};
	front_open(&fx->t, files, 2);
	fx->a = arena_new(0);
	fx->ix = index_new();
	fx->out = (struct buf){0};
	frontend_set_index(fx->t.f, fx->ix);
	frontend_add_file(fx->t.f, "net.tri");
	frontend_check(fx->t.f);
	index_finish(fx->ix);
	fx->g = def_graph_new(fx->a, fx->t.f, fx->ix);
}

static void close_graph(struct fixture *fx)
{
	buf_free(&fx->out);
	index_free(fx->ix);
	front_close(&fx->t);
	arena_free(fx->a);
}

static const struct def_node *node(struct fixture *fx, const char *name)
{
	for (uint32_t i = 0; i < fx->g->n; i++)
		if (!strcmp(fx->g->nodes[i].def->name, name))
			return &fx->g->nodes[i];
	fail_msg("no definition %s", name);
	return NULL;
}

static const char *uses(struct fixture *fx, const char *name)
{
	const struct def_node *d = node(fx, name);
	buf_clear(&fx->out);
	buf_puts(&fx->out, "");
	for (uint32_t i = 0; i < d->n_uses; i++)
		buf_printf(&fx->out, "%s%s", i ? " " : "", fx->g->nodes[d->uses[i]].def->name);
	return fx->out.at ? fx->out.at : "";
}

static void edges(void **state)
{
	struct fixture fx;
	open_graph(&fx, net, parts);
	assert_string_equal(uses(&fx, "GAIN"), "");
	assert_string_equal(uses(&fx, "Block"), "GAIN Row");
	assert_string_equal(uses(&fx, "loose"), "Row");
	assert_string_equal(uses(&fx, "step"), "loose"); /* its GAIN is a local */
	assert_string_equal(uses(&fx, "Net"), "step Block");
	assert_string_equal(uses(&fx, "main"), "Net");
	const struct def_node *step = node(&fx, "step");
	assert_int_equal(def_graph_at(fx.g, step->def->at.source, step->def->at.start + 3), step - fx.g->nodes);
	assert_int_equal(def_graph_at(fx.g, step->def->at.source, 0), UINT32_MAX);
	close_graph(&fx);
}

/* Does the definition's deep hash differ between the two texts of parts.tri? */
static bool differs(const char *name, const char *other_parts)
{
	struct fixture a, b;
	open_graph(&a, net, parts);
	open_graph(&b, net, other_parts);
	bool same = hash_eq(node(&a, name)->deep, node(&b, name)->deep);
	close_graph(&a);
	close_graph(&b);
	return !same;
}

static void deep_hashes(void **state)
{
	static const char gain[] = "# moved\n"
				   "layer Block() {\n"
				   "    fn forward(x: Row) -> Row { return x * GAIN }\n"
				   "}\n"
				   "type Row = Tensor<float32, [N, 8]>\n"
				   "const GAIN = 3.0\n"
				   "fn loose(x: Row) -> Row { return x }\n";
	assert_true(differs("GAIN", gain));
	assert_true(differs("Block", gain));
	assert_true(differs("Net", gain));
	assert_true(differs("main", gain));
	assert_false(differs("loose", gain));
	assert_false(differs("step", gain));
	assert_false(differs("Row", gain));
}

/* A circle is one component: each of it depends on all of it. */
static void circles(void **state)
{
	static const char *const text[] = {
		"fn a(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return b(x) }\n"
		"fn b(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return c(x) }\n"
		"fn c(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return a(x) }\n"
		"fn user(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return a(x) }\n",
		"fn a(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return b(x) }\n"
		"fn b(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return c(x) }\n"
		"fn c(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return a(x) + 1.0 }\n"
		"fn user(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> { return a(x) }\n",
	};
	struct fixture one, two;
	open_graph(&one, text[0], parts);
	open_graph(&two, text[1], parts);
	static const char *const names[] = {"a", "b", "c", "user"};
	for (int i = 0; i < 4; i++)
		assert_false(hash_eq(node(&one, names[i])->deep, node(&two, names[i])->deep));
	assert_string_equal(uses(&one, "c"), "a");
	close_graph(&one);
	close_graph(&two);
}

int test_def_graph(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(edges), cmocka_unit_test(deep_hashes), cmocka_unit_test(circles)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

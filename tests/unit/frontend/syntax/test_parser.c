#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/dump.h"
#include "frontend/syntax/parser.h"

struct parsed {
	struct sources *sources;
	struct diags *diags;
	struct ast t;
	bool ok;
};

static struct parsed parse_bytes(const char *text, size_t n)
{
	struct parsed p = {.sources = sources_new(), .diags = diags_new(0)};
	p.ok = parse_source(sources_add(p.sources, "test.tri", text, n), &p.t, p.diags);
	assert_int_equal(p.ok, diags_errors(p.diags) == 0);
	return p;
}

static struct parsed parse_text(const char *text) { return parse_bytes(text, strlen(text)); }

static void done(struct parsed *p)
{
	ast_free(&p->t);
	diags_free(p->diags);
	sources_free(p->sources);
}

static struct ast_nodes items(const struct parsed *p) { return ast_nodes(&p->t, ast_a(&p->t, AST_ROOT)); }

static node_id find(const struct parsed *p, enum node_kind kind)
{
	for (node_id n = 1; n < p->t.len; n++)
		if (ast_kind(&p->t, n) == kind)
			return n;
	fail_msg("no %s", node_kind_text(kind));
	return AST_NONE;
}

static void spans_cover_their_text(void **state)
{
	static const struct {
		const char *text; /* an expression or statement */
		enum node_kind kind;
		const char *want;
	} cases[] = {
		{"a + b * c", NODE_BINARY, "b * c"},
		{"x.f(a, b)[0]", NODE_CALL, "x.f(a, b)"},
		{"x.f(a, b)[0]", NODE_INDEX, "x.f(a, b)[0]"},
		{"x.f(a, b)[0]", NODE_MEMBER, "x.f"},
		{"f(x=1 + 2)", NODE_NAMED_ARG, "x=1 + 2"},
		{"x[a:b:c]", NODE_SLICE, "a:b:c"},
		{"x[:, 0]", NODE_SLICE, ":"},
		{"a < b <= c", NODE_CHAIN, "a < b <= c"},
		{"c ? a : b", NODE_TERNARY, "c ? a : b"},
		{"0..n:2", NODE_RANGE, "0..n:2"},
		{"[x for x in y if z]", NODE_COMPREHENSION, "[x for x in y if z]"},
		{"[x for x in y if z]", NODE_COMP_FOR, "for x in y"},
		{"[x for x in y if z]", NODE_COMP_IF, "if z"},
		{"[1, 2, ]", NODE_LIST, "[1, 2, ]"},
		{"(1, )", NODE_TUPLE, "(1, )"},
		{"(a)", NODE_PAREN, "(a)"},
		{"-a", NODE_UNARY, "-a"},
		{"f\"a{b}c\" + 1", NODE_FSTRING, "f\"a{b}c\""},
		{"if a { b } else { c }", NODE_IF, "if a { b } else { c }"},
		{"for i in x { y }", NODE_FOR, "for i in x { y }"},
		{"while a { b }", NODE_WHILE, "while a { b }"},
		{"let (a, b): T<[N]> = c", NODE_LET, "let (a, b): T<[N]> = c"},
		{"let (a, b): T<[N]> = c", NODE_TYPE_SHAPE, "[N]"},
		{"let a: m.T<[N], 2*(K + 1)> = c", NODE_PAREN, "(K + 1)"},
		{"let [a, ...b] = c", NODE_PAT_LIST, "[a, ...b]"},
		{"let [a, ...b] = c", NODE_PAT_REST, "...b"},
		{"let a, b = c", NODE_PAT_TUPLE, "a, b"},
		{"return a, b", NODE_RETURN, "return a, b"},
		{"return a, b", NODE_TUPLE, "a, b"},
		{"a[0] += f(b)", NODE_ASSIGN, "a[0] += f(b)"},
		{"assert a, 'm'", NODE_ASSERT, "assert a, 'm'"},
		{"const A: int = 3", NODE_CONST, "const A: int = 3"},
	};
	char text[256];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text, "fn g() {\n\t%s\n}", cases[i].text);
		struct parsed p = parse_text(text);
		assert_true(p.ok);
		span s = ast_span(&p.t, find(&p, cases[i].kind));
		snprintf(text, sizeof text, "%.*s", (int)(s.end - s.start), p.t.tokens.src->text + s.start);
		assert_string_equal(text, cases[i].want);
		done(&p);
	}
}

static void spans_of_items(void **state)
{
	static const char *const texts[] = {"import a as b",   "from nn import A, B as C",
					    "type X<N> = [A]", "fn f<T>(x: T) -> m.Q<N> where N == 1 { }",
					    "layer L() { }",   "main { }",
					    "const X = 1"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct parsed p = parse_text(texts[i]);
		assert_true(p.ok);
		span s = ast_span(&p.t, items(&p).at[0]);
		assert_int_equal(s.start, 0);
		assert_int_equal(s.end, strlen(texts[i]));
		done(&p);
	}
}

static void accessors(void **state)
{
	struct parsed p = parse_text("@inline @opt(3)\nfn f<T: Float, M>(x: T, y: int = 1) -> T where T: Float, M == 2 { return x }\n"
				     "layer L() { param w: T = x\n fn forward() { } }\nconst C = 2\ntype A<N> = B");
	assert_true(p.ok);
	struct ast_nodes list = items(&p);
	assert_int_equal(list.n, 4);
	struct ast_fn f = ast_fn(&p.t, list.at[0]);
	assert_true(token_is(&p.t.tokens, f.name, "f"));
	assert_int_equal(f.attrs.n, 2);
	assert_int_equal(f.generics.n, 2);
	assert_int_equal(f.params.n, 2);
	assert_int_equal(f.where.n, 2);
	assert_int_equal(ast_kind(&p.t, f.result), NODE_TYPE_NAME);
	assert_int_equal(ast_kind(&p.t, f.body), NODE_BLOCK);
	assert_int_equal(ast_b(&p.t, f.params.at[0]), AST_NONE);
	assert_int_equal(ast_kind(&p.t, ast_b(&p.t, f.params.at[1])), NODE_INT);
	assert_false(f.module_form);
	assert_true(ast_fn(&p.t, list.at[1]).module_form);
	struct ast_const c = ast_const(&p.t, list.at[2]);
	assert_int_equal(c.type, AST_NONE);
	assert_int_equal(ast_kind(&p.t, c.value), NODE_INT);
	assert_int_equal(ast_alias(&p.t, list.at[3]).generics.n, 1);
	assert_true(token_is(&p.t.tokens, ast_item_name(&p.t, list.at[1]), "L"));
	done(&p);
}

static hash128 hash_of(const char *text)
{
	struct parsed p = parse_text(text);
	assert_true(p.ok);
	hash128 h = ast_item_tokens(&p.t, items(&p).at[items(&p).n - 1]);
	done(&p);
	return h;
}

static void layout_leaves_the_hash_alone(void **state)
{
	static const char *const same[][2] = {
		{"fn f(x: int) { let a = x; return a }", "# c\nfn f (\n\tx : int ,\n)\n{\n\tlet a = /* d */ x\n\treturn a\n}\n"},
		{"const A = 1", "import nn\nfn z() { let q = (1,) }\nconst\nA = 1;"},
		{"fn f() { a\n b }", "fn f() { ; a ;; b; }"},
		{"fn f() { return x.a().b() }", "fn f() {\n return x\n  .a()\n  .b()\n}"},
		{"@inline fn f() { }", "@inline\nfn f() {\n}"},
		{"fn f() { let x: A<3>= y }", "fn f() { let x: A<3> = y }"},
		{"fn f() { [1, 2] }", "fn f() { [\n1,\n2,\n] }"},
		{"fn f() { None }", "fn f() { none }"},
		{"layer L() { param w = 1\n fn g() { a } }", "layer L() { param w = 1; fn g() { a; }; }"},
	};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_true(hash_eq(hash_of(same[i][0]), hash_of(same[i][1])));
}

static void meaning_changes_the_hash(void **state)
{
	static const char *const differ[][2] = {
		{"fn f() { a\n -b }", "fn f() { a -b }"},
		{"fn f() { (a,) }", "fn f() { (a) }"},
		{"fn f() { let (a,) = x }", "fn f() { let (a) = x }"},
		{"fn f(x: (A,)) { }", "fn f(x: (A)) { }"},
		{"fn f() { return\n a }", "fn f() { return a }"},
		{"fn f() { f\n(x) }", "fn f() { f (x) }"},
		{"fn f() { 'a' }", "fn f() { 'b' }"},
		{"fn f() { 1 }", "fn f() { 2 }"},
		{"fn f() { ab }", "fn f() { ac }"},
		{"@inline fn f() { }", "fn f() { }"},
		{"@inline fn f() { }", "@noinline fn f() { }"},
		{"fn f() { a + b }", "fn f() { a - b }"},
		{"fn f() { a; b }", "fn f() { b; a }"},
		{"fn f() { f\"{a}b\" }", "fn f() { f\"{a}c\" }"},
		{"fn f() { if a { b }\n c }", "fn f() { if a { b\n c } }"},
	};
	for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
		assert_false(hash_eq(hash_of(differ[i][0]), hash_of(differ[i][1])));
}

/* The height of the tree, by its dump: walking it recursively must be safe. */
static uint32_t height_of(const struct ast *t)
{
	struct buf out = {0};
	uint32_t highest = 0;
	dump_ast(t, &out);
	for (const char *p = out.at; (p = strchr(p, '\n')) && p[1];) {
		uint32_t indent = (uint32_t)strspn(++p, " ");
		highest = indent / 2 > highest ? indent / 2 : highest;
	}
	buf_free(&out);
	return highest;
}

/* n times `open`, a middle, n times `close`. */
static char *nested(const char *before, const char *open, uint32_t n, const char *middle, const char *close, const char *after)
{
	struct buf b = {0};
	buf_puts(&b, before);
	for (uint32_t i = 0; i < n; i++)
		buf_puts(&b, open);
	buf_puts(&b, middle);
	for (uint32_t i = 0; i < n; i++)
		buf_puts(&b, close);
	buf_puts(&b, after);
	return b.at;
}

static void nesting_is_bounded(void **state)
{
	static const char *const shapes[][3] = {
		{"(", "a", ")"},
		{"[", "a", "]"},
		{"{", "a", "}"},
		{"-", "a", ""},
		{"a**", "a", ""},
		{"a?b:", "c", ""},
		{"a?", "c", ":d"},
		{"", "a", "+a"},
		{"", "a", ".b"},
		{"", "a", "(b)"},
		{"", "a", "[b]"},
		{"a*(b+c[", "d", "])"},
		{"if a {", "b", "}"},
		{"if a {} else ", "if b {}", ""},
		{"a||a&&a==a<a..a+a*-a**(", "1", ")"},
		{"f(x=(", "1", ",))"},
		{"[a for a in ", "b", "]"},
		{"for i in x {", "", "}"},
		{"let a = {", "1", "}"},
		{"assert({", "1", "})"},
		{"fn f() {", "", "}"},
		{"let ", "x: List<A> = 1", ""},
		{"", "a", "<a"},
	};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		char *text = nested("fn f() {\n", shapes[i][0], 3000, shapes[i][1], shapes[i][2], "\n}\nfn g() { }\n");
		struct parsed p = parse_text(text);
		assert_true(height_of(&p.t) <= AST_MAX_HEIGHT);
		done(&p);
		free(text);
	}
}

static void parse_goes_on_after_a_limit(void **state)
{
	char *text = nested("fn f() { let x = ", "(", 2000, "1", ")", " }\nfn g() { let y = }\nfn h() { }\n");
	struct parsed p = parse_text(text);
	assert_int_equal(diags_errors(p.diags), 2);
	assert_int_equal(diags_at(p.diags, 0)->code, DIAG_TOO_DEEP);
	assert_int_equal(diags_at(p.diags, 1)->code, DIAG_EXPECTED_EXPR);
	done(&p);
	free(text);
	text = nested("fn f() { let x = ", "(", 900, "1", ")", " }\n");
	p = parse_text(text);
	assert_true(p.ok);
	done(&p);
	free(text);
}

static const char program[] =
	"import nn\n@inline\nfn f<T: Numeric>(x: Tensor<T, [N, 2*K]>, y = 3) -> (A, [B]) where N == 2 {\n"
	"  let (a, [b, ...c]): Image<3>= x ? {1; 2} : [i for i in 0..n:2 if i]\n  assert a < b <= c, f\"{a + 1}: {f'{b}'}\"\n"
	"  for i, j in z { if a { break } else if b { x[..., ::2] += -1 ** 2 } else { continue } }\n}\n"
	"layer L(n: int = 1) {\n  param w: Tensor[float32] = ones([n])\n  fn forward(x) { return x @ w\n  .relu(dim=1) }\n}\nmain { while true { } }\ntype Row<N> = Tensor<float32, [N, 8]>\n";

/* Cut anywhere, or with any byte replaced: never a crash, always a tree that can be walked. */
static void damaged_programs(void **state)
{
	static const char bytes[] = "(){}[]\"';:,.=<\n@f/\xff";
	char text[sizeof program];
	for (size_t n = 0; n < sizeof program; n++) {
		struct parsed p = parse_bytes(program, n);
		height_of(&p.t);
		done(&p);
		for (size_t k = 0; n + 1 < sizeof program && k < sizeof bytes; k++) {
			memcpy(text, program, sizeof program);
			text[n] = bytes[k];
			p = parse_bytes(text, sizeof program - 1);
			height_of(&p.t);
			for (uint32_t i = 0; i < items(&p).n; i++)
				ast_item_tokens(&p.t, items(&p).at[i]);
			done(&p);
		}
	}
}

static void children_precede_parents(void **state)
{
	struct parsed p = parse_text(program);
	assert_true(p.ok);
	for (node_id n = 1; n < p.t.len; n++) {
		enum node_operand a = node_operand_a(ast_kind(&p.t, n)), b = node_operand_b(ast_kind(&p.t, n));
		if (a == OPERAND_NODE || a == OPERAND_OPT)
			assert_true(ast_a(&p.t, n) < n);
		if (b == OPERAND_NODE || b == OPERAND_OPT)
			assert_true(ast_b(&p.t, n) < n);
		if (b == OPERAND_PAIR)
			assert_true(ast_first(&p.t, n) < n && ast_second(&p.t, n) < n);
	}
	done(&p);
}

/* Rows of `@` at line starts look ahead; that must not be quadratic. */
static void attribute_lookahead_is_linear(void **state)
{
	char *text = nested("fn f() {\n  let y = x", "", 300000, "", "\n@a", "\n}\n");
	struct parsed p = parse_text(text);
	assert_int_equal(diags_at(p.diags, 0)->code, DIAG_TOO_DEEP);
	done(&p);
	free(text);
}

int test_parser(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_cover_their_text),
		cmocka_unit_test(spans_of_items),
		cmocka_unit_test(accessors),
		cmocka_unit_test(layout_leaves_the_hash_alone),
		cmocka_unit_test(meaning_changes_the_hash),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(parse_goes_on_after_a_limit),
		cmocka_unit_test(damaged_programs),
		cmocka_unit_test(children_precede_parents),
		cmocka_unit_test(attribute_lookahead_is_linear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

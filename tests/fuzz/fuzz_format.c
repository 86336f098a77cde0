/* Formatting keeps the tree and every comment, and formatting a formatted file changes nothing. An input that begins with byte 0xFF is a
 * list of choices that generate a program from the grammar, with random line breaks and comments. Any other input is a source. */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/format/format.h"
#include "frontend/format/state.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/dump.h"
#include "frontend/syntax/parser.h"
#include "tests/fuzz/fuzz.h"

/* --- programs from choices --- */

struct grower {
	const uint8_t *at, *end;
	struct buf out;
	int depth, brackets;
};

static unsigned pick(struct grower *g, unsigned n) { return g->at < g->end ? *g->at++ % n : 0; }

/* White space that ends no statement, now and then with a comment. */
static void gap(struct grower *g)
{
	static const char *const inside[] = {"\n", " # c\n", "\n# own\n", " /* b */\n", "\n\n", "\n/* m\n  m */", " /*x*/ ", "\t"};
	static const char *const outside[] = {" ", " /* b */ ", "  ", "\t"};
	unsigned k = pick(g, 16);
	if (k < 8)
		buf_puts(&g->out, g->brackets ? inside[k] : outside[k % 4]);
	else
		buf_puts(&g->out, " ");
}

static void word(struct grower *g, const char *text)
{
	buf_puts(&g->out, text);
	gap(g);
}

static void open(struct grower *g, const char *text)
{
	g->brackets++;
	word(g, text);
}

static void close(struct grower *g, const char *text)
{
	g->brackets--;
	word(g, text);
}

static void expr(struct grower *g);
static void block(struct grower *g);

static void name(struct grower *g)
{
	static const char *const names[] = {"x", "y", "conv1", "a_rather_long_name_that_fills_lines", "N", "where_", "f"};
	word(g, names[pick(g, 7)]);
}

static void list(struct grower *g, void (*element)(struct grower *), unsigned least)
{
	unsigned n = least + pick(g, 4);
	for (unsigned i = 0; i < n; i++) {
		element(g);
		if (i + 1 < n || pick(g, 3) == 0)
			word(g, ",");
	}
}

static void dim(struct grower *g)
{
	static const char *const ops[] = {"+", "-", "*", "//", "%"};
	if (pick(g, 4) == 0)
		word(g, "?");
	else
		name(g);
	for (unsigned i = pick(g, 3); i; i--) {
		word(g, ops[pick(g, 5)]);
		word(g, "2");
	}
}

static void type(struct grower *g)
{
	if (g->depth > 6 || pick(g, 3) == 0) {
		word(g, "int");
		return;
	}
	g->depth++;
	switch (pick(g, 4)) {
	case 0:
		open(g, "Tensor<");
		word(g, "float32");
		word(g, ",");
		word(g, "[");
		list(g, dim, 1);
		word(g, "]");
		close(g, ">");
		break;
	case 1:
		open(g, "(");
		type(g);
		word(g, ",");
		type(g);
		close(g, ")");
		break;
	case 2:
		open(g, "[");
		type(g);
		close(g, "]");
		break;
	default: word(g, "nn.Linear"); break;
	}
	g->depth--;
}

static void leaf(struct grower *g)
{
	static const char *const leaves[] = {"1",   "2.5",     ".5", "5.",       "'s'", "f\"a{x+1}b{f'{y}'}\"", "true", "none", "x",
					     "y.z", "x .real", "-1", "f'plain'", "0x2A"};
	word(g, leaves[pick(g, 14)]);
}

static void subscript(struct grower *g)
{
	switch (pick(g, 4)) {
	case 0: word(g, "..."); break;
	case 1: word(g, ":"); break;
	case 2:
		leaf(g);
		word(g, ":");
		leaf(g);
		word(g, pick(g, 2) ? ":" : "");
		break;
	default: leaf(g); break;
	}
}

static void binary(struct grower *g)
{
	static const char *const ops[] = {
		"+", "-", "*", "/", "//", "%", "@", "**", "<", "<=", "==", "!=", "&&", "||", "..", "..=", "&", "|", "^", "<<", ">>"};
	expr(g);
	word(g, ops[pick(g, sizeof ops / sizeof *ops)]);
	expr(g);
}

static void if_expr(struct grower *g)
{
	word(g, "if");
	leaf(g);
	block(g);
	word(g, "else");
	block(g);
}

static void postfix(struct grower *g)
{
	name(g);
	for (unsigned i = 1 + pick(g, 4); i; i--) {
		unsigned k = pick(g, 4);
		open(g, k == 0 ? "[" : k == 1 ? ".reshape(" : "(");
		if (k == 3)
			word(g, "key=");
		list(g, k == 0 ? subscript : expr, k == 0 || k == 3);
		close(g, k == 0 ? "]" : ")");
	}
}

static void display(struct grower *g)
{
	open(g, "[");
	if (pick(g, 2)) {
		list(g, expr, 0);
	} else {
		expr(g);
		word(g, "for");
		name(g);
		word(g, "in");
		leaf(g);
		if (pick(g, 2)) {
			word(g, "if");
			leaf(g);
		}
	}
	close(g, "]");
}

static void expr(struct grower *g)
{
	if (g->depth > 8) {
		leaf(g);
		return;
	}
	g->depth++;
	switch (pick(g, 9)) {
	case 0: leaf(g); break;
	case 1: binary(g); break;
	case 2: postfix(g); break;
	case 3: display(g); break;
	case 4:
		open(g, "(");
		list(g, expr, 0);
		close(g, ")");
		break;
	case 5:
		word(g, pick(g, 2) ? "-" : "!");
		expr(g);
		break;
	case 6:
		leaf(g);
		word(g, "?");
		expr(g);
		word(g, ":");
		expr(g);
		break;
	case 7: if_expr(g); break;
	default: block(g); break;
	}
	g->depth--;
}

static void end_statement(struct grower *g)
{
	static const char *const ends[] = {"\n", "\n\n\n", "; ", " # c\n", "\n# own\n", "\n/* b */ ", " /* t */\n", ";;\n"};
	buf_puts(&g->out, ends[pick(g, 8)]);
}

static void simple_statement(struct grower *g)
{
	static const char *const words[] = {"let y =", "y +=",      "return",        "const K: int =", "let (a, b) =", "let a, [b, ...c] =",
					    "assert",  "x[0], y =", "let y: T<[N]>="};
	word(g, words[pick(g, 9)]);
	expr(g);
	if (pick(g, 4) == 0) {
		word(g, ",");
		expr(g);
	}
}

static void statement(struct grower *g)
{
	static const char *const heads[] = {"for i in", "while", "if"};
	unsigned k = pick(g, 8);
	if (k < 3 && g->depth < 8) {
		word(g, heads[k]);
		expr(g);
		block(g);
	} else if (k == 3) {
		expr(g);
	} else {
		simple_statement(g);
	}
}

static void block(struct grower *g)
{
	int brackets = g->brackets;
	g->depth++;
	g->brackets = 0;
	word(g, "{");
	for (unsigned i = pick(g, 4); i && g->depth < 12; i--) {
		statement(g);
		end_statement(g);
	}
	g->brackets = brackets;
	word(g, "}");
	g->depth--;
}

static void parameter(struct grower *g)
{
	name(g);
	if (pick(g, 4)) {
		word(g, ":");
		type(g);
	}
	if (pick(g, 4) == 0) {
		word(g, "=");
		leaf(g);
	}
}

static void function(struct grower *g, const char *keyword)
{
	word(g, keyword);
	word(g, "some_function");
	open(g, pick(g, 2) ? "<T: Numeric + Float, M,>(" : "(");
	list(g, parameter, 0);
	close(g, ")");
	if (pick(g, 2)) {
		word(g, "->");
		type(g);
	}
	word(g, pick(g, 2) ? "where N % 2 == 0, T: Float," : "");
	block(g);
}

static void item(struct grower *g)
{
	static const char *const plain[] = {"import nn", "from nn import Linear as L, GELU", "from nn import (A,\nB)", "type A<N>= T<[N]>"};
	if (pick(g, 4) == 0)
		buf_puts(&g->out, pick(g, 2) ? "@inline @opt(2,)\n" : "@nograd ");
	switch (pick(g, 4)) {
	case 0: function(g, "fn"); break;
	case 1: function(g, "layer"); break;
	case 2:
		word(g, "const A: int =");
		expr(g);
		break;
	default: word(g, plain[pick(g, 4)]); break;
	}
	end_statement(g);
}

/* --- what formatting must keep --- */

static void put_comments(const struct ast *t, struct buf *out)
{
	struct gap gap = {0};
	uint32_t from = 0;
	for (token_id i = 0; i < t->tokens.len; i++) {
		format_gap(t->tokens.src, from, t->tokens.starts[i], &gap);
		for (uint32_t k = 0; k < gap.comments.len; k++)
			for (uint32_t c = gap.comments.at[k].start; c < gap.comments.at[k].end; c++)
				if (!strchr(" \t\r", t->tokens.src->text[c]))
					buf_putc(out, t->tokens.src->text[c]);
		from = t->tokens.ends[i];
	}
	vec_free(&gap.comments);
}

static bool same_text(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (!a->len || memcmp(a->at, b->at, a->len) == 0);
}

static void require(bool ok, const char *what, const struct source *src, const struct buf *out, const struct buf *again)
{
	if (!ok)
		fprintf(stderr, "%s\n--- source\n%s\n--- formatted\n%s\n--- formatted twice\n%s\n", what, src->text,
			out->len ? out->at : "", again->len ? again->at : "");
	BUG_ON(!ok);
}

static void check(const struct source *src, const struct ast *before, struct sources *sources)
{
	struct buf out = {0}, again = {0}, comments[2] = {{0}}, trees[2] = {{0}};
	struct diags *diags = diags_new(0);
	struct ast after;
	format_ast(before, &out);
	bool ok = parse_source(sources_add(sources, "out.tri", out.len ? out.at : "", out.len), &after, diags);
	require(ok, "it does not parse any more", src, &out, &again);
	require(format_same(before, &after), "the tokens differ", src, &out, &again);
	put_comments(before, &comments[0]);
	put_comments(&after, &comments[1]);
	require(same_text(&comments[0], &comments[1]), "the comments differ", src, &out, &again);
	dump_ast(before, &trees[0]);
	dump_ast(&after, &trees[1]);
	require(same_text(&trees[0], &trees[1]), "the trees differ", src, &out, &again);
	format_ast(&after, &again);
	require(same_text(&out, &again), "formatting again changes it", src, &out, &again);
	ast_free(&after);
	diags_free(diags);
	buf_free(&out);
	buf_free(&again);
	for (int i = 0; i < 2; i++) {
		buf_free(&comments[i]);
		buf_free(&trees[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct grower g = {.at = data + 1, .end = data + size};
	struct ast ast;
	bool grown = size && data[0] == 0xFF;
	while (grown && g.at < g.end && g.out.len < 20000)
		item(&g);
	const char *text = !grown ? (const char *)data : g.out.at ? g.out.at : "";
	const struct source *src = sources_add(sources, "fuzz.tri", text, grown ? g.out.len : size);
	if (parse_source(src, &ast, diags))
		check(src, &ast, sources);
	ast_free(&ast);
	buf_free(&g.out);
	diags_free(diags);
	sources_free(sources);
	return 0;
}

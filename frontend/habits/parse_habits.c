/* Habits from other languages: words that start something. They are found before they are parsed, if no name could be followed by what follows
 * them. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "frontend/habits/habit_state.h"

enum { N = 1, B = 2, C = 4, P = 8, Q = 16, E = 32, A = 64, K = 128 };           /* what follows */
enum { I = HABIT_ITEM, M = HABIT_MEMBER, S = HABIT_STATEMENT, X = HABIT_EXPR }; /* where */
enum { READ_DROP = TOK_COUNT, READ_SKIP, READ_LOSE };                           /* read as, beside tokens */
enum { READ_FN = TOK_FN, READ_LAYER = TOK_LAYER, READ_PARAM = TOK_PARAM, READ_LET = TOK_LET, READ_FOR = TOK_FOR };

static const struct habit_word words[] = {
#define FOREIGN(text, follow, where, read, message, help, edit) {#text, follow, where, READ_##read, message, help, edit},
#include "frontend/habits/words.def"
#undef FOREIGN
};

struct diag *habit_report(struct parser *p, span at, const char *message, const char *help_text, const char *instead)
{
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, at, "%s", message);
	if (help_text)
		help(p, g, help_text);
	if (instead)
		edit(p, g, at, instead);
	return g;
}

/* ---- words that start something ---- */

/* May a word of our own go on with the expression after the name before token i? */
static bool goes_on(const struct parser *p, token_id i)
{
	static const char *const infix[] = {"and", "or", "is", "not", "mod", "div", "xor"};
	enum token_kind k = kind_at(p, i);
	for (size_t n = 0; k == TOK_NAME && n < COUNT(infix); n++)
		if (token_is(&p->t->tokens, i, infix[n]))
			return true;
	return k == TOK_IF || k == TOK_FOR || k == TOK_IN || k == TOK_AS || k == TOK_ELSE || k == TOK_WHERE;
}

/* Behind the generics that open at i, or i. */
static token_id after_generics(const struct parser *p, token_id i)
{
	token_id close = i;
	if (kind_at(p, i) != TOK_LT)
		return i;
	while (kind_at(p, close) != TOK_GT && !newline_at(p, close + 1))
		close++;
	return close + 1;
}

static bool body_after_parens(struct parser *p, token_id open)
{
	token_id m = kind_at(p, open) == TOK_LPAREN ? matching(p, open) : TOKEN_NONE;
	if (m == TOKEN_NONE)
		return false;
	enum token_kind k = kind_at(p, m + 1);
	return (k == TOK_LBRACE || k == TOK_ARROW || k == TOK_COLON) && !newline_at(p, m + 1);
}

/* Is the name at i another language's word for a function or layer? */
static bool begins_definition(struct parser *p, token_id i)
{
	const struct habit_word *w = habit_word_at(p, i, I);
	return w && (w->read == TOK_FN || w->read == TOK_LAYER || w->read == READ_DROP);
}

/* What follows token i on its line, as far as `asked`. */
static uint8_t following(struct parser *p, token_id i, uint8_t asked)
{
	if (newline_at(p, i + 1))
		return E & asked;
	switch (kind_at(p, i + 1)) {
	case TOK_LBRACE: return B & asked;
	case TOK_COLON: return C & asked;
	case TOK_ASSIGN: return A & asked;
	case TOK_LPAREN:
		if (asked & Q)
			return Q;
		/* fall through */
	case TOK_LT: return asked & P && body_after_parens(p, after_generics(p, i + 1)) ? P : 0;
	case TOK_RBRACE:
	case TOK_SEMICOLON:
	case TOK_EOF: return E & asked;
	default: break;
	}
	enum token_class c = token_class(kind_at(p, i + 1));
	bool name = kind_at(p, i + 1) == TOK_NAME,
	     word = name || c == TOKEN_KEYWORD || c == TOKEN_LITERAL || kind_at(p, i + 1) == TOK_HABIT_TRUE;
	if (asked & K && (c == TOKEN_KEYWORD || (name && begins_definition(p, i + 1))))
		return K;
	return word && !goes_on(p, i + 1) ? N & asked : 0;
}

const struct habit_word *habit_word_at(struct parser *p, token_id i, uint8_t where)
{
	const char *text = token_text(&p->t->tokens, i);
	uint32_t len = token_len(&p->t->tokens, i);
	for (size_t n = 0; n < COUNT(words); n++)
		if (words[n].where & where && words[n].text[0] == *text && strlen(words[n].text) == len &&
		    !memcmp(words[n].text, text, len) && following(p, i, words[n].follow))
			return &words[n];
	return NULL;
}

/* A Python class has a base, or a `:` after its head. */
static bool python_head(const struct parser *p, token_id i)
{
	for (; !newline_at(p, i + 1); i++)
		if (kind_at(p, i) == TOK_DOT || kind_at(p, i) == TOK_LBRACE)
			return kind_at(p, i) == TOK_DOT;
	return kind_at(p, i) == TOK_COLON;
}

static void drop_word(struct parser *p)
{
	bool newline = after_newline(p);
	advance(p);
	if (newline)
		p->t->tokens.kinds[p->i] |= TOKEN_NEWLINE; /* the next word starts the line now */
}

void skip_statement(struct parser *p, token_id start)
{
	uint32_t indent = indent_of(p, start);
	do
		skip_token(p);
	while (p->k != TOK_EOF && p->k != TOK_RBRACE && p->k != TOK_SEMICOLON && !(after_newline(p) && indent_of(p, p->i) <= indent));
}

static enum habit read_as(struct parser *p, const struct habit_word *w, unsigned where, struct diag *g)
{
	unsigned read = w->read;
	if (read == TOK_LET && where & HABIT_ITEM) {
		read = TOK_CONST;
		edit(p, g, here(p), "const");
	}
	if (!(where & (I | M)) && (read == TOK_FN || read == TOK_LAYER || read == TOK_PARAM))
		read = READ_SKIP;
	if (read == TOK_LAYER && python_head(p, p->i))
		read = READ_SKIP;
	if (read == READ_DROP) {
		recovered(p, g);
		drop_word(p);
		return HABIT_GO_ON;
	}
	if (read < TOK_COUNT) {
		recovered(p, g);
		p->told_block = p->told_block || read == TOK_FN || read == TOK_LAYER;
		read_token_as(p, (enum token_kind)read);
		return HABIT_GO_ON;
	}
	if (g && read == READ_LOSE)
		g->sound = true;
	skip_statement(p, p->i);
	while (p->k == TOK_NAME && (token_is(&p->t->tokens, p->i, "except") || token_is(&p->t->tokens, p->i, "catch") ||
				    token_is(&p->t->tokens, p->i, "finally")))
		skip_statement(p, p->i); /* goes with the `try` */
	p->panic = false;
	return HABIT_SKIPPED;
}

/* `int main() {` */
static enum habit c_main(struct parser *p)
{
	token_id close = matching(p, p->i + 2), last = close == TOKEN_NONE ? p->i + 2 : close;
	struct diag *g =
		habit_report(p, between(p, p->i, last), "`int main()` does not start the main block; write `main { … }`", NULL, "main");
	sound(p, g);
	jump(p, last);
	read_token_as(p, TOK_MAIN);
	return HABIT_GO_ON;
}

/* `int k = 3`, `float f(float x) {` */
static enum habit c_declaration(struct parser *p, unsigned where)
{
	const struct tokens *t = &p->t->tokens;
	static const char *const types[] = {"double", "long", "short", "unsigned", "char", "string", "void", "Tensor", "TernaryTensor"};
	if (newline_at(p, p->i + 1))
		return HABIT_NONE;
	if (kind_at(p, p->i + 1) == TOK_MAIN && kind_at(p, p->i + 2) == TOK_LPAREN && where & HABIT_ITEM)
		return c_main(p);
	if (kind_at(p, p->i + 1) != TOK_NAME)
		return HABIT_NONE;
	bool type = names_dtype(p, p->i);
	for (size_t i = 0; i < COUNT(types); i++)
		type = type || token_is(t, p->i, types[i]);
	enum token_kind after = kind_at(p, p->i + 2);
	if (!type || (after != TOK_LPAREN && after != TOK_ASSIGN && after != TOK_SEMICOLON))
		return HABIT_NONE;
	span both = between(p, p->i, p->i + 1);
	int n_type = (int)token_len(t, p->i), n_name = (int)token_len(t, p->i + 1);
	const char *type_text = token_text(t, p->i), *name = token_text(t, p->i + 1), *keyword = where & HABIT_ITEM ? "const" : "let";
	if (after == TOK_LPAREN) {
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, both, "a type does not start a function; write `fn %.*s(…) -> %.*s { … }`",
					  n_name < 64 ? n_name : 64, name, n_type, type_text);
		help(p, g, "an argument's type follows its name: `x: float`");
		edit_as(p, g, both, "fn %.*s", n_name, name);
	} else {
		struct diag *g = habit_report(p, both, "the type is before the name; write it behind, after a `:`", NULL, NULL);
		edit_as(p, g, both, "%s %.*s: %.*s", keyword, n_name, name, n_type, type_text);
	}
	skip_statement(p, p->i);
	p->panic = false;
	return HABIT_SKIPPED;
}

/* `retrun x`: a keyword with a slip, followed by what no name is followed by. */
static enum habit misspelt_keyword(struct parser *p, unsigned where)
{
	static const struct {
		const char *text;
		uint8_t kind, where;
	} keywords[] = {
		{"fn", TOK_FN, I | M},     {"layer", TOK_LAYER, I},   {"const", TOK_CONST, I | M | S},
		{"type", TOK_TYPE, I},     {"import", TOK_IMPORT, I}, {"from", TOK_FROM, I},
		{"main", TOK_MAIN, I},     {"param", TOK_PARAM, M},   {"let", TOK_LET, I | M | S},
		{"return", TOK_RETURN, S}, {"if", TOK_IF, S},         {"for", TOK_FOR, S},
		{"while", TOK_WHILE, S},   {"break", TOK_BREAK, S},   {"continue", TOK_CONTINUE, S},
	};
	const char *names[COUNT(keywords)];
	uint32_t n = 0;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].where & where)
			names[n++] = keywords[i].text;
	char word[16];
	if (!following(p, p->i, N) && !(where & HABIT_ITEM && following(p, p->i, B)))
		return HABIT_NONE;
	if (token_len(&p->t->tokens, p->i) >= sizeof word)
		return HABIT_NONE;
	snprintf(word, sizeof word, "%.*s", (int)token_len(&p->t->tokens, p->i), token_text(&p->t->tokens, p->i));
	const char *near = diag_nearest(word, names, n);
	if (!near)
		return HABIT_NONE;
	struct diag *g = error_at(p, where & HABIT_ITEM ? DIAG_EXPECTED_ITEM : DIAG_STATEMENT_END, here(p), "`%s` starts nothing", word);
	if (g) {
		diag_help(p->diags, g, "did you mean `%s`?", near);
		edit(p, g, here(p), near);
		sound(p, g);
	}
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].text == near)
			read_token_as(p, (enum token_kind)keywords[i].kind);
	return HABIT_GO_ON;
}

/* `i++` as a statement: `+` and what the next line begins with would be an operand. */
static enum habit increment(struct parser *p, unsigned where)
{
	enum token_kind k = kind_at(p, p->i + 1);
	if (!(where & S) || (k != TOK_PLUS && k != TOK_MINUS) || kind_at(p, p->i + 2) != k || !habit_pair(p, p->i + 1))
		return HABIT_NONE;
	jump(p, p->i + 3);
	p->panic = false;
	return HABIT_SKIPPED;
}

/* `net = Sequential(…)` outside definitions */
static enum habit global(struct parser *p, unsigned where)
{
	if (!(where & I) || kind_at(p, p->i + 1) != TOK_ASSIGN || newline_at(p, p->i + 1))
		return HABIT_NONE;
	struct diag *g = habit_report(p, here(p), "this value has no keyword; use `const` outside functions and layers",
				      "layers are made in a layer's body: `layer Net() { let fc = nn.Linear(64, 10) … }`", NULL);
	if (g && token_class(kind_at(p, p->i + 2)) == TOKEN_LITERAL)
		edit(p, g, (span){here(p).source, here(p).start, here(p).start}, "const ");
	skip_statement(p, p->i);
	p->panic = false;
	return HABIT_SKIPPED;
}

/* Does a `{` or, at its end, a `:` stand on the line of token i? */
static bool block_on_line(const struct parser *p, token_id i)
{
	while (kind_at(p, i) != TOK_LBRACE && !newline_at(p, i + 1))
		i++;
	return kind_at(p, i) == TOK_LBRACE || kind_at(p, i) == TOK_COLON;
}

/* `forward(x) {` */
static enum habit function_without_fn(struct parser *p, unsigned where)
{
	bool statement = !(where & (I | M));
	if (!following(p, p->i, P) || !block_on_line(p, p->i) || (statement && kind_at(p, p->i + 1) != TOK_LPAREN))
		return HABIT_NONE;
	struct diag *g = habit_report(p, here(p), "a function starts with `fn`",
				      statement ? "it stands at the top level of the file or in a layer's body" : NULL, NULL);
	if (!statement)
		edit(p, g, (span){here(p).source, here(p).start, here(p).start}, "fn ");
	skip_statement(p, p->i);
	p->panic = false;
	return HABIT_SKIPPED;
}

/* `Tensor<float32, [3, 4]>`, `trit`: a type and nothing else where a definition is expected. */
static enum habit type_alone(struct parser *p, unsigned where)
{
	const struct tokens *t = &p->t->tokens;
	bool tensor = token_is(t, p->i, "Tensor") || token_is(t, p->i, "TernaryTensor");
	enum token_kind next = kind_at(p, p->i + 1);
	bool declares = !newline_at(p, p->i + 1) && (next == TOK_NAME || next == TOK_MAIN || next == TOK_ASSIGN || next == TOK_COLON);
	if (!(where & I) || !(tensor || names_dtype(p, p->i)) || declares || next == TOK_LPAREN)
		return HABIT_NONE;
	token_id first = p->i;
	skip_statement(p, first);
	struct diag *g = habit_report(p, between(p, first, p->i - 1), "a type alone defines nothing", NULL, NULL);
	edit(p, g, (span){t->src->id, t->starts[first], t->starts[first]}, "type Name = ");
	if (g) {
		g->unsure = true;
		diag_help(p->diags, g, "give it a name, `type Name = …`, or use it for an argument: `fn f(x: Tensor<float32, [3, 4]>)`");
	}
	p->panic = false;
	return HABIT_SKIPPED;
}

static bool assigned_on_line(const struct parser *p, token_id i)
{
	while (!newline_at(p, i + 1) && kind_at(p, i) != TOK_ASSIGN)
		i++;
	return kind_at(p, i) == TOK_ASSIGN;
}

/* `fc1: Linear(784, 256)`, `w: Tensor<float32, [4]>` in a layer's body */
static void member_without_let(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id type = p->i + 2;
	bool dims = kind_at(p, type + 1) == TOK_LBRACKET &&
		    (names_dtype(p, type) || token_is(t, type, "ternary") || token_is(t, type, "f32")),
	     tensor = dims || token_is(t, type, "Tensor") || token_is(t, type, "TernaryTensor");
	bool called = kind_at(p, type) == TOK_NAME && (kind_at(p, type + 1) == TOK_LPAREN || kind_at(p, type + 1) == TOK_DOT);
	struct diag *g = habit_report(p, here(p), "this member has no keyword; declare it with `let` or `param`",
				      "write `let fc = nn.Linear(64, 10)`, or `param w: Tensor<float32, [4]>`", NULL);
	if (tensor) {
		edit(p, g, (span){here(p).source, here(p).start, here(p).start}, "param ");
	} else if (called) {
		edit_as(p, g, between(p, p->i, p->i + 1), "let %.*s =", (int)token_len(t, p->i), token_text(t, p->i));
	}
}

/* `k: int = 3`, and the `a: 1` of a dictionary */
static enum habit declaration_without_let(struct parser *p, unsigned where)
{
	if (kind_at(p, p->i + 1) != TOK_COLON || newline_at(p, p->i + 1) || newline_at(p, p->i + 2) || kind_at(p, p->i + 2) == TOK_COLON ||
	    kind_at(p, p->i + 2) == TOK_ASSIGN)
		return HABIT_NONE;
	span before = {here(p).source, here(p).start, here(p).start};
	if (where & HABIT_MEMBER) {
		member_without_let(p);
	} else if (p->i && kind_at(p, p->i - 1) == TOK_LBRACE && !after_newline(p)) {
		habit_report(p, here(p), "a dictionary is not supported", "use arguments, constants or tuples", NULL);
	} else if (!assigned_on_line(p, p->i)) {
		return HABIT_NONE;
	} else {
		bool item = where & HABIT_ITEM;
		struct diag *g = habit_report(p, here(p),
					      item ? "this constant has no keyword; declare it with `const`"
						   : "this variable has no keyword; declare it with `let`",
					      NULL, NULL);
		edit(p, g, before, item ? "const " : "let ");
	}
	skip_statement(p, p->i);
	p->panic = false;
	return HABIT_SKIPPED;
}

enum habit habit_start(struct parser *p, unsigned where)
{
	if (p->panic)
		return HABIT_NONE;
	const struct habit_word *w = habit_word_at(p, p->i, (uint8_t)(where | (where & S ? X : 0)));
	if (w) {
		struct diag *g = habit_report(p, here(p), w->message, w->help, w->edit);
		if (w->edit && !*w->edit && !newline_at(p, p->i + 1)) /* the blank after it, too */
			edit(p, g, (span){here(p).source, here(p).start, p->t->tokens.starts[p->i + 1]}, "");
		return read_as(p, w, where, g);
	}
	static enum habit (*const habits[])(struct parser *, unsigned) = {
		c_declaration, type_alone, function_without_fn, declaration_without_let, increment, global, misspelt_keyword,
	};
	enum habit f = HABIT_NONE;
	for (size_t i = 0; !f && i < COUNT(habits); i++)
		f = habits[i](p, where);
	return f;
}

bool habit_definition(struct parser *p)
{
	if (p->k != TOK_NAME)
		return p->k == TOK_LET;
	const struct habit_word *w = habit_word_at(p, p->i, HABIT_ITEM);
	return w && !(w->where & HABIT_STATEMENT && w->read != TOK_FN && w->read != TOK_LAYER);
}

/* Habits from other languages: what to write instead. Words that start something are found before they are parsed, if no name could be followed by
 * what follows them; operators and other signs only where the parser has no other use for them. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "frontend/dtype.h"
#include "frontend/parse_state.h"

enum { N = 1, B = 2, C = 4, P = 8, Q = 16, E = 32, A = 64 };                            /* what follows */
enum { I = FOREIGN_ITEM, M = FOREIGN_MEMBER, S = FOREIGN_STATEMENT, X = FOREIGN_EXPR }; /* where */
enum { READ_DROP = TOK_COUNT, READ_SKIP, READ_LOSE };                                   /* read as, beside tokens */
enum { READ_FN = TOK_FN, READ_LAYER = TOK_LAYER, READ_PARAM = TOK_PARAM, READ_LET = TOK_LET, READ_FOR = TOK_FOR };

static const struct word {
	const char *text;
	uint8_t follow, where, read;
	const char *message, *help, *edit;
} words[] = {
#define FOREIGN(text, follow, where, read, message, help, edit) {#text, follow, where, READ_##read, message, help, edit},
#include "frontend/foreign_words.def"
#undef FOREIGN
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static enum token_kind kind_at(const struct parser *p, token_id i) { return i < p->t->tokens.len ? token_kind(&p->t->tokens, i) : TOK_EOF; }
static bool newline_at(const struct parser *p, token_id i) { return i >= p->t->tokens.len || token_after_newline(&p->t->tokens, i); }
static bool adjacent(const struct parser *p, token_id i) { return p->t->tokens.ends[i] == p->t->tokens.starts[i + 1]; }

static struct diag *foreign_at(struct parser *p, span at, const char *message, const char *help_text, const char *instead)
{
	struct diag *g = error_at(p, DIAG_FOREIGN_SYNTAX, at, "%s", message);
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

static bool body_after_parens(struct parser *p, token_id open)
{
	token_id m = matching(p, open);
	if (m == TOKEN_NONE)
		return false;
	enum token_kind k = kind_at(p, m + 1);
	return (k == TOK_LBRACE || k == TOK_ARROW || k == TOK_COLON) && !newline_at(p, m + 1);
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
		return asked & P && body_after_parens(p, i + 1) ? P : 0;
	case TOK_RBRACE:
	case TOK_SEMICOLON:
	case TOK_EOF: return E & asked;
	default: break;
	}
	enum token_class c = token_class(kind_at(p, i + 1));
	bool word = kind_at(p, i + 1) == TOK_NAME || c == TOKEN_KEYWORD || c == TOKEN_LITERAL || kind_at(p, i + 1) == TOK_FOREIGN_TRUE;
	return word && !goes_on(p, i + 1) ? N & asked : 0;
}

static const struct word *find_word(struct parser *p, token_id i, uint8_t where)
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

void skip_foreign(struct parser *p, token_id start)
{
	uint32_t indent = indent_of(p, start);
	do
		skip_token(p);
	while (p->k != TOK_EOF && p->k != TOK_RBRACE && p->k != TOK_SEMICOLON && !(after_newline(p) && indent_of(p, p->i) <= indent));
}

static enum foreign read_as(struct parser *p, const struct word *w, unsigned where, struct diag *g)
{
	unsigned read = w->read;
	if (read == TOK_LET && where & FOREIGN_ITEM) {
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
		return FOREIGN_GO_ON;
	}
	if (read < TOK_COUNT) {
		recovered(p, g);
		p->told_block = p->told_block || read == TOK_FN || read == TOK_LAYER;
		read_token_as(p, (enum token_kind)read);
		return FOREIGN_GO_ON;
	}
	if (g && read == READ_LOSE)
		g->sound = true;
	skip_foreign(p, p->i);
	while (p->k == TOK_NAME && (token_is(&p->t->tokens, p->i, "except") || token_is(&p->t->tokens, p->i, "catch") ||
				    token_is(&p->t->tokens, p->i, "finally")))
		skip_foreign(p, p->i); /* goes with the `try` */
	p->panic = false;
	return FOREIGN_SKIPPED;
}

/* `int k = 3`, `float f(float x) {` */
static enum foreign c_declaration(struct parser *p, unsigned where)
{
	const struct tokens *t = &p->t->tokens;
	static const char *const types[] = {"double", "long", "short", "unsigned", "char", "string", "void", "Tensor", "TernaryTensor"};
	char text[160], name[32];
	bool type = false;
	if (kind_at(p, p->i + 1) != TOK_NAME || newline_at(p, p->i + 1))
		return FOREIGN_NONE;
	snprintf(name, sizeof name, "%.*s", (int)token_len(t, p->i), token_text(t, p->i));
	type = dtype_find(name) != DT_COUNT;
	for (size_t i = 0; i < COUNT(types); i++)
		type = type || !strcmp(name, types[i]);
	enum token_kind after = kind_at(p, p->i + 2);
	if (!type || (after != TOK_LPAREN && after != TOK_ASSIGN && after != TOK_SEMICOLON))
		return FOREIGN_NONE;
	int n = (int)(token_len(t, p->i + 1) < 64 ? token_len(t, p->i + 1) : 64);
	const char *declared = token_text(t, p->i + 1), *keyword = where & FOREIGN_ITEM ? "const" : "let";
	if (after == TOK_LPAREN) {
		snprintf(text, sizeof text, "a function is defined with `fn`: `fn %.*s(…) -> %s { … }`", n, declared, name);
		foreign_at(p, between(p, p->i, p->i + 1), text, "an argument's type follows its name: `x: float`", NULL);
	} else {
		struct diag *g = foreign_at(p, between(p, p->i, p->i + 1), "a type follows the name that it is given to", NULL, NULL);
		snprintf(text, sizeof text, "%s %.*s: %s", keyword, n, declared, name);
		edit(p, g, between(p, p->i, p->i + 1), text);
	}
	skip_foreign(p, p->i);
	p->panic = false;
	return FOREIGN_SKIPPED;
}

/* `retrun x`: a keyword with a slip, followed by what no name is followed by. */
static enum foreign misspelt_keyword(struct parser *p, unsigned where)
{
	static const struct {
		const char *text;
		uint8_t kind, where;
	} keywords[] = {
		{"fn", TOK_FN, I | M},     {"layer", TOK_LAYER, I},   {"const", TOK_CONST, I | M | S},
		{"type", TOK_TYPE, I},     {"import", TOK_IMPORT, I}, {"from", TOK_FROM, I},
		{"main", TOK_MAIN, I},     {"param", TOK_PARAM, M},   {"let", TOK_LET, M | S},
		{"return", TOK_RETURN, S}, {"if", TOK_IF, S},         {"for", TOK_FOR, S},
		{"while", TOK_WHILE, S},   {"break", TOK_BREAK, S},   {"continue", TOK_CONTINUE, S},
	};
	const char *names[COUNT(keywords)];
	uint32_t n = 0;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].where & where)
			names[n++] = keywords[i].text;
	char word[16];
	if (!following(p, p->i, N) && !(where & FOREIGN_ITEM && following(p, p->i, B)))
		return FOREIGN_NONE;
	if (token_len(&p->t->tokens, p->i) >= sizeof word)
		return FOREIGN_NONE;
	snprintf(word, sizeof word, "%.*s", (int)token_len(&p->t->tokens, p->i), token_text(&p->t->tokens, p->i));
	const char *near = diag_nearest(word, names, n);
	if (!near)
		return FOREIGN_NONE;
	struct diag *g = error_at(p, where & FOREIGN_ITEM ? DIAG_EXPECTED_ITEM : DIAG_STATEMENT_END, here(p), "`%s` starts nothing", word);
	if (g) {
		diag_help(p->diags, g, "did you mean `%s`?", near);
		edit(p, g, here(p), near);
		sound(p, g);
	}
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].text == near)
			read_token_as(p, (enum token_kind)keywords[i].kind);
	return FOREIGN_GO_ON;
}

/* `forward(x) {` */
static enum foreign function_without_fn(struct parser *p, unsigned where)
{
	if (!(where & (I | M)) || !following(p, p->i, P))
		return FOREIGN_NONE;
	struct diag *g = foreign_at(p, here(p), "a function is defined with `fn`", NULL, NULL);
	edit(p, g, (span){here(p).source, here(p).start, here(p).start}, "fn ");
	skip_foreign(p, p->i);
	p->panic = false;
	return FOREIGN_SKIPPED;
}

static bool assigned_on_line(const struct parser *p, token_id i)
{
	while (!newline_at(p, i + 1) && kind_at(p, i) != TOK_ASSIGN)
		i++;
	return kind_at(p, i) == TOK_ASSIGN;
}

/* `k: int = 3`, and the `a: 1` of a dictionary */
static enum foreign declaration_without_let(struct parser *p, unsigned where)
{
	if (kind_at(p, p->i + 1) != TOK_COLON || newline_at(p, p->i + 1) || newline_at(p, p->i + 2) || kind_at(p, p->i + 2) == TOK_COLON ||
	    kind_at(p, p->i + 2) == TOK_ASSIGN)
		return FOREIGN_NONE;
	span before = {here(p).source, here(p).start, here(p).start};
	if (where & FOREIGN_MEMBER) {
		foreign_at(p, here(p), "a member of a layer is declared with `let` or `param`",
			   "write `let fc = nn.Linear(64, 10)`, or `param w: Tensor<float32, [4]>`", NULL);
	} else if (p->i && kind_at(p, p->i - 1) == TOK_LBRACE && !after_newline(p)) {
		foreign_at(p, here(p), "there are no dictionaries", "use arguments, constants or tuples", NULL);
	} else if (!assigned_on_line(p, p->i)) {
		return FOREIGN_NONE;
	} else {
		bool item = where & FOREIGN_ITEM;
		struct diag *g = foreign_at(p, here(p), item ? "a constant is declared with `const`" : "a variable is declared with `let`",
					    NULL, NULL);
		edit(p, g, before, item ? "const " : "let ");
	}
	skip_foreign(p, p->i);
	p->panic = false;
	return FOREIGN_SKIPPED;
}

enum foreign foreign_start(struct parser *p, unsigned where)
{
	if (p->panic)
		return FOREIGN_NONE;
	const struct word *w = find_word(p, p->i, (uint8_t)(where | (where & S ? X : 0)));
	if (w) {
		struct diag *g = foreign_at(p, here(p), w->message, w->help, w->edit);
		if (w->edit && !*w->edit && !newline_at(p, p->i + 1)) /* the blank after it, too */
			edit(p, g, (span){here(p).source, here(p).start, p->t->tokens.starts[p->i + 1]}, "");
		return read_as(p, w, where, g);
	}
	enum foreign f = c_declaration(p, where);
	if (!f)
		f = function_without_fn(p, where);
	if (!f)
		f = declaration_without_let(p, where);
	return f ? f : misspelt_keyword(p, where);
}

bool foreign_definition(struct parser *p)
{
	if (p->k != TOK_NAME)
		return p->k == TOK_LET;
	const struct word *w = find_word(p, p->i, FOREIGN_ITEM);
	return w && !(w->where & FOREIGN_STATEMENT && w->read != TOK_FN && w->read != TOK_LAYER);
}

/* ---- operators that are words ---- */

static const struct {
	const char *text, *message, *instead;
	uint8_t kind;
} operators[] = {
	{"and", "`and` is written `&&`", "&&", TOK_AND},
	{"or", "`or` is written `||`", "||", TOK_OR},
	{"is", "values are compared with `==`", "==", TOK_EQ},
	{"mod", "the remainder is written `%`", "%", TOK_PERCENT},
	{"div", "integer division is written `//`", "//", TOK_SLASH2},
	{"xor", "exclusive or of bools is written `!=`", "!=", TOK_NE},
};

bool foreign_operator(struct parser *p)
{
	for (size_t i = 0; i < COUNT(operators); i++) {
		if (!token_is(&p->t->tokens, p->i, operators[i].text))
			continue;
		bool is_not = operators[i].kind == TOK_EQ && kind_at(p, p->i + 1) == TOK_NAME && token_is(&p->t->tokens, p->i + 1, "not");
		span at = between(p, p->i, p->i + is_not);
		sound(p, foreign_at(p, at, is_not ? "values are compared with `!=`" : operators[i].message, NULL,
				    is_not ? "!=" : operators[i].instead));
		if (is_not)
			advance(p);
		read_token_as(p, is_not ? TOK_NE : (enum token_kind)operators[i].kind);
		return true;
	}
	return false;
}

bool foreign_not(struct parser *p)
{
	if (!token_is(&p->t->tokens, p->i, "not") || newline_at(p, p->i + 1))
		return false;
	enum token_kind k = kind_at(p, p->i + 1);
	bool operand =
		k == TOK_NAME || k == TOK_LPAREN || k == TOK_TRUE || k == TOK_FALSE || k == TOK_FOREIGN_TRUE || k == TOK_FOREIGN_FALSE;
	if (!operand)
		return false;
	struct diag *g = foreign_at(p, here(p), "`not` is written `!`", NULL, NULL);
	edit(p, g, (span){p->t->tokens.src->id, p->t->tokens.starts[p->i], p->t->tokens.starts[p->i + 1]}, "!");
	sound(p, g);
	read_token_as(p, TOK_BANG);
	return true;
}

void foreign_declaration(struct parser *p)
{
	static const char *const modifiers[] = {"mut", "var", "rec", "ref", "static", "auto", "const", "local"};
	const struct tokens *t = &p->t->tokens;
	char name[32], text[128];
	span to_name = {t->src->id, t->starts[p->i], t->starts[p->i + 1]};
	for (size_t i = 0; i < COUNT(modifiers); i++) {
		if (!token_is(t, p->i, modifiers[i]))
			continue;
		struct diag *g = foreign_at(p, here(p), "every local can be assigned to: `let` is all that is needed", NULL, NULL);
		edit(p, g, to_name, "");
		sound(p, g);
		advance(p);
		return;
	}
	snprintf(name, sizeof name, "%.*s", (int)token_len(t, p->i), token_text(t, p->i));
	if (dtype_find(name) == DT_COUNT)
		return;
	struct diag *g = foreign_at(p, between(p, p->i, p->i + 1), "a type follows the name and a `:`", NULL, NULL);
	snprintf(text, sizeof text, "%.*s: %s", (int)(token_len(t, p->i + 1) < 64 ? token_len(t, p->i + 1) : 64), token_text(t, p->i + 1),
		 name);
	edit(p, g, between(p, p->i, p->i + 1), text);
	sound(p, g);
	advance(p);
}

bool foreign_else_if(struct parser *p)
{
	if (p->k != TOK_NAME ||
	    !(token_is(&p->t->tokens, p->i, "elif") || token_is(&p->t->tokens, p->i, "elseif") || token_is(&p->t->tokens, p->i, "elsif")))
		return false;
	if (p->told_block)
		p->failed = true;
	else
		sound(p, foreign_at(p, here(p), "this is written `else if`", NULL, "else if"));
	read_token_as(p, TOK_IF);
	return true;
}

/* ---- types in calls, heads of loops ---- */

/* The `>` of type arguments that open at i and are followed by a call or a member, or TOKEN_NONE. */
static token_id closing_angle(const struct parser *p, token_id i)
{
	enum { MOST = 64 };
	uint32_t depth = 0;
	for (token_id first = i; i < first + MOST; i++) {
		enum token_kind k = kind_at(p, i);
		depth += k == TOK_LT;
		if (k == TOK_GT && !--depth)
			return adjacent(p, i) && (kind_at(p, i + 1) == TOK_LPAREN || kind_at(p, i + 1) == TOK_DOT) ? i : TOKEN_NONE;
		bool inside = k == TOK_LT || k == TOK_GT || k == TOK_NAME || k == TOK_INT || k == TOK_COMMA || k == TOK_LBRACKET ||
			      k == TOK_RBRACKET || k == TOK_QUESTION || k == TOK_DOT || k == TOK_STAR;
		if (!inside || (newline_at(p, i) && i > first))
			return TOKEN_NONE;
	}
	return TOKEN_NONE;
}

bool foreign_type_arguments(struct parser *p, node_id callee)
{
	enum node_kind k = ast_kind(p->t, callee);
	if ((k != NODE_NAME && k != NODE_MEMBER) || p->panic || !p->i || !adjacent(p, p->i - 1) || !adjacent(p, p->i))
		return false;
	token_id close = closing_angle(p, p->i), name = ast_token(p->t, callee);
	if (close == TOKEN_NONE)
		return false;
	bool tensor = token_is(&p->t->tokens, name, "Tensor") || token_is(&p->t->tokens, name, "TernaryTensor");
	struct diag *g = foreign_at(p, between(p, p->i, close), "a call takes no type arguments", NULL, NULL);
	help(p, g,
	     tensor ? "a tensor is made by `zeros([3, 4])`, `full([3, 4], 0.5)` or `tensor([[1, 2], [3, 4]])`"
		    : "types and dimensions are found from the arguments; an element type is given by `dtype=float32`, a cast is `float32(x)`");
	if (g && !tensor)
		diag_guess(p->diags, g, between(p, p->i, close), "");
	recovered(p, g);
	jump(p, close + 1);
	return true;
}

/* To the body's `{` on this line; false: there is none. */
static bool skip_to_body(struct parser *p)
{
	while (p->k != TOK_LBRACE && p->k != TOK_EOF && p->k != TOK_RBRACE && !after_newline(p)) {
		if (p->k == TOK_LPAREN || p->k == TOK_LBRACKET)
			skip_token(p);
		else
			advance(p);
	}
	return p->k == TOK_LBRACE;
}

/* for (i in xs), for (int i = 0; …; …) */
static bool loop_parens(struct parser *p)
{
	token_id open = p->i, close = matching(p, open), first = TOKEN_NONE;
	if (close == TOKEN_NONE || close == open + 1 || kind_at(p, close + 1) == TOK_IN)
		return false;
	for (token_id i = open + 1; i < close && first == TOKEN_NONE; i++) {
		enum token_kind k = kind_at(p, i);
		if (k == TOK_IN || k == TOK_SEMICOLON || k == TOK_COLON || k == TOK_ASSIGN ||
		    (k == TOK_NAME && token_is(&p->t->tokens, i, "of")))
			first = i;
	}
	if (first == TOKEN_NONE)
		return false;
	struct diag *g =
		foreign_at(p, between(p, open, close), "a loop is written `for i in 0..n { … }`, or `for x in xs { … }`", NULL, NULL);
	const struct tokens *t = &p->t->tokens;
	if (g && kind_at(p, first) == TOK_IN && first == open + 2) {
		char text[128];
		snprintf(text, sizeof text, "%.*s", (int)(t->starts[close] - t->ends[open]), t->src->text + t->ends[open]);
		if (strlen(text) + 1 < sizeof text)
			edit(p, g, between(p, open, close), text);
	}
	recovered(p, g);
	jump(p, close + 1);
	return true;
}

static bool brace_on_line(const struct parser *p, token_id i)
{
	while (kind_at(p, i) != TOK_LBRACE && !newline_at(p, i + 1))
		i++;
	return kind_at(p, i) == TOK_LBRACE;
}

static bool range_word(const struct parser *p)
{
	static const char *const range_words[] = {"to", "upto", "downto", "until", "step", "by", "of"};
	for (size_t i = 0; p->k == TOK_NAME && i < COUNT(range_words); i++)
		if (token_is(&p->t->tokens, p->i, range_words[i]))
			return true;
	return p->k == TOK_DOT3 || (p->k == TOK_COLON && brace_on_line(p, p->i));
}

bool foreign_loop_head(struct parser *p, token_id keyword)
{
	if (p->panic)
		return false;
	if (p->k == TOK_LPAREN)
		return loop_parens(p);
	if (p->k != TOK_ASSIGN && !range_word(p))
		return false;
	struct diag *g = foreign_at(p, here(p), "a loop runs over a range `a..b`, `a..=b` or `a..b:step`, or over a list", NULL, NULL);
	bool dots = p->k == TOK_DOT3 || p->k == TOK_COLON || (p->k == TOK_NAME && token_is(&p->t->tokens, p->i, "to"));
	if (g && dots && p->i > keyword)
		diag_guess(p->diags, g, here(p), p->k == TOK_NAME ? "..=" : "..");
	if (skip_to_body(p))
		recovered(p, g);
	return true;
}

/* ---- signs where the parser has no use for them ---- */

static const struct {
	uint8_t first, second;
	const char *message, *help, *instead;
	bool guess;
} pairs[] = {
	{TOK_SLASH2, TOK_ASSIGN, "there is no `//=`", "write `x = x // …`", NULL, false},
	{TOK_STAR2, TOK_ASSIGN, "there is no `**=`", "write `x = x ** …`", NULL, false},
	{TOK_PERCENT, TOK_ASSIGN, "there is no `%=`", "write `x = x % …`", NULL, false},
	{TOK_AND, TOK_ASSIGN, "there is no `&&=`", "write `x = x && …`", NULL, false},
	{TOK_OR, TOK_ASSIGN, "there is no `||=`", "write `x = x || …`", NULL, false},
	{TOK_EQ, TOK_ASSIGN, "equality is written `==`", NULL, "==", false},
	{TOK_NE, TOK_ASSIGN, "inequality is written `!=`", NULL, "!=", false},
	{TOK_LT, TOK_GT, "inequality is written `!=`", NULL, "!=", false},
	{TOK_LT, TOK_LT, "there are no operators on bits", "multiply by a power of two: `x * 2 ** n`", NULL, false},
	{TOK_GT, TOK_GT, "there are no operators on bits", "divide by a power of two: `x // 2 ** n`", NULL, false},
	{TOK_ASSIGN, TOK_GT, "there is no `=>`", "a function is defined with `fn f(x: …) -> … { … }`, a choice is `if c { a } else { b }`",
	 NULL, false},
	{TOK_COLON, TOK_COLON, "a member is reached with `.`", "`nn.Linear`; a call takes no types: `zeros([3], dtype=float32)`", ".",
	 true},
	{TOK_COLON, TOK_ASSIGN, "a variable is declared with `let x = …`", NULL, NULL, false},
	{TOK_PLUS, TOK_PLUS, "there is no `++`: write `+= 1`", NULL, "+= 1", false},
	{TOK_MINUS, TOK_MINUS, "there is no `--`: write `-= 1`", NULL, "-= 1", false},
	{TOK_QUESTION, TOK_QUESTION, "there is no `??`: a value is `none` or not when it is compiled", "write `x == none ? a : x`", NULL,
	 false},
	{TOK_QUESTION, TOK_DOT, "there is no `?.`: write `.`", NULL, ".", false},
	{TOK_DOT, TOK_STAR, "operators work element by element: write `*`", NULL, "*", false},
	{TOK_DOT, TOK_SLASH, "operators work element by element: write `/`", NULL, "/", false},
	{TOK_DOT, TOK_AT, "a product of matrices is written `@`", NULL, "@", false},
	{TOK_DOT, TOK_PLUS, "operators work element by element: write `+`", NULL, "+", false},
};

/* An increment as a statement by itself, so that an edit is sure. */
static bool ends_after(const struct parser *p, token_id i)
{
	enum token_kind k = kind_at(p, i + 1);
	return newline_at(p, i + 1) || k == TOK_SEMICOLON || k == TOK_RBRACE || k == TOK_EOF;
}

static bool foreign_pair(struct parser *p, token_id i)
{
	if (i + 1 >= p->t->tokens.len || !adjacent(p, i))
		return false;
	for (size_t n = 0; n < COUNT(pairs); n++) {
		if (kind_at(p, i) != pairs[n].first || kind_at(p, i + 1) != pairs[n].second)
			continue;
		bool step = pairs[n].first == pairs[n].second && (pairs[n].first == TOK_PLUS || pairs[n].first == TOK_MINUS);
		if (step && !ends_after(p, i + 1))
			continue;
		struct diag *g = foreign_at(p, between(p, i, i + 1), pairs[n].message, pairs[n].help, NULL);
		if (g && pairs[n].instead && pairs[n].guess)
			diag_guess(p->diags, g, between(p, i, i + 1), pairs[n].instead);
		else if (pairs[n].instead)
			edit(p, g, between(p, i, i + 1), pairs[n].instead);
		return true;
	}
	return false;
}

static bool comment_sign(struct parser *p)
{
	for (token_id i = p->i < p->t->tokens.len ? p->i : p->i - 1, back = 0; back < 4; i--, back++) {
		enum token_kind k = kind_at(p, i);
		bool dashes = k == TOK_MINUS && kind_at(p, i + 1) == TOK_MINUS && adjacent(p, i);
		if ((k == TOK_SLASH2 || dashes || k == TOK_PERCENT) && newline_at(p, i)) {
			foreign_at(p, between(p, i, i + dashes), "a comment starts with `#`", NULL, "#");
			return true;
		}
		if (!i || newline_at(p, i))
			return false;
	}
	return false;
}

static bool conditional_expression(struct parser *p)
{
	if (p->k != TOK_IF || after_newline(p) || !p->i)
		return false;
	foreign_at(p, here(p), "a choice is written `c ? a : b`", "or `if c { a } else { b }`", NULL);
	return true;
}

/* Single tokens that cannot go on here. */
static bool foreign_token(struct parser *p)
{
	bool line = !after_newline(p);
	switch ((enum token_kind)p->k) {
	case TOK_AS:
		if (!line)
			return false;
		foreign_at(p, here(p), "a cast is a call of the type: `float32(x)`", NULL, NULL);
		return true;
	case TOK_IN:
		if (!line || p->in_for)
			return false;
		foreign_at(p, here(p), "there is no `in` but that of `for`", "compare: `n == 1 || n == 2`", NULL);
		return true;
	case TOK_FOR:
		if (!line)
			return false;
		foreign_at(p, here(p), "a comprehension stands in `[ ]`: `[f(x) for x in xs]`", NULL, NULL);
		return true;
	case TOK_STAR:
	case TOK_STAR2:
		if (kind_at(p, p->i - 1) != TOK_LPAREN && kind_at(p, p->i - 1) != TOK_COMMA)
			return false;
		foreign_at(p, here(p), "arguments are written one by one: nothing is unpacked or collected with `*`",
			   "a list is passed as it is: `concat(xs)`", NULL);
		return true;
	case TOK_ARROW:
		if (!line || p->in_signature)
			return false;
		foreign_at(p, here(p), "there are no pipelines: write calls, `f(x)` or `x.f()`", NULL, NULL);
		return true;
	case TOK_DOT3:
		foreign_at(p, here(p), p->newlines ? "a function has a body" : "`...` stands in an index only", NULL, NULL);
		return true;
	default: return false;
	}
}

/* `lambda x: …`, `new T(…)`: a word before or at the current token. */
static bool word_in_expression(struct parser *p)
{
	for (token_id i = p->i, back = 0; back < 2; i--, back++) {
		const struct word *w = kind_at(p, i) == TOK_NAME ? find_word(p, i, X) : NULL;
		if (w) {
			foreign_at(p, token_span(&p->t->tokens, i), w->message, w->help, NULL);
			return true;
		}
		if (!i)
			break;
	}
	return false;
}

bool foreign_habit(struct parser *p)
{
	if (p->panic || p->k == TOK_ERROR)
		return false;
	if (word_in_expression(p))
		return true;
	return comment_sign(p) || foreign_pair(p, p->i) || (p->i && foreign_pair(p, p->i - 1)) || conditional_expression(p) ||
	       foreign_token(p);
}

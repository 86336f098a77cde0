/* Habits at the start of a line: words of Python, declarations without a keyword, misspelt keywords. Each is found before it is parsed,
 * if no name could be followed by what follows it. Also the dispatch of habit_at. */
#include <stdio.h>
#include <string.h>
#include "frontend/habits/habit_state.h"

enum { N = 1, C = 2, P = 4, Q = 8, E = 16, B = 32 }; /* what follows */
enum { I = 1, M = 2, S = 4, X = 8, L = 16 };         /* where */
enum { READ_DROP = TOK_COUNT, READ_SKIP };           /* read as, beside tokens */
enum { READ_FN = TOK_FN, READ_LAYER = TOK_LAYER, READ_LET = TOK_LET };

static const struct habit_word {
	const char *text;
	uint8_t follow, where, read;
	const char *message, *help, *edit;
} words[] = {
#define HABIT_WORD(text, follow, where, read, message, help, edit) {#text, follow, where, READ_##read, message, help, edit},
#include "frontend/habits/words.def"
#undef HABIT_WORD
};

enum habit habit_at(struct parser *p, enum habit_place place, token_id first, node_id *node)
{
	static habit_fn *const recognisers[HABIT_PLACES] = {
		[HABIT_AT_ITEM] = habit_item,         [HABIT_AT_MEMBER] = habit_member,   [HABIT_AT_STATEMENT] = habit_statement,
		[HABIT_AT_ELSE] = habit_else,         [HABIT_AT_OPERAND] = habit_operand, [HABIT_AT_LESS] = habit_less,
		[HABIT_AT_OPERATOR] = habit_operator, [HABIT_AT_PATTERN] = habit_pattern, [HABIT_AT_ATTRIBUTE] = habit_attribute,
		[HABIT_AT_IMPORT] = habit_import,     [HABIT_AT_LAYER] = habit_layer,     [HABIT_AT_ARGUMENT] = habit_argument,
		[HABIT_AT_GENERICS] = habit_generics, [HABIT_AT_ASSIGN] = habit_assign,   [HABIT_AT_TYPE] = habit_type,
		[HABIT_AT_UNION] = habit_union,       [HABIT_AT_DIM] = habit_dim,         [HABIT_AT_EXPECTED] = habit_expected,
		[HABIT_AT_LET] = habit_let,           [HABIT_AT_FOR] = habit_for,
	};
	return p->panic ? HABIT_NONE : recognisers[place](p, first, node);
}

struct diag *habit_report(struct parser *p, span at, const char *message, const char *advice, const char *instead)
{
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, at, "%s", message);
	if (advice)
		add_help(p, g, advice);
	if (instead)
		suggest_edit(p, g, at, instead);
	return g;
}

/* ---- words ---- */

/* True if token i may continue the expression before it. */
static bool continues_expression(const struct parser *p, token_id i)
{
	static const char *const infix[] = {"and", "or", "is", "not"};
	enum token_kind k = kind_at(p, i);
	for (size_t n = 0; n < COUNT(infix); n++)
		if (word_at(p, i, infix[n]))
			return true;
	return k == TOK_IF || k == TOK_FOR || k == TOK_IN || k == TOK_AS || k == TOK_ELSE || k == TOK_WHERE;
}

static bool body_after_parens(struct parser *p, token_id open)
{
	token_id m = matching_bracket(p, open);
	enum token_kind k = m == TOKEN_NONE ? TOK_EOF : kind_at(p, m + 1);
	return (k == TOK_LBRACE || k == TOK_COLON || k == TOK_ARROW) && !newline_at(p, m + 1);
}

/* What follows token i on its line: one of the bits of `asked`, or 0. */
static uint8_t following(struct parser *p, token_id i, uint8_t asked)
{
	if (newline_at(p, i + 1))
		return E & asked;
	enum token_kind k = kind_at(p, i + 1);
	if (k == TOK_COLON)
		return C & asked;
	if (k == TOK_LBRACE)
		return B & asked;
	if (k == TOK_LPAREN)
		return asked & P && body_after_parens(p, i + 1) ? P : Q & asked;
	if (k == TOK_RBRACE || k == TOK_SEMICOLON || k == TOK_EOF)
		return E & asked;
	bool word = k == TOK_NAME || token_class(k) == TOKEN_KEYWORD || token_class(k) == TOKEN_LITERAL;
	return word && !continues_expression(p, i + 1) ? N & asked : 0;
}

static const struct habit_word *find_word(struct parser *p, token_id i, uint8_t where)
{
	for (size_t n = 0; n < COUNT(words); n++)
		if (words[n].where & where && word_at(p, i, words[n].text) && following(p, i, words[n].follow))
			return &words[n];
	return NULL;
}

bool habit_starts_item(struct parser *p)
{
	const struct habit_word *w = p->k == TOK_NAME ? find_word(p, p->i, I) : NULL;
	return w && (w->read == READ_FN || w->read == READ_LAYER);
}

bool habit_word_in_expression(struct parser *p, token_id i)
{
	const struct habit_word *w = find_word(p, i, X);
	if (!w)
		return false;
	struct diag *g = habit_report(p, token_span(&p->t->tokens, i), w->message, w->help, NULL);
	if (w->edit)
		suggest_edit(p, g, (span){p->t->tokens.src->id, p->t->tokens.starts[i], p->t->tokens.starts[i + 1]}, w->edit);
	return true;
}

/* True if the head of a class has a base or ends with `:`. */
static bool is_python_class(const struct parser *p, token_id i)
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

static enum habit skip_all(struct parser *p)
{
	skip_statement(p, p->i);
	p->panic = false;
	return HABIT_SKIPPED;
}

static enum habit starts_read_word(struct parser *p, const struct habit_word *word, uint8_t where)
{
	struct diag *g = habit_report(p, current_span(p), word->message, word->help, word->edit);
	if (word->edit && !*word->edit && !newline_at(p, p->i + 1)) /* the blank after it, too */
		suggest_edit(p, g, (span){current_span(p).source, current_span(p).start, p->t->tokens.starts[p->i + 1]}, "");
	if (word->read == READ_DROP) {
		resume(p, g);
		drop_word(p);
		return HABIT_READ;
	}
	bool skip = word->read == READ_SKIP || (word->read != READ_LET && !(where & (I | M))) ||
		    (word->read == READ_LAYER && is_python_class(p, p->i));
	if (!skip) {
		resume(p, g);
		p->reported_indentation = true;
		read_token_as(p, (enum token_kind)word->read);
		return HABIT_READ;
	}
	if (g && word->read == READ_SKIP)
		g->is_recovered = true; /* it defines no name */
	skip_all(p);
	while (word_at(p, p->i, "except") || word_at(p, p->i, "finally"))
		skip_all(p); /* belongs to the `try` */
	return HABIT_SKIPPED;
}

/* ---- declarations without a keyword ---- */

/* net = Sequential(…) outside definitions */
static enum habit read_global(struct parser *p)
{
	struct diag *g = habit_report(p, current_span(p), "`const` is missing before this value",
				      "layers are made in a layer's body: `layer Net() { let fc = nn.Linear(64, 10) … }`", NULL);
	if (token_class(kind_at(p, p->i + 2)) == TOKEN_LITERAL)
		suggest_edit(p, g, before(p, p->i), "const ");
	return skip_all(p);
}

/* fc1: nn.Linear(784, 256), w: Tensor in a layer's body */
static void report_member(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id type = p->i + 2;
	struct diag *g = habit_report(p, current_span(p), "`let` or `param` is missing before this member",
				      "write `let fc = nn.Linear(64, 10)`, or `param w: Tensor<float32, [4]>`", NULL);
	if (word_at(p, type, "Tensor") || word_at(p, type, "TernaryTensor"))
		suggest_edit(p, g, before(p, p->i), "param ");
	else if (kind_at(p, type + 1) == TOK_LPAREN || kind_at(p, type + 1) == TOK_DOT)
		suggest_edit_as(p, g, token_range(p, p->i, p->i + 1), "let %.*s =", (int)token_len(t, p->i), token_text(t, p->i));
}

static bool is_assigned_on_line(const struct parser *p, token_id i)
{
	while (!newline_at(p, i + 1) && kind_at(p, i) != TOK_ASSIGN)
		i++;
	return kind_at(p, i) == TOK_ASSIGN;
}

/* k: int = 3, and the a: 1 of a dictionary */
static enum habit read_declaration(struct parser *p, uint8_t where)
{
	if (newline_at(p, p->i + 2) || kind_at(p, p->i + 2) == TOK_COLON || kind_at(p, p->i + 2) == TOK_ASSIGN)
		return HABIT_NONE;
	if (where & M) {
		report_member(p);
	} else if (p->i && kind_at(p, p->i - 1) == TOK_LBRACE && !after_newline(p)) {
		habit_report(p, current_span(p), "a dictionary is not supported", "use arguments, constants or tuples", NULL);
	} else if (is_assigned_on_line(p, p->i)) {
		struct diag *g = habit_report(
			p, current_span(p), where & I ? "`const` is missing before this constant" : "`let` is missing before this variable",
			NULL, NULL);
		suggest_edit(p, g, before(p, p->i), where & I ? "const " : "let ");
	} else {
		return HABIT_NONE;
	}
	return skip_all(p);
}

/* ---- keywords that are missing or misspelt ---- */

/* forward(x) {, forward<T>(x) -> Tensor<T, [4]> { */
static enum habit read_without_fn(struct parser *p)
{
	token_id i = p->i + 1;
	if (kind_at(p, i) == TOK_LT)
		while (!newline_at(p, i + 1) && kind_at(p, i++) != TOK_GT)
			continue;
	if (kind_at(p, i) != TOK_LPAREN || newline_at(p, i) || !body_after_parens(p, i))
		return HABIT_NONE;
	while (kind_at(p, i) != TOK_LBRACE && !newline_at(p, i + 1))
		i++;
	if (kind_at(p, i) != TOK_LBRACE && kind_at(p, i) != TOK_COLON)
		return HABIT_NONE;
	struct diag *g = error_at(p, DIAG_EXPECTED_ITEM, current_span(p), "a function starts with `fn`");
	suggest_edit(p, g, before(p, p->i), "fn ");
	return skip_all(p);
}

/* `retrun x` */
static enum habit read_misspelt(struct parser *p, uint8_t where)
{
	static const struct {
		const char *text;
		uint8_t kind, where;
	} keywords[] = {
		{"fn", TOK_FN, I | M},     {"layer", TOK_LAYER, I},     {"const", TOK_CONST, I | M | S}, {"type", TOK_TYPE, I},
		{"import", TOK_IMPORT, I}, {"from", TOK_FROM, I},       {"main", TOK_MAIN, I},           {"param", TOK_PARAM, M},
		{"state", TOK_STATE, M},   {"let", TOK_LET, I | M | S}, {"return", TOK_RETURN, S},       {"if", TOK_IF, S},
		{"for", TOK_FOR, S},       {"while", TOK_WHILE, S},     {"break", TOK_BREAK, S},         {"continue", TOK_CONTINUE, S},
	};
	const char *names[COUNT(keywords)];
	uint32_t n = 0, len = token_len(&p->t->tokens, p->i);
	char word[16];
	bool opens_block = where & I && kind_at(p, p->i + 1) == TOK_LBRACE && !newline_at(p, p->i + 1);
	if (len >= sizeof word || !(following(p, p->i, N) || opens_block))
		return HABIT_NONE;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].where & where)
			names[n++] = keywords[i].text;
	snprintf(word, sizeof word, "%.*s", (int)len, token_text(&p->t->tokens, p->i));
	const char *near = diag_nearest(word, names, n);
	if (!near || (near[0] != word[0] && near[0] != word[1])) /* `net` is not `let` */
		return HABIT_NONE;
	struct diag *g = error_at(p, where & I ? DIAG_EXPECTED_ITEM : DIAG_STATEMENT_END, current_span(p), "`%s` is not a keyword", word);
	diag_help(p->diags, g, "did you mean `%s`?", near);
	suggest_edit(p, g, current_span(p), near);
	resume_corrected(p, g);
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (keywords[i].text == near)
			read_token_as(p, (enum token_kind)keywords[i].kind);
	return HABIT_READ;
}

/* ---- the start of a line ---- */

static enum habit read_start(struct parser *p, uint8_t where)
{
	const struct habit_word *w = find_word(p, p->i, where & S ? where | X : where);
	enum token_kind next = newline_at(p, p->i + 1) ? TOK_EOF : kind_at(p, p->i + 1);
	enum habit found = w ? starts_read_word(p, w, where) : next == TOK_COLON ? read_declaration(p, where) : HABIT_NONE;
	if (!found && where & I && next == TOK_ASSIGN)
		return read_global(p);
	if (!found && where & (I | M) && (next == TOK_LPAREN || next == TOK_LT))
		found = read_without_fn(p);
	return found ? found : read_misspelt(p, where);
}

/* let mut x */
enum habit habit_let(struct parser *p, token_id first, node_id *node)
{
	const struct habit_word *w = find_word(p, p->i, L);
	(void)first, (void)node;
	return w ? starts_read_word(p, w, L) : HABIT_NONE;
}

enum habit habit_item(struct parser *p, token_id first, node_id *node) { return (void)first, (void)node, read_start(p, I); }
enum habit habit_member(struct parser *p, token_id first, node_id *node) { return (void)first, (void)node, read_start(p, M | S); }
enum habit habit_statement(struct parser *p, token_id first, node_id *node) { return (void)first, (void)node, read_start(p, S); }

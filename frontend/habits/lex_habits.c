/* Habits of Python users in the text itself: triple quotes, `//` comments, typographic signs. Each is reported, and read as what was meant, so that it causes no other error. */
#include <stdio.h>
#include <string.h>
#include "frontend/syntax/lex_state.h"

enum { LONGEST_WORD = 16, LONGEST_QUOTE = 256 };

static bool lex_habits_is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *lex_habits_line_end(const struct lexer *lx, const char *p)
{
	const char *q = memchr(p, '\n', (size_t)(lx->end - p));
	q = q ? q : lx->end;
	return q > p && q[-1] == '\r' ? q - 1 : q;
}

static const char *skip_blanks(const char *p)
{
	while (lex_habits_is_blank(*p))
		p++;
	return p;
}

static const char *skip_word(const char *p)
{
	while (lex_is_word(*p))
		p++;
	return p;
}

static bool word_in(const char *p, const char *const *words, size_t n)
{
	size_t len = (size_t)(skip_word(p) - p);
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == len && memcmp(words[i], p, len) == 0)
			return true;
	return false;
}
#define WORD_IN(p, words) word_in(p, words, sizeof(words) / sizeof *(words))

/* Reports a habit, once for each line. NULL: the line has its report. */
static struct diag *habit(struct lexer *lx, const char *from, const char *to, const char *message)
{
	lx->failed = true;
	if (lx->reported_until && from < lx->reported_until)
		return NULL;
	lx->reported_until = lex_habits_line_end(lx, to);
	struct diag *g = lex_error(lx, DIAG_HABIT_SYNTAX, from, to, "%s", message);
	g->is_recovered = true;
	return g;
}

static void edit(struct lexer *lx, struct diag *g, const char *replacement)
{
	if (g)
		diag_edit(lx->diags, g, g->primary.at, replacement);
}

/* ---- triple quotes ---- */

static const char *find_triple(const struct lexer *lx, const char *p, char quote)
{
	for (; p + 2 < lx->end; p++)
		if (p[0] == quote && p[1] == quote && p[2] == quote)
			return p;
	return NULL;
}

/* True if a value is expected at p: in brackets or after an operator. */
static bool wants_value(const struct lexer *lx, const char *p)
{
	while (p > lx->text && (lex_habits_is_blank(p[-1]) || p[-1] == '\n' || p[-1] == '\r'))
		p--;
	return p > lx->text && strchr("=([,+:?%", p[-1]) != NULL;
}

static bool triple_quotes(struct lexer *lx, const char *p, struct lexeme *out)
{
	if (p[1] != *p || p[2] != *p)
		return false;
	const char *close = find_triple(lx, p + 3, *p);
	if (!close)
		return false;
	*out = (struct lexeme){LEX_NO_TOKEN, close + 3, NULL};
	if (wants_value(lx, p)) {
		diag_help(lx->diags,
			  lex_error(lx, DIAG_HABIT_SYNTAX, p, p + 3, "triple quotes do not make a string; use `\"` or `'`, on one line"),
			  "a line break in a string is written `\\n`");
		lx->failed = true;
		out->kind = TOK_ERROR;
		return true;
	}
	struct diag *g = habit(lx, p, close + 3, "triple quotes do not make a comment; use `#`, or `/*` and `*/`");
	char text[512];
	size_t n = (size_t)(close - (p + 3));
	if (n + 6 > sizeof text || memchr(p + 3, 0, n))
		return true;
	memcpy(text, "/*", 2);
	memcpy(text + 2, p + 3, n);
	memcpy(text + 2 + n, "*/", 3);
	if (!strstr(text + 2, "*/") || strstr(text + 2, "*/") == text + 2 + n)
		edit(lx, g, text);
	return true;
}

/* ---- comments ---- */

static bool lex_habits_is_letter(char c) { return lex_is_word(c) && !lex_is_digit(c); }

/* True if a letter of a word follows that no operator of the language is: "// the weights", not "a // b if c". */
static bool has_two_words(const char *p)
{
	static const char *const operators[] = {"for", "if", "else", "in", "and", "or", "is", "not", "as", "where"};
	const char *end = skip_word(p), *next = skip_blanks(end);
	return lex_habits_is_letter(*p) && next > end && lex_habits_is_letter(*next) && !WORD_IN(next, operators);
}

/* True if no operand ends at the last token, or a block does: its quotient needs parentheses, so that line breaks and comments change no meaning. */
static bool cannot_be_divided(const struct tokens *t)
{
	static const uint8_t kinds[] = {TOK_LBRACE, TOK_RBRACE, TOK_LPAREN, TOK_LBRACKET, TOK_COMMA, TOK_SEMICOLON};
	return t->len && memchr(kinds, t->kinds[t->len - 1] & ~TOKEN_NEWLINE, sizeof kinds);
}

/* True if the `//` at p starts a comment of C: no operand precedes it on its line, or words follow it that are no operand. */
static bool starts_comment(const struct lexer *lx, const char *p)
{
	static const char *const has_block[] = {"if"}; /* a // if c { b } else { d } */
	const char *q = skip_blanks(p + 2), *before = p;
	while (before > lx->text && lex_habits_is_blank(before[-1]))
		before--;
	bool first = before == lx->text || before[-1] == '\n';
	if (cannot_be_divided(lx->tokens))
		return true;
	bool operand = lex_habits_is_letter(*q) || lex_is_digit(*q) || (*q && strchr("([{\"'-+!.", *q));
	if (first && operand) { /* an operator may start a line within brackets */
		const char *end = skip_blanks(skip_word(q));
		return has_two_words(q) || *end == ':' || *end == ',' || *end == '\'';
	}
	if (!first && WORD_IN(q, has_block) && memchr(q, '{', (size_t)(lex_habits_line_end(lx, q) - q)))
		return false;
	return first || (before < p && has_two_words(q));
}

static bool slash_comment(struct lexer *lx, const char *p, struct lexeme *out)
{
	if (p[1] != '/' || !starts_comment(lx, p))
		return false;
	edit(lx, habit(lx, p, p + 2, "`//` does not start a comment; use `#`"), "#");
	*out = (struct lexeme){LEX_NO_TOKEN, lex_habits_line_end(lx, p), NULL};
	return true;
}

/* ---- operators and punctuation ---- */

struct sign {
	const char *text, *instead, *message;
	uint8_t kind; /* read as this token; LEX_NO_TOKEN: skipped */
	bool guess;
};
#define QUOTES "typographic quotes do not make a string; use `\"` or `'`"
static const struct sign signs[] = {
	{"\xE2\x88\x92", "-", "this minus sign is not the operator; use `-`", TOK_MINUS, false},
	{"\xE2\x80\x93", "-", "a dash is not the operator; use `-`", TOK_MINUS, false},
	{"\xE2\x86\x92", "->", "`\xE2\x86\x92` is not the arrow of a result; use `->`", TOK_ARROW, false},
	{"\xC3\x97", "*", "`\xC3\x97` is not an operator; use `*`", TOK_STAR, false},
	{"\xE2\x89\xA4", "<=", "`\xE2\x89\xA4` is not an operator; use `<=`", TOK_LE, false},
	{"\xE2\x89\xA5", ">=", "`\xE2\x89\xA5` is not an operator; use `>=`", TOK_GE, false},
	{"\xE2\x89\xA0", "!=", "`\xE2\x89\xA0` is not an operator; use `!=`", TOK_NE, false},
	{"\xC2\xA0", " ", "a no-break space is not a space; use a plain one", LEX_NO_TOKEN, false},
	{"\xE2\x80\xAF", " ", "a no-break space is not a space; use a plain one", LEX_NO_TOKEN, false},
	{"\xE3\x80\x80", " ", "a wide space is not a space; use a plain one", LEX_NO_TOKEN, false},
	{"\xE2\x80\x8B", "", "this is an invisible space (U+200B); delete it", LEX_NO_TOKEN, false},
	{"\xE2\x80\x8D", "", "this is an invisible character (U+200D); delete it", LEX_NO_TOKEN, false},
	{"\\", "", "`\\` does not continue a line; leave it out: an open bracket or an operator at its end does", LEX_NO_TOKEN, false},
};

static const struct sign *find_sign(const struct lexer *lx, const char *p)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t len = strlen(signs[i].text);
		if ((size_t)(lx->end - p) >= len && memcmp(signs[i].text, p, len) == 0)
			return &signs[i];
	}
	return NULL;
}

/* A text in typographic quotes, up to the end of the line. */
static bool typographic_quotes(struct lexer *lx, const char *p, struct lexeme *out)
{
	bool single = memcmp(p, "\xE2\x80\x98", 3) == 0 || memcmp(p, "\xE2\x80\x99", 3) == 0;
	if (!single && memcmp(p, "\xE2\x80\x9C", 3) != 0 && memcmp(p, "\xE2\x80\x9D", 3) != 0)
		return false;
	const char *stop = lx->end - p > LONGEST_QUOTE ? p + LONGEST_QUOTE : lx->end, *q = p + 3;
	while (q + 2 < stop && *q != '\n' && memcmp(q, single ? "\xE2\x80\x99" : "\xE2\x80\x9D", 3) != 0)
		q++;
	bool closed = q + 2 < stop && *q != '\n';
	struct diag *g = habit(lx, p, closed ? q + 3 : p + 3, QUOTES);
	char text[LONGEST_QUOTE];
	size_t n = (size_t)(q - (p + 3));
	if (closed && n + 3 < sizeof text && !memchr(p + 3, '"', n) && !memchr(p + 3, '\\', n)) {
		text[0] = '"';
		memcpy(text + 1, p + 3, n);
		memcpy(text + 1 + n, "\"", 2);
		edit(lx, g, text);
	}
	if (g)
		g->is_recovered = false;
	*out = (struct lexeme){TOK_ERROR, closed ? q + 3 : p + 3, NULL};
	return true;
}

bool lex_habit(struct lexer *lx, const char *p, struct lexeme *out)
{
	if (*p == '"' || *p == '\'')
		return triple_quotes(lx, p, out);
	if (*p == '/')
		return slash_comment(lx, p, out);
	if (lx->end - p >= 3 && typographic_quotes(lx, p, out))
		return true;
	const struct sign *s = find_sign(lx, p);
	if (!s)
		return false;
	size_t n = strlen(s->text);
	struct diag *g = habit(lx, p, p + n, s->message);
	if (g && s->instead && s->guess)
		diag_guess(lx->diags, g, g->primary.at, s->instead);
	else if (s->instead)
		edit(lx, g, s->instead);
	if (g && (s->guess || s->kind == TOK_ERROR))
		g->is_recovered = false;
	*out = (struct lexeme){(enum token_kind)s->kind, p + n, NULL};
	return true;
}

/* Strings and f-strings. An f-string is several tokens: f"a{ x }b{ y }c" is HEAD x MID y TAIL; the lexer counts the braces between. */
#include <string.h>
#include "frontend/syntax/lex_state.h"

static const char *bad_escape(struct lexer *lx, const char *p, const char *q, const char *why)
{
	if (q < lx->end && (*q & 0x80))
		q += lex_utf8(q, lx->end);
	struct diag *g = lex_error(lx, DIAG_BAD_ESCAPE, p, q, "%s", why);
	if (p[1] == '(')
		diag_help(lx->diags, g, "put values into a string with an f-string: `f\"n = {n}\"`");
	else
		diag_help(lx->diags, g, "the escapes are \\n \\t \\r \\\\ \\\" \\' \\0 \\xHH and \\u{H…}");
	return q;
}

static bool is_hex(char c) { return lex_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

static uint32_t lex_string_hex_value(char c) { return (uint32_t)(lex_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10); }

static const char *unicode_escape(struct lexer *lx, const char *p, bool *ok)
{
	const char *q = p + 2;
	if (*q != '{') {
		*ok = false;
		return bad_escape(lx, p, q, "`\\u` is followed by a number in braces: `\\u{3B1}`");
	}
	uint32_t v = 0;
	for (q++; is_hex(*q) && v < 0x1000000; q++)
		v = v * 16 + lex_string_hex_value(*q);
	bool closed = *q == '}' && q > p + 3;
	*ok = closed && v <= 0x10FFFF && !(v >= 0xD800 && v < 0xE000);
	if (*ok)
		return q + 1;
	return bad_escape(lx, p, q + closed,
			  closed || is_hex(*q) ? "this is not a Unicode character" : "`\\u{…}` has one to six hexadecimal digits");
}

/* Skips the escape at the backslash p, and reports a wrong one. */
static const char *escape(struct lexer *lx, const char *p, bool *ok)
{
	if (p + 1 >= lx->end || p[1] == '\n' || p[1] == '\r')
		return p + 1; /* the string is not closed, which lex_string reports */
	if (strchr("ntr\\\"'0", p[1]) && p[1])
		return p + 2;
	if (p[1] == 'u')
		return unicode_escape(lx, p, ok);
	if (p[1] != 'x') {
		*ok = false;
		return bad_escape(lx, p, p + ((p[1] & 0x80) || !p[1] ? 1 : 2), "unknown escape in a string");
	}
	if (is_hex(p[2]) && is_hex(p[3]))
		return p + 4;
	*ok = false;
	return bad_escape(lx, p, p + 2, "`\\x` is followed by two hexadecimal digits");
}

static bool ends_line(const struct lexer *lx, const char *p) { return p >= lx->end || *p == '\n' || (*p == '\r' && p[1] == '\n'); }

/* The next quote, backslash, brace, line end, NUL or byte >= 0x80. */
static const char *plain_text(const struct lexer *lx, const char *p, char quote, bool braces)
{
	for (; p < lx->end; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == (unsigned char)quote || c == '\\' || c == '\n' || c == '\r' || c == 0 || c >= 0x80)
			break;
		if (braces && (c == '{' || c == '}'))
			break;
	}
	return p;
}

/* True for S' as in mathematics: a quote directly after a name or a bracket. */
static bool follows_operand(const struct lexer *lx, const char *start, char quote)
{
	const char *text = lx->src->text;
	return quote == '\'' && start > text && (lex_is_word(start[-1]) || start[-1] == ')' || start[-1] == ']');
}

static void unterminated(struct lexer *lx, const char *start, const char *p, char quote)
{
	if (lx->n_fstr)
		return; /* the enclosing f-string is not closed either, which is reported at the end of the line */
	struct diag *g;
	if (follows_operand(lx, start, quote)) {
		g = lex_error(lx, DIAG_UNTERMINATED_STRING, start, start + 1, "a name cannot contain `'`");
		diag_help(lx->diags, g, QUOTE_HELP);
		return;
	}
	g = lex_error(lx, DIAG_UNTERMINATED_STRING, start, p, "this string is not closed on its line");
	diag_help(lx->diags, g, "close it with `%c`; a line break in a string is written `\\n`", quote);
}

/* True if the quote at p, in an interpolation, ends the f-string, whose `}` is missing: no string follows an operand. */
static bool ends_fstring(const struct lexer *lx, const char *p)
{
	const char *before = p;
	if (!lx->n_fstr || lx->fstr[lx->n_fstr - 1].quote != *p || lx->fstr[lx->n_fstr - 1].braces)
		return false;
	while (before[-1] == ' ')
		before--;
	return lex_is_word(before[-1]) || before[-1] == ')' || before[-1] == ']';
}

static struct lexeme missing_brace(struct lexer *lx, const char *p)
{
	struct diag *g = lex_error(lx, DIAG_BAD_FSTRING, p, p + 1, "`}` is missing before the end of this f-string");
	span at = g->primary.at;
	at.end = at.start;
	diag_edit(lx->diags, g, at, "}");
	g->is_recovered = true;
	lx->n_fstr--;
	return (struct lexeme){TOK_FSTR_TAIL, p + 1, NULL};
}

struct lexeme lex_string(struct lexer *lx, const char *p)
{
	const char *start = p;
	struct lexeme triple;
	if (ends_fstring(lx, p))
		return missing_brace(lx, p);
	if (p[1] == *p && lex_habit(lx, p, &triple))
		return triple;
	char quote = *p++;
	bool ok = true;
	for (;;) {
		p = plain_text(lx, p, quote, false);
		if (ends_line(lx, p)) {
			unterminated(lx, start, p, quote);
			return (struct lexeme){TOK_ERROR, p, NULL};
		}
		if (*p == quote)
			return (struct lexeme){ok ? TOK_STRING : TOK_ERROR, p + 1, NULL};
		if (*p == '\\')
			p = escape(lx, p, &ok);
		else
			p = *p == '\r' ? p + 1 : lex_special_byte(lx, p);
	}
}

static void push_interpolation(struct lexer *lx, const char *start, char quote)
{
	lx->fstr[lx->n_fstr].start = start;
	lx->fstr[lx->n_fstr].quote = quote;
	lx->fstr[lx->n_fstr].choices = 0;
	lx->fstr[lx->n_fstr++].braces = 0;
}

static void lone_brace(struct lexer *lx, const char *p)
{
	struct diag *g = lex_error(lx, DIAG_BAD_FSTRING, p, p + 1, "`}` without its `{` in an f-string");
	diag_help(lx->diags, g, "a brace itself is written twice: `}}`");
	diag_edit(lx->diags, g, g->primary.at, "}}");
}

static struct lexeme too_deep(struct lexer *lx, const char *start, const char *p)
{
	lex_error(lx, DIAG_BAD_FSTRING, start, p, "f-strings are nested more than %d deep", LEX_FSTR_DEPTH);
	while (!ends_line(lx, p))
		p++;
	lx->n_fstr = 0;
	return (struct lexeme){TOK_ERROR, p, NULL};
}

/* Scans text of the f-string that begins at `start`, from p on. `open` is its kind before a `{`, `close` at the end. */
static struct lexeme fstring_text(struct lexer *lx, const char *start, const char *p, char quote, enum token_kind open,
				  enum token_kind close)
{
	bool ok = true;
	for (;;) {
		p = plain_text(lx, p, quote, true);
		if (ends_line(lx, p)) {
			unterminated(lx, start, p, quote);
			return (struct lexeme){open == TOK_FSTR_MID ? TOK_FSTR_TAIL : TOK_ERROR, p, NULL};
		}
		if (*p == quote)
			return (struct lexeme){close, p + 1, NULL};
		if (*p == '\\') {
			p = escape(lx, p, &ok);
		} else if ((*p == '{' || *p == '}') && p[1] == *p) {
			p += 2;
		} else if (*p == '{') {
			if (lx->n_fstr == LEX_FSTR_DEPTH)
				return too_deep(lx, start, p);
			push_interpolation(lx, start, quote);
			return (struct lexeme){open, p + 1, NULL};
		} else if (*p == '}') {
			lone_brace(lx, p++);
		} else {
			p = *p == '\r' ? p + 1 : lex_special_byte(lx, p);
		}
	}
}

struct lexeme lex_fstring(struct lexer *lx, const char *p) { return fstring_text(lx, p, p + 2, p[1], TOK_FSTR_HEAD, TOK_FSTR_WHOLE); }

struct lexeme lex_fstring_more(struct lexer *lx, const char *p)
{
	lx->n_fstr--;
	return fstring_text(lx, lx->fstr[lx->n_fstr].start, p + 1, lx->fstr[lx->n_fstr].quote, TOK_FSTR_MID, TOK_FSTR_TAIL);
}

struct lexeme lex_fstring_spec(struct lexer *lx, const char *p)
{
	char quote = lx->fstr[lx->n_fstr - 1].quote;
	for (p++; *p != '}' && *p != quote && !ends_line(lx, p);) {
		if (*p == '{') {
			struct diag *g = lex_error(lx, DIAG_BAD_FSTRING, p, p + 1, "a format cannot contain braces");
			diag_help(lx->diags, g, "write the width or precision as a number, as in `{x:8.3f}`");
			while (*p != '}' && *p != quote && !ends_line(lx, p))
				p++;
			if (*p != '}')
				break;
		}
		p = (*p & 0x80) || !*p ? lex_special_byte(lx, p) : p + 1;
	}
	return (struct lexeme){TOK_FSTR_SPEC, p, NULL};
}

void lex_fstring_cut(struct lexer *lx)
{
	const char *start = lx->fstr[0].start, *p = start;
	while (!ends_line(lx, p))
		p++;
	lx->n_fstr = 0;
	unterminated(lx, start, p, lx->fstr[0].quote);
}

/* Recovery: where parsing continues after an error. Brackets are paired over the whole file once, when the first error is found: a
 * keyword that starts statements ends any ( ) and [ ] left open, and braces are never crossed by other brackets. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "frontend/syntax/parse_state.h"

static bool is_open(unsigned k) { return k == TOK_LPAREN || k == TOK_LBRACKET || k == TOK_LBRACE; }
static bool is_close(unsigned k) { return k == TOK_RPAREN || k == TOK_RBRACKET || k == TOK_RBRACE; }

static bool starts_statement_only(unsigned k)
{
	return k == TOK_LET || k == TOK_RETURN || k == TOK_CONST || k == TOK_FN || k == TOK_LAYER || k == TOK_PARAM || k == TOK_STATE ||
	       k == TOK_WHILE || k == TOK_BREAK || k == TOK_CONTINUE || k == TOK_IMPORT || k == TOK_MAIN;
}

bool starts_item(enum token_kind k)
{
	return k == TOK_FN || k == TOK_LAYER || k == TOK_CONST || k == TOK_TYPE || k == TOK_IMPORT || k == TOK_FROM || k == TOK_MAIN ||
	       k == TOK_AT;
}

static unsigned opener_of(unsigned close) { return close == TOK_RPAREN ? TOK_LPAREN : close == TOK_RBRACKET ? TOK_LBRACKET : TOK_LBRACE; }

struct pairing {
	const struct tokens *t;
	uint32_t *match, *stack, n;
};

static unsigned parse_recover_top(const struct pairing *g) { return g->n ? token_kind(g->t, g->stack[g->n - 1]) : TOK_EOF; }

static void pair_close(struct pairing *g, token_id i, unsigned k)
{
	uint32_t n = g->n;
	while (n && token_kind(g->t, g->stack[n - 1]) != opener_of(k)) {
		if (token_kind(g->t, g->stack[n - 1]) == TOK_LBRACE)
			return; /* stray */
		n--;
	}
	if (!n)
		return;
	g->n = n - 1;
	g->match[g->stack[g->n]] = i;
	g->match[i] = g->stack[g->n];
}

static void pair_brackets(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	struct pairing g = {.t = t, .match = malloc(t->len * sizeof(uint32_t)), .stack = malloc(t->len * sizeof(uint32_t))};
	if (!g.match || !g.stack)
		bug_no_memory();
	memset(g.match, 0xff, t->len * sizeof(uint32_t));
	for (token_id i = 0; i < t->len; i++) {
		unsigned k = token_kind(t, i);
		if (is_open(k))
			g.stack[g.n++] = i;
		else if (is_close(k))
			pair_close(&g, i, k);
		else if (starts_statement_only(k) && token_after_newline(t, i))
			while (parse_recover_top(&g) == TOK_LPAREN || parse_recover_top(&g) == TOK_LBRACKET)
				g.n--;
	}
	p->last_stray = TOKEN_NONE;
	for (token_id i = t->len; i-- > 0 && p->last_stray == TOKEN_NONE;)
		if (token_kind(t, i) == TOK_RBRACE && g.match[i] == TOKEN_NONE)
			p->last_stray = i;
	free(g.stack);
	p->match = g.match;
}

token_id matching_bracket(struct parser *p, token_id bracket)
{
	if (!p->match)
		pair_brackets(p);
	return p->match[bracket];
}

void jump_to(struct parser *p, token_id i)
{
	p->i = i;
	p->k = p->kinds[i] & 0x7f;
}

void skip_token(struct parser *p)
{
	token_id m = is_open(p->k) ? matching_bracket(p, p->i) : TOKEN_NONE;
	if (m != TOKEN_NONE && m > p->i)
		jump_to(p, m + 1);
	else
		advance(p);
}

bool recover_element(struct parser *p, token_id open, enum token_kind close)
{
	token_id m = matching_bracket(p, open);
	if (p->fatal || m == TOKEN_NONE || p->i > m || token_kind(&p->t->tokens, m) != close)
		return false;
	while (p->i < m && p->k != TOK_COMMA) {
		token_id angle = p->k == TOK_LT ? closing_angle(p, p->i) : TOKEN_NONE;
		if (angle == TOKEN_NONE || angle > m)
			skip_token(p);
		else
			jump_to(p, angle + 1);
	}
	if (p->i > m)
		jump_to(p, m);
	p->panic = false;
	return true;
}

/* True if the token here is the first of its line and may start a statement. */
static bool may_start(const struct parser *p)
{
	return after_newline(p) && !is_close(p->k) && p->k != TOK_DOT && p->k != TOK_COMMA && p->k != TOK_ELSE && p->k != TOK_COLON &&
	       p->k != TOK_ASSIGN;
}

static uint32_t parse_recover_line_of(const struct parser *p, token_id i) /* the offset of its start */
{
	uint32_t at = p->t->tokens.starts[i];
	while (at && p->t->tokens.src->text[at - 1] != '\n')
		at--;
	return at;
}

/* True for a `}` in the middle of a statement whose block opened on an earlier line: its `{` is missing. */
static bool stray_brace(struct parser *p, token_id start, token_id open)
{
	matching_bracket(p, open);
	return p->last_stray != TOKEN_NONE && p->last_stray > p->i && p->k == TOK_RBRACE && !after_newline(p) &&
	       parse_recover_line_of(p, start) == parse_recover_line_of(p, p->i) &&
	       parse_recover_line_of(p, open) != parse_recover_line_of(p, start);
}

void skip_statement(struct parser *p, token_id start)
{
	uint32_t indent = indent_of(p, start);
	do
		skip_token(p);
	while (p->k != TOK_EOF && p->k != TOK_RBRACE && p->k != TOK_SEMICOLON && !(after_newline(p) && indent_of(p, p->i) <= indent));
}

void recover_statement(struct parser *p, token_id start, token_id open)
{
	if (p->fatal || (p->i && p->i == p->unclosed_at))
		return;
	if (p->i == start && p->k != TOK_RBRACE && p->k != TOK_EOF)
		skip_token(p);
	while (p->k != TOK_EOF && p->k != TOK_SEMICOLON && !may_start(p)) {
		if (p->k != TOK_RBRACE)
			skip_token(p);
		else if (stray_brace(p, start, open))
			advance(p);
		else
			break;
	}
	p->panic = false;
}

void recover_signature(struct parser *p)
{
	token_id i = p->i;
	if (!p->panic || p->fatal)
		return;
	for (;; i++) {
		enum token_kind k = token_kind(&p->t->tokens, i);
		if (k == TOK_LBRACE)
			break;
		bool next = token_after_newline(&p->t->tokens, i) && i > p->i && (starts_statement_only(k) || starts_item(k));
		if (k == TOK_EOF || k == TOK_RBRACE || next)
			return;
	}
	jump_to(p, i);
	p->panic = false;
}

/* Indented, a `let` or `def` belongs to the body of what is skipped. */
static bool begins_item(struct parser *p)
{
	return starts_item((enum token_kind)p->k) || ((p->k == TOK_LET || habit_starts_item(p)) && indent_of(p, p->i) == 0);
}

void recover_item(struct parser *p, token_id start)
{
	if (p->i == start && p->k != TOK_EOF)
		skip_token(p);
	while (p->k != TOK_EOF && !(after_newline(p) && begins_item(p)))
		skip_token(p);
	p->panic = p->fatal = false;
}

/* True if token i is a name at the start of an argument. */
static bool names_argument(const struct parser *p, token_id i)
{
	const struct tokens *t = &p->t->tokens;
	return i && token_kind(t, i) == TOK_NAME && (token_kind(t, i - 1) == TOK_LPAREN || token_kind(t, i - 1) == TOK_COMMA);
}

static void error_not_closed(struct parser *p, token_id open, enum token_kind close, bool paired)
{
	char found[64], what[64];
	const char *bracket = token_kind_text(token_kind(&p->t->tokens, open));
	span place = after_newline(p) || p->k == TOK_EOF ? span_after_previous(p) : current_span(p);
	struct diag *g;
	if (habit_at(p, HABIT_AT_EXPECTED, 0, NULL))
		return;
	if (paired)
		g = error_at(p, DIAG_EXPECTED_TOKEN, place, "expected `,` or `%s`, found %s", token_kind_text(close),
			     describe_token(p, p->i, found));
	else
		g = error_at(p, DIAG_UNCLOSED, place, "expected `%s` to close this `%s`, found %s", token_kind_text(close), bracket,
			     describe_token(p, p->i, found));
	if (!g)
		return;
	snprintf(what, sizeof what, paired ? "in this `%s`" : "this `%s` is not closed", bracket);
	add_label(p, g, token_span(&p->t->tokens, open), what);
	bool value = p->k == TOK_NAME || token_class((enum token_kind)p->k) == TOKEN_LITERAL;
	if (!paired)
		suggest_edit(p, g, span_after_previous(p), token_kind_text(close));
	else if (value && peek(p) == TOK_ASSIGN)
		suggest_edit(p, g, span_after_previous(p), ",");
	else if (value)
		diag_guess(p->diags, g, span_after_previous(p), ",");
	else if (p->k == TOK_SEMICOLON && close == TOK_RPAREN)
		suggest_edit(p, g, current_span(p), ",");
	else if (p->k == TOK_COLON && close == TOK_RPAREN && names_argument(p, p->i - 1))
		suggest_edit(p, g, (span){current_span(p).source, span_after_previous(p).start, p->t->tokens.starts[p->i + 1]}, "=");
	else if (p->k == TOK_COLON && p->in_signature)
		add_help(p, g, "write an argument's type before its default: `n: int = 3`");
	else if (p->k == TOK_COLON && close == TOK_RPAREN)
		add_help(p, g, "an argument is named with `=`: `f(n=3)`; a range is `a..b`, a slice is written in `[ ]`");
}

static bool is_paired(struct parser *p, token_id open, enum token_kind close)
{
	token_id m = matching_bracket(p, open);
	return m != TOKEN_NONE && m >= p->i && token_kind(&p->t->tokens, m) == close;
}

bool recover_missing_comma(struct parser *p, token_id open, enum token_kind close)
{
	if (p->k == TOK_EOF || p->k == TOK_ERROR || !is_paired(p, open, close))
		return false;
	error_not_closed(p, open, close, true);
	if (p->in_signature && p->k == TOK_NAME && peek(p) == TOK_COLON) { /* the next argument */
		p->panic = false;
		return true;
	}
	return recover_element(p, open, close);
}

token_id expect_close(struct parser *p, token_id open, enum token_kind close)
{
	if (p->k == close && !p->panic) {
		advance(p);
		return p->i - 1;
	}
	token_id m = matching_bracket(p, open);
	bool paired = is_paired(p, open, close);
	if (!p->panic && p->k != TOK_ERROR)
		error_not_closed(p, open, close, paired);
	p->panic = p->panic || p->k == TOK_ERROR;
	if (!paired || p->fatal)
		return TOKEN_NONE;
	jump_to(p, m + 1);
	p->panic = false;
	return m;
}

uint32_t indent_of(const struct parser *p, token_id i)
{
	const char *text = p->t->tokens.src->text;
	uint32_t line = p->t->tokens.starts[i], n = 0;
	while (line && text[line - 1] != '\n')
		line--;
	while (text[line + n] == ' ' || text[line + n] == '\t')
		n++;
	return n;
}

bool is_first_on_line(const struct parser *p, token_id i) { return token_after_newline(&p->t->tokens, i); }

/* A `{` after `open` whose `}` has another indentation than its line: probably the one that is not closed. */
static token_id suspicious_brace(struct parser *p, token_id open)
{
	for (token_id i = open + 1; i < p->i; i++) {
		token_id m = (p->kinds[i] & 0x7f) == TOK_LBRACE ? matching_bracket(p, i) : TOKEN_NONE;
		if (m != TOKEN_NONE && m < p->i && is_first_on_line(p, m) && indent_of(p, m) != indent_of(p, i))
			return i;
	}
	return TOKEN_NONE;
}

/* True if a `}` after `open` is within an unclosed string or comment, which the lexer has reported. */
static bool swallowed_brace(const struct parser *p, token_id open)
{
	const struct tokens *t = &p->t->tokens;
	for (token_id i = open + 1; i < p->i; i++)
		if (token_kind(t, i) == TOK_ERROR && memchr(token_text(t, i), '}', token_len(t, i)))
			return true;
	return false;
}

void error_unclosed_block(struct parser *p, token_id open)
{
	char found[64];
	if (p->panic)
		return;
	p->unclosed_at = p->i;
	if (p->k == TOK_EOF && swallowed_brace(p, open)) {
		p->panic = p->failed = true;
		return;
	}
	struct diag *g = error_at(p, DIAG_UNCLOSED, p->k == TOK_EOF ? span_after_previous(p) : current_span(p),
				  "expected `}` to close this `{`, found %s", describe_token(p, p->i, found));
	if (!g)
		return;
	add_label(p, g, token_span(&p->t->tokens, open), "this `{` is not closed");
	token_id culprit = suspicious_brace(p, open);
	if (culprit == TOKEN_NONE)
		return;
	add_label(p, g, token_span(&p->t->tokens, culprit), "perhaps this `{` is not closed");
	add_label(p, g, token_span(&p->t->tokens, matching_bracket(p, culprit)), "this `}` has another indentation");
}

/* A recursive descent parser with precedence climbing for expressions; the grammar is in parse_item.c, parse_type.c, parse_stmt.c and
 * parse_expr.c (parse_pattern.c, parse_brackets.c), reports and recovery in parse_error.c, parse_recover.c and parse_indented.c. */
#include "frontend/syntax/parser.h"
#include <stdlib.h>
#include "base/huge_alloc.h"
#include "base/measure.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parse_state.h"

static void *parser_grow(void *at, uint32_t used, uint32_t cap, size_t size) { return huge_grow(at, used * size, cap * size); }

static void set_nodes(struct ast *t, uint32_t cap)
{
	t->kinds = parser_grow(t->kinds, t->len, cap, sizeof *t->kinds);
	t->mains = parser_grow(t->mains, t->len, cap, sizeof *t->mains);
	t->operands = parser_grow(t->operands, t->len, cap, sizeof *t->operands);
	t->cap = cap;
}

void parse_grow_nodes(struct parser *p) { set_nodes(p->t, p->t->cap + p->t->cap / 2); }

void parse_grow_extra(struct parser *p, uint32_t need)
{
	struct ast *t = p->t;
	uint32_t cap = t->cap_extra + t->cap_extra / 2;
	t->cap_extra = cap - t->n_extra < need ? t->n_extra + need : cap;
	t->extra = parser_grow(t->extra, t->n_extra, t->cap_extra, sizeof *t->extra);
}

void parse_grow_scratch(struct parser *p)
{
	p->cap_scratch *= 2;
	p->scratch = parser_grow(p->scratch, p->n_scratch, p->cap_scratch, sizeof *p->scratch);
}

uint32_t pop_list(struct parser *p, uint32_t base, uint32_t more)
{
	uint32_t n = p->n_scratch - base, idx;
	if (!n && !more)
		return 0;
	uint32_t *words = new_extra(p, n + 1 + more, &idx);
	words[0] = n;
	for (uint32_t i = 0; i < n; i++)
		words[1 + i] = p->scratch[base + i];
	p->n_scratch = base;
	return idx;
}

uint32_t pop_closed(struct parser *p, uint32_t base, token_id close)
{
	uint32_t n = p->n_scratch - base, idx = pop_list(p, base, 1);
	p->t->extra[idx + 1 + n] = close;
	return idx;
}

bool expect(struct parser *p, enum token_kind k, const char *what)
{
	if (accept(p, k))
		return true;
	error_expected(p, DIAG_EXPECTED_TOKEN, what);
	return false;
}

static bool follows_name(enum token_kind k)
{
	return k == TOK_COLON || k == TOK_ASSIGN || k == TOK_COMMA || k == TOK_RPAREN || k == TOK_LPAREN;
}

bool keyword_as_name(const struct parser *p)
{
	return p->reported_keywords && token_class((enum token_kind)p->k) == TOKEN_KEYWORD &&
	       p->reported_keywords >> (p->k - TOK_LAYER) & 1;
}

token_id expect_name(struct parser *p, const char *what)
{
	if (p->k == TOK_NAME) {
		advance(p);
		return p->i - 1;
	}
	if (token_class((enum token_kind)p->k) != TOKEN_KEYWORD || (p->newlines && after_newline(p))) {
		error_expected(p, DIAG_EXPECTED_NAME, what);
		return TOKEN_NONE;
	}
	char found[64];
	struct diag *g = error_at(p, DIAG_KEYWORD_AS_NAME, current_span(p), "expected %s, found the keyword %s", what,
				  describe_token(p, p->i, found));
	add_help(p, g, "choose another name; a keyword with `_` after it is one");
	if (!g || !follows_name(peek(p)))
		return TOKEN_NONE;
	p->reported_keywords |= (uint64_t)1 << (p->k - TOK_LAYER);
	resume(p, g);
	advance(p);
	return p->i - 1;
}

token_id parse_elements(struct parser *p, enum token_kind close, parse_fn element, uint32_t *commas)
{
	token_id open = p->i;
	bool newlines = p->newlines, no_step = p->no_step;
	uint32_t height = 0;
	*commas = 0;
	p->newlines = p->no_step = false;
	advance(p);
	while (p->k != close && p->k != TOK_EOF) {
		push(p, element(p));
		raise_height(&height, p);
		if (p->panic && !recover_element(p, open, close))
			break;
		if (p->k != TOK_COMMA && p->k != close && !recover_missing_comma(p, open, close))
			break;
		if (!accept(p, TOK_COMMA) && p->k == close)
			break;
		++*commas;
		if (p->k == TOK_RPAREN || p->k == TOK_RBRACKET || p->k == TOK_RBRACE) /* a trailing comma, or another bracket's end */
			break;
	}
	token_id closed = expect_close(p, open, close);
	p->newlines = newlines;
	p->no_step = no_step;
	p->height = height + 1;
	return closed;
}

static void parser_start(struct parser *p, struct tokens *tokens)
{
	struct ast *t = p->t;
	*t = (struct ast){.tokens = *tokens};
	*tokens = (struct tokens){0};
	soften_keywords(&t->tokens);
	set_nodes(t, t->tokens.len - t->tokens.len / 4 + 16);
	t->cap_extra = t->tokens.len - t->tokens.len / 4 + 64;
	t->extra = parser_grow(NULL, 0, t->cap_extra, sizeof *t->extra);
	t->extra[t->n_extra++] = 0;
	p->cap_scratch = 256;
	p->scratch = parser_grow(NULL, 0, p->cap_scratch, sizeof *p->scratch);
	p->kinds = t->tokens.kinds;
	p->k = p->kinds[0] & 0x7f;
	p->newlines = true;
}

bool parse(struct tokens *tokens, struct ast *out, struct diags *d)
{
	struct parser p = {.t = out, .diags = d};
	measure_begin("prepare");
	parser_start(&p, tokens);
	measure_end();
	measure_begin("build the tree");
	parse_root(&p);
	measure_end();
	free(p.scratch);
	free(p.match);
	return !p.failed;
}

bool parse_source(const struct source *src, struct ast *out, struct diags *d)
{
	struct tokens tokens;
	bool ok = lex(src, &tokens, d);
	return parse(&tokens, out, d) && ok;
}

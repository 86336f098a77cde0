/* Expressions within brackets or quotes: ( ), [ ] with comprehensions, f-strings. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

node_id parse_paren(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RPAREN, parse_expr, &commas);
	if (p->n_scratch - base == 1 && !commas) {
		node_id inner = p->scratch[--p->n_scratch];
		return new_node(p, NODE_PAREN, open, inner, close);
	}
	return new_node(p, NODE_TUPLE, open, pop_list(p, base, 0), close);
}

static node_id parse_clause(struct parser *p)
{
	token_id keyword = p->i;
	uint32_t height;
	advance(p);
	if ((p->kinds[keyword] & 0x7f) == TOK_IF) {
		node_id cond = parse_condition(p);
		p->height++;
		return new_node(p, NODE_COMP_IF, keyword, cond, 0);
	}
	node_id pattern = parse_pattern(p);
	height = p->height;
	expect(p, TOK_IN, "`in` and a list or range");
	node_id iter = p->panic ? error_node(p) : parse_expr(p);
	raise_height(&height, p);
	p->height = height + 1;
	return new_node(p, NODE_COMP_FOR, keyword, pattern, iter);
}

/* An element of [a, b]; or all of [a for b in c], a COMPREHENSION whose closing token parse_list_literal fills in. */
static node_id parse_list_element(struct parser *p)
{
	token_id before = p->i - 1;
	node_id e = parse_expr(p);
	if (p->k != TOK_FOR || p->panic || (p->kinds[before] & 0x7f) != TOK_LBRACKET)
		return e;
	uint32_t base = p->n_scratch, height = p->height;
	while ((p->k == TOK_FOR || p->k == TOK_IF) && !p->panic) {
		push(p, parse_clause(p));
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_COMPREHENSION, before, e, pop_closed(p, base, TOKEN_NONE));
}

node_id parse_list_literal(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RBRACKET, parse_list_element, &commas);
	if (p->n_scratch - base == 1) {
		node_id only = p->scratch[base];
		if (ast_kind(p->t, only) == NODE_COMPREHENSION && ast_token(p->t, only) == open) {
			uint32_t idx = ast_b(p->t, only);
			p->t->extra[idx + 1 + p->t->extra[idx]] = close;
			p->n_scratch = base;
			return only;
		}
	}
	return new_node(p, NODE_LIST, open, pop_list(p, base, 0), close);
}

/* Skips to the text that ends the current interpolation. */
static void recover_fstring(struct parser *p)
{
	uint32_t inner = 0;
	while (p->k != TOK_EOF && !after_newline(p)) {
		if (!inner && (p->k == TOK_FSTR_MID || p->k == TOK_FSTR_TAIL))
			break;
		inner += p->k == TOK_FSTR_HEAD;
		inner -= p->k == TOK_FSTR_TAIL;
		advance(p);
	}
	if (!p->fatal && (p->k == TOK_FSTR_MID || p->k == TOK_FSTR_TAIL))
		p->panic = false;
}

static node_id parse_interpolation(struct parser *p)
{
	bool empty = p->k == TOK_FSTR_MID || p->k == TOK_FSTR_TAIL;
	if (empty)
		error_at(p, DIAG_BAD_FSTRING, current_span(p), "an expression is missing in these braces");
	node_id e = empty ? error_node(p) : parse_expr(p);
	bool fine = ast_kind(p->t, e) != NODE_ERROR && !p->panic;
	if (fine && p->k == TOK_ASSIGN) /* {x=} */
		advance(p);
	if (fine && p->k == TOK_FSTR_SPEC)
		advance(p);
	if (ast_kind(p->t, e) == NODE_ERROR) {
		p->panic = p->failed = true; /* reported */
	} else if (p->k == TOK_BANG && !p->panic) {
		struct diag *g = error_at(p, DIAG_BAD_FSTRING, current_span(p), "an f-string takes no conversion after `!`");
		add_help(p, g, "write the value alone: a string within a list is shown with its quotes");
	} else if (p->k != TOK_FSTR_MID && p->k != TOK_FSTR_TAIL) {
		error_expected(p, DIAG_BAD_FSTRING, "`}` after the expression in an f-string");
	}
	if (p->panic)
		recover_fstring(p);
	return e;
}

static node_id fstring_node(struct parser *p, uint32_t base, token_id first)
{
	uint32_t n = (p->n_scratch - base) / 2, idx, *words = new_extra(p, 2 * n + 2, &idx);
	words[0] = n;
	words[1 + n] = first;
	for (uint32_t i = 0; i < n; i++) {
		words[1 + i] = p->scratch[base + 2 * i];
		words[2 + n + i] = p->scratch[base + 2 * i + 1];
	}
	p->n_scratch = base;
	return new_node(p, NODE_FSTRING, first, idx, 0);
}

node_id parse_fstring(struct parser *p)
{
	token_id first = p->i;
	uint32_t base = p->n_scratch, height = 0;
	bool newlines = p->newlines, no_step = p->no_step, more = p->k == TOK_FSTR_HEAD;
	p->newlines = false;
	p->no_step = true;
	advance(p);
	while (more && p->k != TOK_EOF) {
		push(p, parse_interpolation(p));
		raise_height(&height, p);
		bool text = p->k == TOK_FSTR_MID || p->k == TOK_FSTR_TAIL;
		push(p, text ? p->i : first); /* without an end there was an error */
		more = p->k == TOK_FSTR_MID;
		if (text)
			advance(p);
	}
	p->newlines = newlines;
	p->no_step = no_step;
	p->height = height + 1;
	return fstring_node(p, base, first);
}

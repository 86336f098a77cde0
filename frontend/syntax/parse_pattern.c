/* Patterns of `let`, `for` and comprehensions. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

static node_id parse_one_pattern(struct parser *p);

static node_id parse_rest_pattern(struct parser *p)
{
	token_id dots = p->i;
	advance(p);
	token_id name = expect_name(p, "a name for the rest of the list");
	if (name == TOKEN_NONE)
		return error_node(p);
	p->height = 1;
	return new_node(p, NODE_PAT_REST, dots, name, 0);
}

static node_id parse_list_pattern_element(struct parser *p)
{
	if (p->k == TOK_STAR)
		habit_at(p, HABIT_AT_PATTERN, 0, NULL);
	return p->k == TOK_DOT3 ? parse_rest_pattern(p) : parse_one_pattern(p);
}

static void check_rests(struct parser *p, uint32_t base)
{
	uint32_t rests = 0;
	for (uint32_t i = base; i < p->n_scratch && !p->panic; i++) {
		node_id n = p->scratch[i];
		if (ast_kind(p->t, n) == NODE_PAT_REST && rests++) {
			struct diag *g = error_at(p, DIAG_PATTERN_REST, ast_span(p->t, n), "a list pattern has one `...` at most");
			resume(p, g);
		}
	}
}

static node_id parse_list_pattern(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RBRACKET, parse_list_pattern_element, &commas);
	check_rests(p, base);
	return new_node(p, NODE_PAT_LIST, open, pop_list(p, base, 0), close);
}

static node_id parse_tuple_pattern(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RPAREN, parse_one_pattern, &commas);
	if (p->n_scratch - base == 1 && !commas)
		return p->scratch[--p->n_scratch];
	return new_node(p, NODE_PAT_TUPLE, open, pop_list(p, base, 0), close);
}

static node_id report_no_pattern(struct parser *p)
{
	if (p->k == TOK_DOT3) {
		struct diag *g = error_at(p, DIAG_PATTERN_REST, current_span(p), "`...` is allowed in list patterns only");
		add_help(p, g, "write `[first, ...rest]`");
		return error_node(p);
	}
	if (token_class((enum token_kind)p->k) == TOKEN_KEYWORD)
		expect_name(p, "a name"); /* which reports it */
	else
		error_expected(p, DIAG_EXPECTED_PATTERN, "a name or a pattern");
	return error_node(p);
}

static node_id parse_one_pattern(struct parser *p)
{
	if (p->k == TOK_NAME) {
		return take_leaf(p, NODE_PAT_NAME);
	}
	if (!enter_nesting(p))
		return error_too_deep(p);
	node_id n;
	if (p->k == TOK_LPAREN)
		n = parse_tuple_pattern(p);
	else
		n = p->k == TOK_LBRACKET ? parse_list_pattern(p) : report_no_pattern(p);
	leave_nesting(p);
	return n;
}

node_id parse_pattern(struct parser *p)
{
	token_id first = p->i;
	node_id n = parse_one_pattern(p);
	if (p->k != TOK_COMMA || p->panic || (p->newlines && after_newline(p)))
		return n;
	uint32_t base = p->n_scratch, height = p->height;
	push(p, n);
	while (!p->panic && accept(p, TOK_COMMA)) {
		push(p, parse_one_pattern(p));
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_PAT_TUPLE, first, pop_list(p, base, 0), TOKEN_NONE);
}

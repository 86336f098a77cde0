/* Expressions, by precedence climbing. Levels, low to high: 1 ? :, 2 ||, 3 &&, 4 == != in, 5 < <= > >= (a chain), 6 .., 7 |, 8 ^, 9 &,
 * 10 << >>, 11 + -, 12 * / // % @, 13 unary, 14 ** (right), then . () []. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

enum { LEVEL_OR = 2, LEVEL_EQUAL = 4, LEVEL_COMPARE = 5, LEVEL_RANGE = 6, LEVEL_BITS = 7 };

static const uint8_t levels[TOK_COUNT] = {
	[TOK_OR] = 2,    [TOK_AND] = 3,    [TOK_EQ] = 4,      [TOK_NE] = 4,       [TOK_LT] = 5,      [TOK_LE] = 5,
	[TOK_IN] = 4,    [TOK_GT] = 5,     [TOK_GE] = 5,      [TOK_DOT2] = 6,     [TOK_DOT2_EQ] = 6, [TOK_PIPE] = 7,
	[TOK_CARET] = 8, [TOK_AMP] = 9,    [TOK_SHL] = 10,    [TOK_SHR] = 10,     [TOK_PLUS] = 11,   [TOK_MINUS] = 11,
	[TOK_STAR] = 12, [TOK_SLASH] = 12, [TOK_SLASH2] = 12, [TOK_PERCENT] = 12, [TOK_AT] = 12,
};
unsigned operator_level(enum token_kind k) { return levels[k]; }

/* Tokens that continue a primary expression. */
static const uint8_t is_postfix[TOK_COUNT] = {[TOK_DOT] = 1, [TOK_LPAREN] = 1, [TOK_LBRACKET] = 1};

/* Tokens that start an operand and never follow a name. */
static const uint8_t is_operand_start[TOK_COUNT] = {[TOK_NAME] = 1, [TOK_LPAREN] = 1, [TOK_TRUE] = 1, [TOK_FALSE] = 1};

static node_id parse_unary(struct parser *p);
static node_id parse_postfix(struct parser *p, node_id left);
static node_id parse_binary(struct parser *p, unsigned min);

/* True if the newline before the operator here ends the statement: the operator may start the next one. */
static bool newline_ends(struct parser *p)
{
	if (p->k == TOK_AT)
		return is_at_attribute(p);
	return p->k == TOK_PLUS || p->k == TOK_MINUS;
}

static bool is_too_high(struct parser *p, uint32_t height)
{
	p->height = height;
	if (height <= PARSE_MAX_NESTING)
		return false;
	error_too_deep(p);
	return true;
}

/* The rest of a < b <= c after its first two operands. */
static node_id parse_chain(struct parser *p, node_id first, token_id op, node_id second, uint32_t height)
{
	uint32_t base = p->n_scratch, idx;
	push(p, first);
	push(p, op);
	push(p, second);
	while (levels[p->k] == LEVEL_COMPARE && !p->panic) {
		push(p, p->i);
		advance(p);
		push(p, parse_binary(p, LEVEL_COMPARE + 1));
		raise_height(&height, p);
	}
	uint32_t n = (p->n_scratch - base + 1) / 2, *words = new_extra(p, 2 * n, &idx);
	words[0] = n;
	for (uint32_t i = 0; i < n; i++)
		words[1 + i] = p->scratch[base + 2 * i];
	for (uint32_t i = 0; i + 1 < n; i++)
		words[1 + n + i] = p->scratch[base + 2 * i + 1];
	p->n_scratch = base;
	p->height = height + 1;
	return new_node(p, NODE_CHAIN, op, idx, 0);
}

/* True if the `:` here, at the end of its line, begins a Python body. A step on the next line is followed by the body's brace. */
static bool begins_body(const struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id i = p->i + 1;
	if (!p->newlines || !token_after_newline(t, i))
		return false;
	do
		i++;
	while (!token_after_newline(t, i) && token_kind(t, i - 1) != TOK_LBRACE && token_kind(t, i) != TOK_EOF);
	return token_kind(t, i - 1) != TOK_LBRACE;
}

static node_id parse_range(struct parser *p, node_id from)
{
	token_id op = p->i;
	uint32_t height = p->height;
	advance(p);
	node_id to = parse_binary(p, LEVEL_BITS), step = AST_NONE;
	raise_height(&height, p);
	if (!p->no_step && !p->panic && p->k == TOK_COLON && !begins_body(p)) {
		advance(p);
		step = parse_binary(p, LEVEL_BITS);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_RANGE, op, from, new_pair(p, to, step));
}

/* Operators of level `min` and up after `left`. */
static node_id parse_binary_from(struct parser *p, node_id left, unsigned min)
{
	for (;;) {
		unsigned level = levels[p->k];
		if (level < min || (after_newline(p) && p->newlines && newline_ends(p)) || p->panic)
			return left;
		if (p->k == TOK_LT && habit_at(p, HABIT_AT_LESS, 0, &left)) {
			left = parse_postfix(p, left);
			continue;
		}
		token_id op = p->i;
		uint32_t height = p->height;
		if (level == LEVEL_RANGE) {
			left = parse_range(p, left);
		} else {
			advance(p);
			node_id right = parse_binary(p, level + 1);
			raise_height(&height, p);
			p->height = height + 1;
			if (level == LEVEL_COMPARE && levels[p->k] == LEVEL_COMPARE && !p->panic)
				left = parse_chain(p, left, op, right, height);
			else
				left = new_node(p, NODE_BINARY, op, left, right);
		}
		if (p->height > PARSE_MAX_NESTING)
			return error_too_deep(p);
	}
}

/* Joins a `>` here with an adjacent `>` or `>=`, which in types close two lists of arguments. The second token becomes the operator, and no
 * text remains to the first. */
static void join_shift(struct parser *p)
{
	struct tokens *t = &p->t->tokens;
	token_id second = p->i + 1;
	enum token_kind k = token_kind(t, second);
	if ((k != TOK_GT && k != TOK_GE) || t->ends[p->i] != t->starts[second])
		return;
	t->starts[second] = t->ends[p->i] = t->starts[p->i];
	t->kinds[second] = (uint8_t)((p->kinds[p->i] & TOKEN_NEWLINE) | (k == TOK_GT ? TOK_SHR : TOK_SHR_EQ));
	advance(p);
}

static node_id parse_binary(struct parser *p, unsigned min)
{
	node_id left = parse_unary(p);
	if (p->k == TOK_GT)
		join_shift(p);
	return levels[p->k] < min ? left : parse_binary_from(p, left, min);
}

static node_id parse_ternary(struct parser *p, node_id cond)
{
	token_id question = p->i;
	uint32_t height = p->height;
	bool no_step = p->no_step;
	advance(p);
	p->no_step = true;
	node_id then = parse_expr(p);
	p->no_step = no_step;
	raise_height(&height, p);
	if (!expect(p, TOK_COLON, "`:` and the other value of `? :`"))
		return error_node(p);
	node_id otherwise = parse_expr(p);
	raise_height(&height, p);
	p->height = height + 1;
	return new_node(p, NODE_TERNARY, question, cond, new_pair(p, then, otherwise));
}

/* The rest of an expression: habits, `? :`. */
static node_id parse_rest(struct parser *p, node_id left)
{
	while ((p->k == TOK_NAME || p->k == TOK_IF) && !(p->newlines && after_newline(p)) && habit_at(p, HABIT_AT_OPERATOR, 0, &left))
		left = parse_binary_from(p, left, LEVEL_OR);
	return p->k == TOK_QUESTION && !p->panic ? parse_ternary(p, left) : left;
}

node_id parse_expr(struct parser *p)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	node_id e = parse_binary(p, LEVEL_OR);
	if (p->k == TOK_QUESTION || p->k == TOK_NAME || p->k == TOK_IF)
		e = parse_rest(p, e);
	leave_nesting(p);
	return e;
}

node_id parse_condition(struct parser *p)
{
	node_id e = parse_expr(p);
	while (p->k == TOK_ASSIGN && !p->panic) {
		struct diag *g = error_at(p, DIAG_ASSIGN_FOR_EQUALS, current_span(p), "`=` assigns; a comparison is written `==`");
		suggest_edit(p, g, current_span(p), "==");
		resume(p, g);
		read_token_as(p, TOK_EQ);
		e = parse_rest(p, parse_binary_from(p, e, LEVEL_OR));
	}
	return e;
}

node_id parse_expr_or_tuple(struct parser *p)
{
	token_id first = p->i;
	node_id e = parse_expr(p);
	if (p->k != TOK_COMMA || p->panic || (p->newlines && after_newline(p)))
		return e;
	uint32_t base = p->n_scratch, height = p->height;
	push(p, e);
	while (!p->panic && accept(p, TOK_COMMA)) {
		push(p, parse_expr(p));
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_TUPLE, first, pop_list(p, base, 0), TOKEN_NONE);
}

/* `name = value` or `name: value` */
static bool at_named_arg(const struct parser *p)
{
	return (peek(p) == TOK_ASSIGN || peek(p) == TOK_COLON) && (p->k == TOK_NAME || token_class((enum token_kind)p->k) == TOKEN_KEYWORD);
}

static node_id parse_argument(struct parser *p)
{
	if (!at_named_arg(p))
		return parse_expr(p);
	token_id name = p->i;
	advance(p);
	advance(p);
	node_id value = parse_expr(p);
	p->height++;
	return new_node(p, NODE_NAMED_ARG, name, value, 0);
}

static void check_argument_order(struct parser *p, uint32_t base)
{
	node_id named = AST_NONE;
	for (uint32_t i = base; i < p->n_scratch; i++) {
		node_id n = p->scratch[i];
		if (ast_kind(p->t, n) == NODE_NAMED_ARG) {
			named = n;
		} else if (named && !p->panic) {
			struct diag *g = error_at(p, DIAG_ARGUMENT_ORDER, ast_span(p->t, n), "a positional argument follows a named one");
			add_label(p, g, ast_span(p->t, named), "named from here on");
			resume(p, g);
			return;
		}
	}
}

uint32_t parse_arguments(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id close = parse_elements(p, TOK_RPAREN, parse_argument, &commas);
	check_argument_order(p, base);
	return pop_closed(p, base, close);
}

static bool ends_slice_part(const struct parser *p)
{
	return p->k == TOK_COLON || p->k == TOK_COMMA || p->k == TOK_RBRACKET || p->k == TOK_EOF;
}

static node_id parse_expr_slice_part(struct parser *p, uint32_t *height)
{
	if (ends_slice_part(p) || p->panic)
		return AST_NONE;
	node_id e = parse_expr(p);
	raise_height(height, p);
	return e;
}

static node_id parse_subscript(struct parser *p)
{
	if (p->k == TOK_DOT3)
		return take_leaf(p, NODE_ELLIPSIS);
	uint32_t height = 0;
	p->no_step = true; /* parse_elements restores it */
	node_id from = p->k == TOK_COLON ? AST_NONE : parse_expr(p), step = AST_NONE;
	if (p->k != TOK_COLON || p->panic)
		return from ? from : error_node(p);
	if (from)
		height = p->height;
	token_id colon = p->i;
	advance(p);
	node_id to = parse_expr_slice_part(p, &height);
	if (!p->panic && accept(p, TOK_COLON))
		step = parse_expr_slice_part(p, &height);
	p->height = height + 1;
	return new_node(p, NODE_SLICE, colon, from, new_pair(p, to, step));
}

static node_id parse_index(struct parser *p, node_id object)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RBRACKET, parse_subscript, &commas);
	if (p->n_scratch == base && !p->panic) {
		struct diag *g = error_at(p, DIAG_EMPTY_BRACKETS, token_range(p, open, close), "an index is missing in these brackets");
		resume(p, g);
	}
	return new_node(p, NODE_INDEX, open, object, pop_closed(p, base, close));
}

static node_id parse_member_access(struct parser *p, node_id object)
{
	advance(p);
	if (p->k != TOK_NAME && (token_class((enum token_kind)p->k) != TOKEN_KEYWORD || after_newline(p))) {
		error_expected(p, DIAG_EXPECTED_NAME, "a member's name after `.`");
		return error_node(p);
	}
	node_id n = new_node(p, NODE_MEMBER, p->i, object, 0);
	advance(p);
	return n;
}

static node_id parse_postfix(struct parser *p, node_id left)
{
	while (is_postfix[p->k] && !p->panic) {
		uint32_t height = p->height;
		if (p->k == TOK_DOT) {
			left = parse_member_access(p, left);
		} else if (p->newlines && after_newline(p)) {
			break;
		} else if (p->k == TOK_LPAREN) {
			token_id open = p->i;
			left = new_node(p, NODE_CALL, open, left, parse_arguments(p));
		} else {
			left = parse_index(p, left);
		}
		raise_height(&height, p);
		if (is_too_high(p, height + 1))
			break;
	}
	return left;
}

static node_id report_no_expression(struct parser *p)
{
	if (keyword_as_name(p))
		return take_leaf(p, NODE_ERROR);
	error_expected(p, DIAG_EXPECTED_EXPR, "an expression");
	return error_node(p);
}

static node_id parse_primary(struct parser *p)
{
	switch ((enum token_kind)p->k) {
	case TOK_NAME:
	case TOK_WHERE: return take_leaf(p, NODE_NAME);
	case TOK_INT: return take_leaf(p, NODE_INT);
	case TOK_FLOAT: return take_leaf(p, NODE_FLOAT);
	case TOK_STRING: return take_leaf(p, NODE_STRING);
	case TOK_TRUE: return take_leaf(p, NODE_TRUE);
	case TOK_FALSE: return take_leaf(p, NODE_FALSE);
	case TOK_NONE: return take_leaf(p, NODE_NONE);
	case TOK_ERROR: /* reported by the lexer; other errors of the statement may be due to it */
		p->panic = p->failed = true;
		return take_leaf(p, NODE_ERROR);
	case TOK_FSTR_WHOLE:
	case TOK_FSTR_HEAD: return parse_fstring(p);
	case TOK_LPAREN: return parse_paren(p);
	case TOK_LBRACKET: return parse_list_literal(p);
	case TOK_LBRACE: return parse_block(p);
	case TOK_IF: return parse_if(p);
	default: return report_no_expression(p);
	}
}

static node_id parse_prefix(struct parser *p, bool of_comparison)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id op = p->i;
	advance(p);
	node_id operand = of_comparison ? parse_binary(p, LEVEL_EQUAL) : parse_unary(p);
	p->height++;
	leave_nesting(p);
	return new_node(p, NODE_UNARY, op, operand, 0);
}

static node_id parse_power(struct parser *p, node_id base)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id op = p->i;
	uint32_t height = p->height;
	advance(p);
	node_id exponent = parse_unary(p);
	raise_height(&height, p);
	p->height = height + 1;
	leave_nesting(p);
	return new_node(p, NODE_BINARY, op, base, exponent);
}

node_id parse_negation(struct parser *p) { return parse_prefix(p, true); }

static node_id parse_unary(struct parser *p)
{
	if (p->k == TOK_MINUS || p->k == TOK_BANG || p->k == TOK_PLUS || p->k == TOK_TILDE)
		return parse_prefix(p, false);
	node_id left;
	if (p->k == TOK_NAME && is_operand_start[peek(p)] && habit_at(p, HABIT_AT_OPERAND, 0, &left))
		return left;
	left = p->k == TOK_NAME ? take_leaf(p, NODE_NAME) : parse_primary(p); /* most are names: no call for them */
	if (is_postfix[p->k])
		left = parse_postfix(p, left);
	return p->k == TOK_STAR2 && !p->panic ? parse_power(p, left) : left;
}

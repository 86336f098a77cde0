/* Types and dimensions. Among type arguments the two share one grammar, since a name may be either. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

static node_id parse_type_arg(struct parser *p);

static bool closes_angle(const struct parser *p) { return p->k == TOK_GT || p->k == TOK_GE; }

/* Takes the `>` that closes type arguments; of a `>=`, the `=` remains, for `let x: Image<3>= y`. */
static token_id expect_angle(struct parser *p, token_id open)
{
	if (p->k == TOK_GE) {
		p->k = TOK_ASSIGN;
		return p->i;
	}
	if (accept(p, TOK_GT))
		return p->i - 1;
	struct diag *g = error_expected(p, DIAG_EXPECTED_TOKEN, "`,` or `>`");
	add_label(p, g, token_span(&p->t->tokens, open), "to close this `<`");
	if (p->k == TOK_ASSIGN || p->k == TOK_LBRACE || p->k == TOK_RPAREN || starts_item((enum token_kind)p->k))
		suggest_edit(p, g, span_after_previous(p), ">");
	return TOKEN_NONE;
}

token_id closing_angle(const struct parser *p, token_id i)
{
	enum { MOST = 64 }; /* so that many of them take linear time */
	const struct tokens *t = &p->t->tokens;
	uint32_t depth = 0;
	for (token_id first = i; i < first + MOST && (i == first || !token_after_newline(t, i)); i++) {
		enum token_kind k = token_kind(t, i);
		depth += k == TOK_LT;
		if (k == TOK_GT && !--depth)
			return i;
		if (k != TOK_LT && k != TOK_GT && k != TOK_NAME && k != TOK_INT && k != TOK_COMMA && k != TOK_LBRACKET &&
		    k != TOK_RBRACKET && k != TOK_QUESTION && k != TOK_DOT && k != TOK_STAR)
			break;
	}
	return TOKEN_NONE;
}

static void parse_type_report_empty(struct parser *p, token_id open, const char *what)
{
	struct diag *g = error_at(p, DIAG_EMPTY_BRACKETS, token_range(p, open, p->i), "%s missing in these brackets", what);
	resume(p, g);
}

/* Pushes the elements of `<…>`. Returns the closing token or TOKEN_NONE. */
static token_id parse_angle_list(struct parser *p, parse_fn element, const char *what)
{
	uint32_t base = p->n_scratch, height = 0;
	token_id open = p->i;
	bool newlines = p->newlines;
	p->newlines = false;
	advance(p);
	while (!closes_angle(p) && p->k != TOK_EOF && !p->panic) {
		push(p, element(p));
		raise_height(&height, p);
		if (p->panic || !accept(p, TOK_COMMA))
			break;
	}
	if (p->n_scratch == base && !p->panic)
		parse_type_report_empty(p, open, what);
	token_id close = expect_angle(p, open);
	p->newlines = newlines;
	p->height = height + 1;
	return close;
}

/* The arguments at `<`: a CLOSED list. */
static uint32_t parse_angle_args(struct parser *p)
{
	uint32_t base = p->n_scratch;
	token_id close = parse_angle_list(p, parse_type_arg, "type arguments are");
	return pop_closed(p, base, close);
}

static uint32_t parse_square_args(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id close = parse_elements(p, TOK_RBRACKET, parse_type_arg, &commas);
	return pop_closed(p, base, close);
}

static node_id parse_type_name(struct parser *p)
{
	token_id name = p->i, module = TOKEN_NONE;
	advance(p);
	if (p->k == TOK_DOT && peek(p) == TOK_NAME) {
		module = name;
		name = p->i + 1;
		advance(p);
		advance(p);
	}
	bool same_line = !(p->newlines && after_newline(p));
	p->height = 1;
	if (p->k == TOK_LT) {
		uint32_t args = parse_angle_args(p);
		return new_node(p, NODE_TYPE_NAME, name, module, args);
	}
	if (p->k == TOK_LBRACKET && same_line) {
		uint32_t args = parse_square_args(p);
		return new_node(p, NODE_TYPE_ANY, name, module, args);
	}
	return new_node(p, NODE_TYPE_NAME, name, module, 0);
}

static bool is_arithmetic(const struct parser *p, node_id n) { return ast_kind(p->t, n) == NODE_BINARY || ast_kind(p->t, n) == NODE_UNARY; }

/* ( ): a tuple type, or grouping, which leaves a node only around arithmetic. */
static node_id parse_type_tuple(struct parser *p, parse_fn element)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RPAREN, element, &commas);
	if (p->n_scratch - base == 1 && !commas) {
		node_id inner = p->scratch[--p->n_scratch];
		return is_arithmetic(p, inner) ? new_node(p, NODE_PAREN, open, inner, close) : inner;
	}
	return new_node(p, NODE_TYPE_TUPLE, open, pop_list(p, base, 0), close);
}

static node_id parse_type_list(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RBRACKET, parse_type, &commas);
	uint32_t n = p->n_scratch - base;
	node_id element = n ? p->scratch[base] : error_node(p);
	if (n > 1)
		return new_node(p, NODE_TYPE_SHAPE, open, pop_list(p, base, 0), close);
	p->n_scratch = base;
	if (!n && !p->panic) {
		struct diag *g = error_at(p, DIAG_EXPECTED_TYPE, token_range(p, open, close), "a list type needs an element type");
		add_help(p, g, "write it as in `[A]`");
		resume(p, g);
	}
	return new_node(p, NODE_TYPE_LIST, open, element, close);
}

static node_id report_no_type(struct parser *p, const char *what)
{
	if (habit_at(p, HABIT_AT_TYPE, 0, NULL))
		return error_node(p);
	error_expected(p, DIAG_EXPECTED_TYPE, what);
	return error_node(p);
}

/* fn(A, B) -> C */
static node_id parse_type_fn(struct parser *p)
{
	token_id keyword = p->i;
	uint32_t base = p->n_scratch, commas, height;
	node_id result = AST_NONE;
	advance(p);
	token_id close = parse_elements(p, TOK_RPAREN, parse_type, &commas);
	uint32_t params = pop_closed(p, base, close);
	height = p->height;
	if (!p->panic && accept(p, TOK_ARROW)) {
		result = parse_type(p);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_TYPE_FN, keyword, params, result);
}

node_id parse_type(struct parser *p)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id first = p->i;
	node_id n;
	switch ((enum token_kind)p->k) {
	case TOK_NAME: n = parse_type_name(p); break;
	case TOK_LPAREN: n = parse_type_tuple(p, parse_type); break;
	case TOK_LBRACKET: n = parse_type_list(p); break;
	case TOK_FN: n = peek(p) == TOK_LPAREN ? parse_type_fn(p) : report_no_type(p, "a type"); break;
	default: n = report_no_type(p, "a type"); break;
	}
	if (p->k == TOK_QUESTION && !p->panic && !(p->newlines && after_newline(p))) {
		n = new_node(p, NODE_TYPE_OPTION, p->i, n, 0);
		p->height++;
		advance(p);
	}
	if (p->k == TOK_PIPE && !(p->newlines && after_newline(p)))
		habit_at(p, HABIT_AT_UNION, first, NULL);
	leave_nesting(p);
	return n;
}

static node_id parse_type_parse_shape(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	token_id open = p->i, close = parse_elements(p, TOK_RBRACKET, parse_type_arg, &commas);
	return new_node(p, NODE_TYPE_SHAPE, open, pop_list(p, base, 0), close);
}

static node_id parse_dim_primary(struct parser *p)
{
	if (keyword_as_name(p))
		read_token_as(p, TOK_NAME);
	switch ((enum token_kind)p->k) {
	case TOK_NAME:
		if (token_is(&p->t->tokens, p->i, "_") && habit_at(p, HABIT_AT_DIM, 0, NULL))
			return new_leaf(p, NODE_DIM_UNKNOWN, p->i - 1);
		return parse_type_name(p);
	case TOK_INT: return take_leaf(p, NODE_INT);
	case TOK_QUESTION: return take_leaf(p, NODE_DIM_UNKNOWN);
	case TOK_LPAREN: return parse_type_tuple(p, parse_type_arg);
	case TOK_LBRACKET: return parse_type_parse_shape(p);
	default:
		if (habit_at(p, HABIT_AT_DIM, 0, NULL))
			return new_leaf(p, NODE_DIM_UNKNOWN, p->i - 1);
		return report_no_type(p, "a type or a dimension");
	}
}

static node_id parse_dim_unary(struct parser *p)
{
	if (p->k != TOK_MINUS)
		return parse_dim_primary(p);
	if (peek(p) == TOK_INT && habit_at(p, HABIT_AT_DIM, 0, NULL))
		return new_leaf(p, NODE_DIM_UNKNOWN, p->i - 1);
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id op = p->i;
	advance(p);
	node_id operand = parse_dim_unary(p);
	p->height++;
	leave_nesting(p);
	return new_node(p, NODE_UNARY, op, operand, 0);
}

static bool is_product(const struct parser *p) { return p->k == TOK_STAR || p->k == TOK_SLASH2 || p->k == TOK_PERCENT; }
static bool is_sum(const struct parser *p) { return p->k == TOK_PLUS || p->k == TOK_MINUS; }

/* The rest of a left-associative `operand op operand …`. */
static node_id parse_dim_chain(struct parser *p, node_id left, parse_fn operand, bool (*is_op)(const struct parser *))
{
	while (is_op(p) && !p->panic) {
		token_id op = p->i;
		uint32_t height = p->height;
		advance(p);
		node_id right = operand(p);
		raise_height(&height, p);
		p->height = height + 1;
		left = new_node(p, NODE_BINARY, op, left, right);
		if (p->height > PARSE_MAX_NESTING)
			return error_too_deep(p);
	}
	return left;
}

static node_id parse_dim_product_from(struct parser *p, node_id left)
{
	node_id n = parse_dim_chain(p, left, parse_dim_unary, is_product);
	if (p->panic || (p->k != TOK_SLASH && p->k != TOK_STAR2))
		return n;
	if (p->k == TOK_STAR2) {
		add_help(p, error_at(p, DIAG_EXPECTED_TYPE, current_span(p), "dimensions have no powers"), "write products, `N * N`");
		return n;
	}
	struct diag *g = error_at(p, DIAG_EXPECTED_TYPE, current_span(p), "dimensions are divided with `//`");
	suggest_edit(p, g, current_span(p), "//");
	return n;
}

static node_id parse_dim_product(struct parser *p) { return parse_dim_product_from(p, parse_dim_unary(p)); }

static node_id parse_dim_sum(struct parser *p, node_id first)
{
	return parse_dim_chain(p, parse_dim_product_from(p, first), parse_dim_product, is_sum);
}

/* `cap T` */
static bool at_capacity(const struct parser *p)
{
	return p->k == TOK_NAME && peek(p) == TOK_NAME && token_is(&p->t->tokens, p->i, "cap") &&
	       !token_after_newline(&p->t->tokens, p->i + 1);
}

static node_id parse_capacity(struct parser *p)
{
	token_id word = p->i;
	if (!p->in_state) {
		struct diag *g = error_at(p, DIAG_STATE_TYPE, token_range(p, word, word + 1), "a capacity belongs to the type of a state");
		add_help(p, g, "elsewhere the filled length is a dimension like any other: leave out `cap`");
		resume(p, g);
	}
	advance(p);
	advance(p);
	return new_node(p, NODE_DIM_CAP, word, word + 1, 0);
}

static node_id parse_type_arg(struct parser *p)
{
	if (at_capacity(p))
		return parse_capacity(p);
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id first = p->i;
	node_id n = parse_dim_unary(p);
	if (p->k != TOK_COMMA && p->k != TOK_RBRACKET && p->k != TOK_GT) /* mostly a single name or number */
		n = parse_dim_sum(p, n);
	if (p->k == TOK_PIPE)
		habit_at(p, HABIT_AT_UNION, first, NULL);
	leave_nesting(p);
	return n;
}

uint32_t parse_traits(struct parser *p)
{
	uint32_t base = p->n_scratch;
	do {
		token_id name = expect_name(p, "a trait such as `Numeric`");
		if (name == TOKEN_NONE)
			break;
		push(p, name);
	} while (accept(p, TOK_PLUS));
	return pop_list(p, base, 0);
}

/* Takes the type of `n: int32`: n is a dimension with or without it. */
static bool accept_size_type(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id type = p->i + 1;
	if (p->k != TOK_COLON || !(token_is(t, type, "int") || token_is(t, type, "int32") || token_is(t, type, "int64")))
		return false;
	advance(p);
	advance(p);
	return true;
}

static node_id parse_generic(struct parser *p)
{
	token_id name = expect_name(p, "the name of a generic");
	if (name == TOKEN_NONE)
		return error_node(p);
	uint32_t traits = !accept_size_type(p) && accept(p, TOK_COLON) ? parse_traits(p) : 0;
	return new_node(p, NODE_GENERIC, name, traits, 0);
}

uint32_t parse_generics(struct parser *p)
{
	if (p->k == TOK_LBRACKET)
		habit_at(p, HABIT_AT_GENERICS, 0, NULL);
	if (p->k != TOK_LT)
		return 0;
	uint32_t base = p->n_scratch;
	parse_angle_list(p, parse_generic, "generics are");
	return pop_list(p, base, 0);
}

/* The file: definitions, their attributes, constants and type aliases. */
#include "frontend/syntax/parse_state.h"

/* --- attributes --- */

/* The token after the attribute that begins at `@` i; TOKEN_NONE: it is no attribute. */
static token_id skip_attribute(const struct parser *p, token_id i)
{
	const struct tokens *t = &p->t->tokens;
	uint32_t depth = 0;
	if (token_kind(t, ++i) != TOK_NAME)
		return TOKEN_NONE;
	if (token_kind(t, ++i) != TOK_LPAREN)
		return i;
	for (;; i++) {
		enum token_kind k = token_kind(t, i);
		depth += k == TOK_LPAREN;
		depth -= k == TOK_RPAREN;
		if (!depth)
			return i + 1;
		if (k == TOK_EOF || k == TOK_LBRACE)
			return TOKEN_NONE;
	}
}

static bool takes_attributes(enum token_kind k)
{
	return k == TOK_FN || k == TOK_LAYER || k == TOK_CONST || k == TOK_TYPE || k == TOK_PARAM || k == TOK_STATE;
}

/* With another name, `@ w` before a `for` is the end of a product. */
bool is_loop_attribute(const struct parser *p, token_id i)
{
	return token_is(&p->t->tokens, i + 1, "unroll") || token_is(&p->t->tokens, i + 1, "loop");
}

bool is_at_attribute(struct parser *p)
{
	token_id i = p->i, last = i, operator_end = i;
	if (i < p->attr_end)
		return p->attr_result; /* found for an earlier `@` of the same attributes */
	while (i != TOKEN_NONE && token_kind(&p->t->tokens, i) == TOK_AT) {
		last = i;
		operator_end = is_loop_attribute(p, i) ? operator_end : i + 1;
		i = skip_attribute(p, i);
	}
	enum token_kind next = i == TOKEN_NONE ? TOK_EOF : token_kind(&p->t->tokens, i);
	bool product = next == TOK_FOR && operator_end > p->i; /* up to there */
	p->attr_end = product ? operator_end : last + 1;
	p->attr_result = takes_attributes(next) || (next == TOK_FOR && !product);
	return p->attr_result;
}

static node_id parse_attribute(struct parser *p)
{
	advance(p);
	token_id name = expect_name(p, "an attribute's name after `@`");
	if (name == TOKEN_NONE)
		return error_node(p);
	if (p->k == TOK_DOT && habit_at(p, HABIT_AT_ATTRIBUTE, name - 1, NULL))
		return error_node(p);
	uint32_t args = p->k == TOK_LPAREN && !after_newline(p) ? parse_arguments(p) : 0;
	return new_node(p, NODE_ATTR, name, args, 0);
}

enum attributes_at { AT_ITEM, AT_MEMBER, IN_BLOCK };

/* The attributes before a definition, or before a `for` inside of a layer or block. */
static uint32_t parse_attributes(struct parser *p, enum attributes_at place)
{
	static const char *const wrong[] = {
		[AT_ITEM] = "an attribute must precede `fn`, `layer`, `const`, `type`, `param` or `state`",
		[AT_MEMBER] = "an attribute must precede `fn`, `const`, `param`, `state` or `for`",
		[IN_BLOCK] = "in a block, an attribute must precede `for`",
	};
	uint32_t base = p->n_scratch;
	token_id first = p->i;
	while (p->k == TOK_AT && !p->panic) {
		node_id a = parse_attribute(p);
		if (ast_kind(p->t, a) != NODE_ERROR)
			push(p, a);
	}
	uint32_t attrs = pop_list(p, base, 0);
	bool definition = takes_attributes((enum token_kind)p->k);
	bool precedes = p->k == TOK_FOR ? place != AT_ITEM : definition && place != IN_BLOCK;
	if (attrs && !p->panic && !precedes && !habit_starts_item(p)) {
		struct diag *g = error_at(p, DIAG_MISPLACED_ATTR, token_range(p, first, p->i - 1), "%s", wrong[place]);
		if (p->k == TOK_IMPORT || p->k == TOK_FROM || p->k == TOK_MAIN || definition)
			resume(p, g);
	}
	return attrs;
}

/* --- constants, parameters, aliases --- */

uint32_t new_triple(struct parser *p, uint32_t attrs, uint32_t second, uint32_t third)
{
	uint32_t idx, *words = new_extra(p, 3, &idx);
	words[0] = attrs;
	words[1] = second;
	words[2] = third;
	return idx;
}

static node_id named_value(struct parser *p, enum node_kind kind, uint32_t attrs)
{
	token_id keyword = p->i;
	node_id type = AST_NONE, value = AST_NONE;
	uint32_t height = 0;
	advance(p);
	if (kind == NODE_CONST && (p->k == TOK_LPAREN || p->k == TOK_LBRACKET) && !p->panic) {
		struct diag *g = error_at(p, DIAG_EXPECTED_NAME, current_span(p), "a constant has one name");
		add_help(p, g, "use the parts by index: `const first = pair[0]`");
		return error_node(p);
	}
	if (kind == NODE_CONST && p->k == TOK_NAME && peek(p) == TOK_NAME)
		habit_at(p, HABIT_AT_LET, 0, NULL);
	static const char *const names[NODE_COUNT] = {
		[NODE_CONST] = "a name for the constant", [NODE_PARAM] = "a name for the parameter", [NODE_STATE] = "a name for the state"};
	token_id name = expect_name(p, names[kind]);
	if (name == TOKEN_NONE)
		return error_node(p);
	if (kind == NODE_STATE && p->k != TOK_COLON && !p->panic) {
		error_expected(p, DIAG_EXPECTED_TOKEN, "`:` and the type of the state");
		return error_node(p);
	}
	if (accept(p, TOK_COLON)) {
		p->in_state = kind == NODE_STATE;
		type = parse_type(p);
		p->in_state = false;
		height = p->height;
	}
	if (kind == NODE_CONST && p->k != TOK_ASSIGN && !p->panic) {
		error_expected(p, DIAG_EXPECTED_TOKEN, "`=` and a value");
		return error_node(p);
	}
	if (!p->panic && accept(p, TOK_ASSIGN)) {
		value = parse_expr(p);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, kind, keyword, new_triple(p, attrs, type, value), 0);
}

node_id parse_const(struct parser *p, uint32_t attrs) { return named_value(p, NODE_CONST, attrs); }

node_id parse_alias(struct parser *p, uint32_t attrs)
{
	token_id keyword = p->i;
	advance(p);
	if (expect_name(p, "a name for the type") == TOKEN_NONE)
		return error_node(p);
	uint32_t generics = parse_generics(p);
	if (!p->panic)
		expect(p, TOK_ASSIGN, "`=` and a type");
	node_id type = p->panic ? error_node(p) : parse_type(p);
	return new_node(p, NODE_ALIAS, keyword, new_triple(p, attrs, generics, type), 0);
}

/* --- the file --- */

node_id parse_loop_with_attributes(struct parser *p)
{
	uint32_t attrs = parse_attributes(p, IN_BLOCK);
	if (p->panic)
		return error_node(p);
	return p->k == TOK_FOR ? parse_for(p, attrs) : parse_statement(p, false);
}

node_id parse_member(struct parser *p)
{
	uint32_t attrs = p->k == TOK_AT ? parse_attributes(p, AT_MEMBER) : 0;
	if (p->panic)
		return error_node(p);
	switch ((enum token_kind)p->k) {
	case TOK_FN: return parse_function(p, attrs);
	case TOK_PARAM: return named_value(p, NODE_PARAM, attrs);
	case TOK_STATE: return named_value(p, NODE_STATE, attrs);
	case TOK_CONST: return parse_const(p, attrs);
	case TOK_FOR: return parse_for(p, attrs);
	default: return error_node(p); /* misplaced attributes were reported; the statement comes next */
	}
}

static node_id parse_item(struct parser *p);

static node_id report_no_item(struct parser *p)
{
	enum habit habit = p->k == TOK_NAME ? habit_at(p, HABIT_AT_ITEM, 0, NULL) : HABIT_NONE;
	if (habit)
		return habit == HABIT_READ ? parse_item(p) : error_node(p);
	if (p->k == TOK_RBRACE || p->k == TOK_RPAREN || p->k == TOK_RBRACKET) {
		error_at(p, DIAG_UNMATCHED_CLOSE, current_span(p), "this `%s` closes nothing", token_kind_text((enum token_kind)p->k));
		return error_node(p);
	}
	if (p->k == TOK_PARAM || p->k == TOK_STATE) {
		struct diag *g = error_at(p, DIAG_EXPECTED_ITEM, current_span(p),
					  "`%s` declares a %s of a layer; write it directly in the layer's body",
					  token_kind_text((enum token_kind)p->k), p->k == TOK_STATE ? "state" : "parameter");
		resume(p, g);
		parse_member(p);
		return error_node(p);
	}
	char found[64];
	if (p->k == TOK_ERROR) { /* reported */
		p->panic = p->failed = true;
		return error_node(p);
	}
	p->newlines = false; /* describe the token, not the end of the line */
	struct diag *g =
		error_at(p, DIAG_EXPECTED_ITEM, current_span(p), "expected a definition, found %s", describe_token(p, p->i, found));
	p->newlines = true;
	if (p->k != TOK_EOF)
		add_help(
			p, g,
			"definitions begin with `fn`, `layer`, `let`, `const`, `type` or `import`; statements belong in functions, or in `main { … }`, which "
			"`trib run --main` runs");
	return error_node(p);
}

static node_id parse_item(struct parser *p)
{
	uint32_t attrs = p->k == TOK_AT ? parse_attributes(p, AT_ITEM) : 0;
	if (p->panic)
		return error_node(p);
	switch ((enum token_kind)p->k) {
	case TOK_IMPORT: return parse_import(p);
	case TOK_FROM: return parse_from(p);
	case TOK_CONST: return parse_const(p, attrs);
	case TOK_LET: return parse_let(p, LET_AT_TOP);
	case TOK_TYPE: return parse_alias(p, attrs);
	case TOK_FN:
	case TOK_LAYER: return parse_function(p, attrs);
	case TOK_MAIN: return parse_main(p);
	default: return report_no_item(p);
	}
}

static void parse_item_end_item(struct parser *p)
{
	if (p->k == TOK_SEMICOLON || p->k == TOK_EOF || after_newline(p) || (p->kinds[p->i - 1] & 0x7f) == TOK_RBRACE)
		return;
	error_expected(p, DIAG_STATEMENT_END, "the end of the definition");
}

void parse_root(struct parser *p)
{
	uint32_t base = p->n_scratch;
	new_node(p, NODE_ROOT, 0, 0, 0);
	while (p->k != TOK_EOF) {
		if (accept(p, TOK_SEMICOLON))
			continue;
		token_id start = p->i;
		p->reported_indentation = false;
		node_id item = parse_item(p);
		if (ast_kind(p->t, item) != NODE_ERROR)
			push(p, item);
		if (!p->panic)
			parse_item_end_item(p);
		if (p->panic)
			recover_item(p, start);
		else if (p->i == start)
			advance(p);
	}
	p->t->operands[AST_ROOT].a = pop_list(p, base, 0);
}

/* Statements. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "frontend/syntax/parse_state.h"

/* --- simple statements --- */

static bool expect_assign(struct parser *p, const char *what)
{
	if (accept(p, TOK_ASSIGN))
		return true;
	if (p->k != TOK_EQ && token_class((enum token_kind)p->k) == TOKEN_LITERAL && !after_newline(p)) {
		struct diag *g = error_expected(p, DIAG_EXPECTED_TOKEN, what);
		suggest_edit(p, g, (span){current_span(p).source, current_span(p).start, current_span(p).start}, "= ");
		resume_corrected(p, g);
		return g;
	}
	if (p->k != TOK_EQ)
		return expect(p, TOK_ASSIGN, what);
	struct diag *g = error_at(p, DIAG_ASSIGN_FOR_EQUALS, current_span(p), "`==` compares; a value is given with `=`");
	suggest_edit(p, g, current_span(p), "=");
	resume(p, g);
	advance(p);
	return true;
}

/* `let w: Tensor<float32, [4]>` of a layer or of the top level, and `let s`. */
static void report_no_value(struct parser *p, token_id keyword, bool layer, bool typed)
{
	struct diag *g = error_at(p, DIAG_EXPECTED_TOKEN, span_after_previous(p), "expected `=` and a value, found the end of the line");
	if (!typed) {
		add_help(p, g, "give it a value, or in a block a type, if it gets its value later: `let s: float32`");
	} else if (layer) {
		add_help(p, g, "a weight of the layer is declared with `param`");
		suggest_edit(p, g, token_span(&p->t->tokens, keyword), "param");
	} else {
		add_help(p, g, "a constant needs a value: `let y: float = 0.0`");
	}
	p->failed = true;
}

/* True after the type of `let x: T`, which gets its value later. */
static bool ends_declaration(const struct parser *p)
{
	return after_newline(p) || p->k == TOK_RBRACE || p->k == TOK_SEMICOLON || p->k == TOK_EOF;
}

node_id parse_let(struct parser *p, enum let_place place)
{
	token_id keyword = p->i;
	advance(p);
	if (p->k == TOK_NAME && peek(p) == TOK_NAME)
		habit_at(p, HABIT_AT_LET, 0, NULL);
	node_id pattern = parse_pattern(p), type = AST_NONE, value;
	uint32_t height = p->height;
	if (!p->panic && accept(p, TOK_COLON)) {
		type = parse_type(p);
		raise_height(&height, p);
	}
	if (!p->panic && p->k != TOK_ASSIGN && ends_declaration(p)) {
		if (type && place == LET_IN_BLOCK && ast_kind(p->t, pattern) == NODE_PAT_NAME) {
			p->height = height + 1;
			return new_node(p, NODE_LET, keyword, pattern, new_pair(p, type, AST_NONE));
		}
		report_no_value(p, keyword, place == LET_IN_LAYER, type != AST_NONE);
	} else if (!p->panic)
		expect_assign(p, "`=` and a value");
	value = p->panic ? error_node(p) : parse_expr_or_tuple(p);
	raise_height(&height, p);
	p->height = height + 1;
	return new_node(p, NODE_LET, keyword, pattern, new_pair(p, type, value));
}

static node_id parse_return(struct parser *p)
{
	token_id keyword = p->i;
	advance(p);
	p->height = 0;
	bool bare = after_newline(p) || p->k == TOK_RBRACE || p->k == TOK_SEMICOLON || p->k == TOK_EOF;
	node_id value = bare ? AST_NONE : parse_expr_or_tuple(p);
	if (p->in_main && value && !p->panic) {
		struct diag *g = error_at(p, DIAG_MISPLACED_STATEMENT, ast_span(p->t, value), "a main block returns no value");
		add_help(p, g, "write `return` alone; `print` shows values, and a failing `assert` sets the exit code 1");
		if (ast_kind(p->t, value) == NODE_INT)
			suggest_edit(p, g, (span){current_span(p).source, p->t->tokens.ends[keyword], ast_span(p->t, value).end}, "");
		resume_corrected(p, g);
	}
	p->height++;
	return new_node(p, NODE_RETURN, keyword, value, 0);
}

static node_id parse_jump(struct parser *p, enum node_kind kind)
{
	if (!p->in_loop) {
		struct diag *g =
			error_at(p, DIAG_OUTSIDE_LOOP, current_span(p), "`%s` outside a loop", token_kind_text((enum token_kind)p->k));
		resume(p, g);
	}
	return take_leaf(p, kind);
}

static node_id parse_loop_body(struct parser *p, token_id head)
{
	bool in_loop = p->in_loop;
	p->in_loop = true;
	node_id body = p->panic ? error_node(p) : parse_body(p, head, false);
	p->in_loop = in_loop;
	return body;
}

node_id parse_for(struct parser *p, uint32_t attrs)
{
	token_id keyword = p->i;
	advance(p);
	node_id pattern = AST_NONE, iter;
	bool counted = p->k == TOK_LPAREN && habit_at(p, HABIT_AT_FOR, keyword, &pattern);
	if (!counted)
		pattern = parse_pattern(p);
	uint32_t height = p->height;
	if (!p->panic && !counted)
		expect(p, TOK_IN, "`in` and a list or range");
	iter = p->panic || counted ? error_node(p) : parse_expr(p);
	raise_height(&height, p);
	node_id body = parse_loop_body(p, keyword);
	raise_height(&height, p);
	p->height = height + 1;
	return new_node(p, NODE_FOR, keyword, new_triple(p, attrs, pattern, iter), body);
}

static node_id parse_while(struct parser *p)
{
	token_id keyword = p->i;
	advance(p);
	node_id cond = parse_condition(p);
	uint32_t height = p->height;
	node_id body = parse_loop_body(p, keyword);
	raise_height(&height, p);
	p->height = height + 1;
	return new_node(p, NODE_WHILE, keyword, cond, body);
}

/* Reports `esle {` after a block, and reads it as `else`. */
static void read_misspelt_else(struct parser *p)
{
	static const char *const word = "else";
	char name[8];
	if (p->k != TOK_NAME || p->panic || after_newline(p) || token_len(&p->t->tokens, p->i) >= sizeof name ||
	    (peek(p) != TOK_LBRACE && peek(p) != TOK_IF))
		return;
	snprintf(name, sizeof name, "%.*s", (int)token_len(&p->t->tokens, p->i), token_text(&p->t->tokens, p->i));
	if (!diag_nearest(name, &word, 1))
		return;
	struct diag *g = error_at(p, DIAG_STATEMENT_END, current_span(p), "`%s` is not a keyword", name);
	add_help(p, g, "did you mean `else`?");
	suggest_edit(p, g, current_span(p), word);
	resume_corrected(p, g);
	read_token_as(p, TOK_ELSE);
}

static node_id parse_else(struct parser *p, token_id head)
{
	if (p->k == TOK_NAME && habit_at(p, HABIT_AT_ELSE, 0, NULL))
		return parse_if(p);
	read_misspelt_else(p);
	if (!accept(p, TOK_ELSE))
		return AST_NONE;
	return p->k == TOK_IF ? parse_if(p) : parse_body(p, head, false);
}

node_id parse_if(struct parser *p)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id keyword = p->i;
	advance(p);
	node_id cond = parse_condition(p);
	uint32_t height = p->height;
	node_id then = p->panic ? error_node(p) : parse_body(p, keyword, false);
	raise_height(&height, p);
	node_id otherwise = p->panic ? AST_NONE : parse_else(p, keyword);
	raise_height(&height, p);
	p->height = height + 1;
	leave_nesting(p);
	return new_node(p, NODE_IF, keyword, cond, new_pair(p, then, otherwise));
}

/* --- assert --- */

/* True if token k, on the line of the name `assert`, begins its condition. */
static bool begins_condition(enum token_kind k)
{
	return k == TOK_NAME || k == TOK_BANG || k == TOK_TILDE || k == TOK_MINUS || k == TOK_LPAREN || k == TOK_LBRACKET ||
	       k == TOK_LBRACE || k == TOK_IF || k == TOK_TRUE || k == TOK_FALSE || k == TOK_NONE || k == TOK_WHERE ||
	       token_class(k) == TOKEN_LITERAL;
}

static bool at_assert(const struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	if (token_len(t, p->i) != 6 || memcmp(token_text(t, p->i), "assert", 6) != 0)
		return false;
	if (token_kind(t, p->i + 1) == TOK_BANG && t->ends[p->i] == t->starts[p->i + 1])
		return false; /* assert!(c) */
	return !token_after_newline(t, p->i + 1) && begins_condition(token_kind(t, p->i + 1));
}

/* True if the parenthesis at `open` is the rest of the statement, as in assert(c, "m"). */
static bool whole_statement(const struct parser *p, token_id open)
{
	uint32_t depth = 0;
	for (token_id i = open;; i++) {
		enum token_kind k = token_kind(&p->t->tokens, i);
		depth += k == TOK_LPAREN || k == TOK_LBRACKET || k == TOK_LBRACE;
		depth -= k == TOK_RPAREN || k == TOK_RBRACKET || k == TOK_RBRACE;
		if (k == TOK_EOF)
			return true;
		if (depth)
			continue;
		enum token_kind next = token_kind(&p->t->tokens, i + 1);
		return next == TOK_SEMICOLON || next == TOK_RBRACE || next == TOK_EOF || token_after_newline(&p->t->tokens, i + 1);
	}
}

static node_id unwrap_named(const struct parser *p, node_id n) { return ast_kind(p->t, n) == NODE_NAMED_ARG ? ast_a(p->t, n) : n; }

static node_id parse_assert_call(struct parser *p, token_id name)
{
	token_id open = p->i;
	uint32_t n, args = parse_arguments(p);
	const uint32_t *list = ast_list(p->t, args, &n);
	if ((n < 1 || n > 2) && !p->panic) {
		struct diag *g =
			error_at(p, DIAG_EXPECTED_EXPR, token_range(p, open, p->i - 1), "`assert` takes a condition and a message");
		resume(p, g);
	}
	node_id cond = n ? unwrap_named(p, list[0]) : error_node(p),
		message = n > 1 ? unwrap_named(p, ast_list(p->t, args, &n)[1]) : AST_NONE;
	return new_node(p, NODE_ASSERT, name, cond, message);
}

static node_id parse_assert(struct parser *p)
{
	token_id name = p->i;
	advance(p);
	if (p->k == TOK_LPAREN && whole_statement(p, p->i))
		return parse_assert_call(p, name);
	node_id cond = parse_condition(p), message = AST_NONE;
	uint32_t height = p->height;
	if (!p->panic && !after_newline(p) && accept(p, TOK_COMMA)) {
		message = parse_expr(p);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_ASSERT, name, cond, message);
}

/* --- expression statements and assignments --- */

static void check_target(struct parser *p, node_id target)
{
	enum node_kind k = ast_kind(p->t, target);
	if (p->panic || k == NODE_NAME || k == NODE_MEMBER || k == NODE_INDEX || k == NODE_TUPLE || k == NODE_ERROR)
		return;
	struct diag *g = error_at(p, DIAG_ASSIGN_TARGET, ast_span(p->t, target), "this cannot be assigned to");
	if (p->k == TOK_ASSIGN)
		add_help(p, g, "a comparison is written `==`");
	resume(p, g);
}

/* The rest of `a = b = 1` after its first target. */
static node_id parse_assignment(struct parser *p, node_id target)
{
	if (!enter_nesting(p))
		return error_too_deep(p);
	token_id op = p->i;
	uint32_t height = p->height;
	bool plain = p->k == TOK_ASSIGN;
	check_target(p, target);
	advance(p);
	node_id value = parse_expr_or_tuple(p);
	if (plain && p->k == TOK_ASSIGN && !p->panic)
		value = parse_assignment(p, value);
	raise_height(&height, p);
	p->height = height + 1;
	leave_nesting(p);
	return new_node(p, NODE_ASSIGN, op, target, value);
}

static node_id parse_expr_statement(struct parser *p)
{
	node_id e = parse_expr_or_tuple(p);
	return is_assign(p->k) && !p->panic ? parse_assignment(p, e) : e;
}

/* --- any statement --- */

/* Tokens that never follow a name at the start of an expression, and `(` and `<`, which start an argument list or generics. */
static const uint8_t is_odd_after_name[TOK_COUNT] = {
	[TOK_EOF] = 1,    [TOK_NAME] = 1, [TOK_INT] = 1,   [TOK_FLOAT] = 1,  [TOK_STRING] = 1,   [TOK_FSTR_WHOLE] = 1, [TOK_FSTR_HEAD] = 1,
	[TOK_FN] = 1,     [TOK_LET] = 1,  [TOK_CONST] = 1, [TOK_RETURN] = 1, [TOK_FOR] = 1,      [TOK_WHILE] = 1,      [TOK_BREAK] = 1,
	[TOK_NONE] = 1,   [TOK_TRUE] = 1, [TOK_FALSE] = 1, [TOK_IMPORT] = 1, [TOK_LPAREN] = 1,   [TOK_LT] = 1,         [TOK_LBRACE] = 1,
	[TOK_RBRACE] = 1, [TOK_IF] = 1,   [TOK_ELSE] = 1,  [TOK_COLON] = 1,  [TOK_CONTINUE] = 1, [TOK_SEMICOLON] = 1,
};

static node_id report_misplaced(struct parser *p, const char *what, node_id (*parse_it)(struct parser *))
{
	struct diag *g = error_at(p, DIAG_MISPLACED_STATEMENT, current_span(p), "%s", what);
	if (p->k == TOK_PARAM)
		add_help(p, g, "a function takes its weights as arguments: `fn f(x, w: Tensor<float32, [4]>)`");
	resume(p, g);
	parse_it(p);
	return error_node(p);
}

static node_id parse_local_const(struct parser *p) { return parse_const(p, 0); }

node_id parse_statement(struct parser *p, bool layer)
{
	switch ((enum token_kind)p->k) {
	case TOK_LET: return parse_let(p, layer ? LET_IN_LAYER : LET_IN_BLOCK);
	case TOK_CONST: return parse_local_const(p);
	case TOK_RETURN: return parse_return(p);
	case TOK_IF: return parse_if(p);
	case TOK_FOR: return parse_for(p, 0);
	case TOK_WHILE: return parse_while(p);
	case TOK_BREAK: return parse_jump(p, NODE_BREAK);
	case TOK_CONTINUE: return parse_jump(p, NODE_CONTINUE);
	case TOK_PARAM:
		if (!layer)
			return report_misplaced(p, "`param` declares a parameter of a layer; write it directly in the layer's body",
						parse_member);
		return parse_member(p);
	case TOK_STATE:
		if (!layer)
			return report_misplaced(p, "`state` declares a state of a layer; write it directly in the layer's body",
						parse_member);
		return parse_member(p);
	case TOK_FN: return parse_member(p);
	case TOK_AT: return layer ? parse_member(p) : parse_loop_with_attributes(p);
	case TOK_TYPE: return parse_alias(p, 0);
	case TOK_LAYER:
	case TOK_IMPORT:
	case TOK_FROM:
	case TOK_MAIN:
		add_help(p,
			 error_at(p, DIAG_MISPLACED_STATEMENT, current_span(p), "`%s` is not allowed in a block",
				  token_kind_text((enum token_kind)p->k)),
			 layer && p->k == TOK_LAYER ? "a member is declared with `let`: `let fc = nn.Linear(64, 10)`"
						    : "write it outside functions and layers");
		return error_node(p);
	case TOK_NAME:
		if (at_assert(p))
			return parse_assert(p);
		if (is_odd_after_name[peek(p)]) {
			enum habit habit = habit_at(p, layer ? HABIT_AT_MEMBER : HABIT_AT_STATEMENT, 0, NULL);
			if (habit)
				return habit == HABIT_READ ? parse_statement(p, layer) : error_node(p);
		}
		return parse_expr_statement(p);
	default: return parse_expr_statement(p);
	}
}

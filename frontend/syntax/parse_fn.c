/* Functions and layers: arguments, results, where clauses, bodies; main. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

static node_id parse_arg_decl(struct parser *p)
{
	token_id name = expect_name(p, "an argument's name");
	node_id type = AST_NONE, value = AST_NONE;
	uint32_t height = 0;
	if (name == TOKEN_NONE)
		return error_node(p);
	if (p->k != TOK_COLON)
		habit_at(p, HABIT_AT_ARGUMENT, name, NULL);
	bool untyped = p->k == TOK_NAME && peek(p) != TOK_COLON && !after_newline(p) && !p->panic;
	if (untyped) {
		struct diag *g = error_expected(p, DIAG_EXPECTED_TOKEN, "`:` before the argument's type");
		suggest_edit(p, g, span_after_previous(p), ":");
		resume_corrected(p, g);
	}
	if (!p->panic && (untyped || accept(p, TOK_COLON))) {
		type = parse_type(p);
		height = p->height;
	}
	if (!p->panic && accept(p, TOK_ASSIGN)) {
		value = parse_expr(p);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_ARG_DECL, name, type, value);
}

static uint32_t parse_arg_decls(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	if (p->k == TOK_LBRACE && !p->panic) {
		struct diag *g = error_at(p, DIAG_EXPECTED_TOKEN, span_after_previous(p), "`()` is missing before the body");
		add_help(p, g, "a layer without arguments has empty parentheses");
		suggest_edit(p, g, span_after_previous(p), "()");
		diag_cause(p->diags, g, "no parentheses");
		resume_corrected(p, g);
		return 0;
	}
	if (p->k != TOK_LPAREN) {
		error_expected(p, DIAG_EXPECTED_TOKEN, "`(` and the arguments");
		return 0;
	}
	parse_elements(p, TOK_RPAREN, parse_arg_decl, &commas);
	return pop_list(p, base, 0);
}

static node_id parse_result(struct parser *p) { return !p->panic && accept(p, TOK_ARROW) ? parse_type(p) : AST_NONE; }

static node_id parse_where_clause(struct parser *p)
{
	if (p->k != TOK_NAME || peek(p) != TOK_COLON)
		return parse_condition(p);
	token_id name = p->i;
	advance(p);
	advance(p);
	return new_node(p, NODE_WHERE_TRAIT, name, parse_traits(p), 0);
}

static uint32_t parse_where(struct parser *p)
{
	uint32_t base = p->n_scratch;
	if (p->panic || !accept(p, TOK_WHERE))
		return 0;
	do
		push(p, parse_where_clause(p));
	while (!p->panic && accept(p, TOK_COMMA) && p->k != TOK_LBRACE);
	return pop_list(p, base, 0);
}

static bool is_member(enum node_kind k) { return k == NODE_PARAM || k == NODE_STATE || k == NODE_FN; }

/* Reports a statement in a layer with members. `member`: the first member. */
static void report_statement(struct parser *p, node_id n, node_id member)
{
	enum node_kind k = ast_kind(p->t, n);
	char sign = p->t->tokens.src->text[ast_span(p->t, n).start];
	struct diag *g = error_at(p, DIAG_MISPLACED_STATEMENT, ast_span(p->t, n), "a layer with members cannot have other statements");
	add_label(p, g, token_span(&p->t->tokens, ast_token(p->t, member)), "this member makes it a layer with members");
	add_help(p, g,
		 sign == '+' || sign == '-' ? "to continue the line above, move the operator to its end, or put the whole in parentheses"
		 : k == NODE_IF ? "choose a member with an expression: `let a = if c { … } else { … }`; computation belongs in `fn forward`"
		 : k == NODE_ASSIGN ? "declare a member with `let name = …`, without `self`; computation belongs in `fn forward`"
		 : k == NODE_FOR || k == NODE_WHILE
			 ? "make a list of members with a comprehension: `let a = [… for i in 0..n]`; computation belongs in `fn forward`"
			 : "computation belongs in `fn forward`");
	resume(p, g);
}

/* True for a statement that computes, as the body of a functional layer does. */
static bool is_computation(enum node_kind k)
{
	static const bool others[NODE_COUNT] = {
		[NODE_PARAM] = true,  [NODE_STATE] = true,  [NODE_FN] = true,    [NODE_LET] = true,   [NODE_CONST] = true,
		[NODE_ASSERT] = true, [NODE_ASSIGN] = true, [NODE_ALIAS] = true, [NODE_ERROR] = true,
	};
	return !others[k];
}

/* The member that makes the layer one with members: a `param`, `state` or `fn forward`, or if nothing is computed any `fn`. AST_NONE: it is a
 * functional layer, and its functions are local. */
static node_id find_member(const struct parser *p, struct ast_nodes list)
{
	node_id function = AST_NONE;
	bool computes = false;
	for (uint32_t i = 0; i < list.n; i++) {
		enum node_kind k = ast_kind(p->t, list.at[i]);
		bool forward = k == NODE_FN && token_is(&p->t->tokens, ast_token(p->t, list.at[i]) + 1, "forward");
		if (k == NODE_PARAM || k == NODE_STATE || forward)
			return list.at[i];
		if (k == NODE_FN && !function)
			function = list.at[i];
		computes = computes || is_computation(k);
	}
	return computes ? AST_NONE : function;
}

/* True if a layer is in the module form, and may hold members only. */
static bool module_form(struct parser *p, node_id body)
{
	if (ast_kind(p->t, body) != NODE_BLOCK)
		return false;
	struct ast_nodes list = ast_nodes(p->t, ast_a(p->t, body));
	node_id member = find_member(p, list);
	for (uint32_t i = 0; member && i < list.n && !p->panic; i++) {
		node_id n = list.at[i];
		enum node_kind k = ast_kind(p->t, n);
		bool allowed = is_member(k) || k == NODE_LET || k == NODE_CONST || k == NODE_ASSERT || k == NODE_ERROR;
		if (!allowed && !(k == NODE_ASSIGN && habit_at(p, HABIT_AT_ASSIGN, 0, &n)))
			report_statement(p, n, member);
	}
	return member != AST_NONE;
}

node_id parse_function(struct parser *p, uint32_t attrs)
{
	token_id keyword = p->i;
	bool layer = p->k == TOK_LAYER, in_loop = p->in_loop, in_main = p->in_main;
	advance(p);
	if (expect_name(p, layer ? "a name for the layer" : "a name for the function") == TOKEN_NONE)
		return error_node(p);
	p->in_main = p->in_loop = false;
	p->in_signature = true;
	uint32_t generics = parse_generics(p);
	token_id open = p->i;
	uint32_t params = p->panic ? 0 : parse_arg_decls(p);
	node_id result = parse_result(p);
	uint32_t where = parse_where(p);
	p->in_signature = false;
	recover_signature(p);
	node_id body = parse_body(p, keyword, layer);
	p->in_main = in_main;
	p->in_loop = in_loop;
	bool module = layer && module_form(p, body);
	if (module)
		habit_at(p, HABIT_AT_LAYER, open, &body);
	uint32_t idx, *words = new_extra(p, 6, &idx);
	words[0] = attrs;
	words[1] = generics;
	words[2] = params;
	words[3] = result;
	words[4] = where;
	words[5] = body;
	return new_node(p, layer ? NODE_LAYER : NODE_FN, keyword, idx, module);
}

node_id parse_main(struct parser *p)
{
	token_id keyword = p->i;
	advance(p);
	p->in_main = true;
	node_id body = parse_body(p, keyword, false);
	p->in_main = false;
	return new_node(p, NODE_MAIN, keyword, body, 0);
}

/* Functions and layers: arguments, results, where clauses, bodies; main. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

static void check_self(struct parser *p, token_id name)
{
	if (p->panic || !token_is(&p->t->tokens, name, "self"))
		return;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, token_span(&p->t->tokens, name), "`self` is not an argument; leave it out");
	help(p, g, "use members of the layer by their names: `conv1(x)`");
	if (p->k == TOK_COMMA)
		edit(p, g, (span){p->t->tokens.src->id, p->t->tokens.starts[name], p->t->tokens.starts[p->i + 1]}, "");
	else
		edit(p, g, token_span(&p->t->tokens, name), "");
	recovered(p, g);
}

/* `x int`, `int x`, `mut x`: what stands between two names. The argument's name. */
static token_id odd_argument(struct parser *p, token_id name)
{
	static const char *const words[] = {"mut",      "const",  "var",   "let",      "ref",   "in",       "out",    "inout", "val",
					    "comptime", "static", "owned", "borrowed", "final", "readonly", "vararg", "param"};
	const struct tokens *t = &p->t->tokens;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!token_is(t, name, words[i]))
			continue;
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, token_span(t, name), "an argument needs no `%s`", words[i]);
		edit(p, g, (span){t->src->id, t->starts[name], t->starts[p->i]}, "");
		sound(p, g);
		advance(p);
		return p->i - 1;
	}
	if (peek(p) == TOK_COLON) { /* Swift's labels: scale k: float */
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, name, p->i), "an argument has one name");
		edit(p, g, (span){t->src->id, t->starts[name], t->starts[p->i]}, "");
		sound(p, g);
		advance(p);
		return p->i - 1;
	}
	bool c_style = names_dtype(p, name) && !names_dtype(p, p->i) && peek(p) != TOK_LT && peek(p) != TOK_LBRACKET;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, name, p->i),
				  "this argument has no `:`; write its type behind the name and a `:`");
	if (!c_style) {
		edit(p, g, (span){t->src->id, t->ends[name], t->ends[name]}, ":");
		sound(p, g);
		return name;
	}
	edit_as(p, g, between(p, name, p->i), "%.*s: %.*s", (int)token_len(t, p->i), token_text(t, p->i), (int)token_len(t, name),
		token_text(t, name));
	sound(p, g);
	advance(p);
	return p->i - 1;
}

/* A base class. */
static void base_class(struct parser *p, token_id name)
{
	while (p->k == TOK_DOT && peek(p) == TOK_NAME) {
		advance(p);
		advance(p);
	}
	struct diag *g =
		error_at(p, DIAG_HABIT_SYNTAX, between(p, name, p->i - 1), "a layer has no base class; its arguments are in `( )`");
	edit(p, g, between(p, name, p->i - 1), "");
	recovered(p, g);
}

static node_id parse_arg_decl(struct parser *p)
{
	p->told_keyword = p->told_keyword || token_class((enum token_kind)p->k) == TOKEN_KEYWORD;
	token_id name = expect_name(p, "an argument's name");
	node_id type = AST_NONE, value = AST_NONE;
	uint32_t height = 0;
	if (name == TOKEN_NONE)
		return error_node(p);
	bool typed = p->k == TOK_NAME && !p->panic;
	if (typed) {
		token_id second = odd_argument(p, name);
		typed = second == name;
		name = second;
	} else if (p->k == TOK_DOT && !p->panic) {
		base_class(p, name);
	}
	if (typed || accept(p, TOK_COLON)) {
		type = parse_type(p);
		height = p->height;
	} else {
		check_self(p, name);
	}
	if (!p->panic && accept(p, TOK_ASSIGN)) {
		value = parse_expr(p);
		raise_height(&height, p);
	}
	p->height = height + 1;
	return new_node(p, NODE_ARG_DECL, name, type, value);
}

static bool base_word(const struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	return p->k == TOK_NAME && (token_is(t, p->i, "extends") || token_is(t, p->i, "implements") || token_is(t, p->i, "inherits"));
}

/* `layer X : Module {`, `layer X() extends Module {`, `layer fc = nn.Linear(64, 32)`: what follows the layer's name or arguments */
static bool habit_head(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id first = p->i, before = first - 1;
	bool arguments = token_kind(t, before) == TOK_RPAREN, assigned = p->k == TOK_ASSIGN;
	if (p->panic || after_newline(p) || !(p->k == TOK_COLON || assigned || base_word(p)))
		return false;
	while (p->k != TOK_LBRACE && p->k != TOK_EOF && !(after_newline(p) && p->i > first)) {
		if (p->k == TOK_RPAREN) { /* arguments whose `(` is missing */
			jump(p, first);
			return false;
		}
		skip_token(p);
	}
	bool body = p->k == TOK_LBRACE;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, first, p->i - 1),
				  body ? "a layer has no base class; its arguments are in `( )`"
				       : "a layer needs a body; write `layer Name() { … }`");
	if (body) {
		edit(p, g, (span){t->src->id, t->ends[before], t->starts[p->i]}, arguments ? " " : "() ");
		sound(p, g);
	} else {
		help(p, g, "to use one in another layer, make it with `let fc = nn.Linear(64, 32)`");
	}
	return true;
}

/* `fn f(x) Tensor<float32, [4]> {` */
static bool missing_arrow(struct parser *p)
{
	if (base_word(p))
		return !habit_head(p);
	if (p->k != TOK_NAME || p->panic || after_newline(p) || (peek(p) != TOK_LT && peek(p) != TOK_LBRACE))
		return false;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, here(p), "a result type needs an arrow; write `->` before it");
	edit(p, g, (span){here(p).source, here(p).start, here(p).start}, "-> ");
	sound(p, g);
	return true;
}

static uint32_t parse_arg_decls(struct parser *p)
{
	uint32_t base = p->n_scratch, commas;
	if (p->k == TOK_LBRACE && !p->panic) {
		if (!p->told_block) {
			struct diag *g = error_at(p, DIAG_EXPECTED_TOKEN, after_previous(p), "`()` is missing before the body");
			help(p, g, "a layer without arguments has empty parentheses");
			edit(p, g, after_previous(p), "()");
			diag_cause(p->diags, g, "no parentheses");
			sound(p, g);
		}
		p->failed = true;
		return 0;
	}
	if (p->k != TOK_LPAREN) {
		if (!habit_head(p))
			error_expected(p, DIAG_EXPECTED_TOKEN, "`(` and the arguments");
		return 0;
	}
	parse_elements(p, TOK_RPAREN, parse_arg_decl, &commas);
	return pop_list(p, base, 0);
}

/* Is the `=>` here followed by a result type, as a body on its line shows? */
static bool fat_arrow(const struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id i = p->i + 1;
	if (p->panic || p->k != TOK_ASSIGN || peek(p) != TOK_GT)
		return false;
	while (!token_after_newline(t, i) && token_kind(t, i) != TOK_LBRACE && token_kind(t, i) != TOK_LPAREN &&
	       token_kind(t, i) != TOK_EOF)
		i++;
	return !token_after_newline(t, i) && token_kind(t, i) == TOK_LBRACE;
}

static node_id parse_result(struct parser *p)
{
	if (fat_arrow(p)) {
		struct diag *g =
			error_at(p, DIAG_HABIT_SYNTAX, between(p, p->i, p->i + 1), "a result type needs an arrow; write `->` before it");
		edit(p, g, between(p, p->i, p->i + 1), "->");
		sound(p, g);
		advance(p);
		read_token_as(p, TOK_ARROW);
	}
	if (p->k == TOK_COLON && !p->panic && (peek(p) == TOK_NAME || peek(p) == TOK_LPAREN || peek(p) == TOK_LBRACKET) &&
	    !token_after_newline(&p->t->tokens, p->i + 1)) {
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, here(p), "a result type needs an arrow; write `->` before it");
		edit(p, g, here(p), here(p).start == p->t->tokens.ends[p->i - 1] ? " ->" : "->");
		recovered(p, g);
		p->k = TOK_ARROW;
	}
	habit_effect(p);
	if (p->panic || !(missing_arrow(p) || accept(p, TOK_ARROW)))
		return AST_NONE;
	if (p->k == TOK_LBRACE) {
		struct diag *g = error_at(p, DIAG_EXPECTED_TYPE, here(p), "expected a type, found `{`");
		help(p, g, "a result type may be left out, and its `->` with it");
		edit(p, g, (span){here(p).source, p->t->tokens.starts[p->i - 1], here(p).start}, "");
		sound(p, g);
		return AST_NONE;
	}
	if (p->k == TOK_NONE) { /* Python's -> None */
		struct diag *g = error_at(p, DIAG_EXPECTED_TYPE, here(p), "a function without a result has the type `void`");
		edit(p, g, here(p), "void");
		recovered(p, g);
		advance(p);
		return error_node(p);
	}
	return parse_type(p);
}

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

/* `fc` or `self.fc` */
static bool member_target(const struct parser *p, node_id n)
{
	node_id object = ast_kind(p->t, n) == NODE_MEMBER ? ast_a(p->t, n) : AST_NONE;
	return ast_kind(p->t, n) == NODE_NAME ||
	       (object && ast_kind(p->t, object) == NODE_NAME && token_is(&p->t->tokens, ast_token(p->t, object), "self"));
}

/* A layer with a `param` or `fn` is in the module form; it may then hold members only. */
static bool module_form(struct parser *p, node_id body)
{
	if (ast_kind(p->t, body) != NODE_BLOCK)
		return false;
	struct ast_nodes list = ast_nodes(p->t, ast_a(p->t, body));
	node_id member = AST_NONE;
	for (uint32_t i = 0; i < list.n && !member; i++)
		if (ast_kind(p->t, list.at[i]) == NODE_PARAM || ast_kind(p->t, list.at[i]) == NODE_FN)
			member = list.at[i];
	for (uint32_t i = 0; member && i < list.n && !p->panic; i++) {
		enum node_kind k = ast_kind(p->t, list.at[i]);
		if (k == NODE_PARAM || k == NODE_FN || k == NODE_LET || k == NODE_CONST || k == NODE_ASSERT || k == NODE_ERROR)
			continue;
		if (k == NODE_ASSIGN && member_target(p, ast_a(p->t, list.at[i]))) { /* fc = nn.Linear(4, 4), self.fc = … */
			span at = ast_span(p->t, list.at[i]);
			struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, at, "this member has no keyword; declare it with `let`");
			at.end = p->t->tokens.starts[ast_token(p->t, ast_a(p->t, list.at[i]))];
			edit(p, g, at, "let ");
			recovered(p, g);
			continue;
		}
		struct diag *g =
			error_at(p, DIAG_MISPLACED_STATEMENT, ast_span(p->t, list.at[i]), "a layer with members holds no other statements");
		label(p, g, token_span(&p->t->tokens, ast_token(p->t, member)), "this member makes it a layer with members");
		char first = p->t->tokens.src->text[ast_span(p->t, list.at[i]).start];
		if (first == '+' || first == '-')
			help(p, g, "to go on with the line above, let that end with the operator, or put the whole in parentheses");
		else if (k == NODE_IF)
			help(p, g, "a member is chosen by its value: `let a = if c { … } else { … }`; what runs belongs in `fn forward`");
		else if (k == NODE_ASSIGN)
			help(p, g, "a member is made by `let name = …`, without `self`; what runs belongs in `fn forward`");
		else if (k == NODE_FOR || k == NODE_WHILE)
			help(p, g,
			     "a list of members is made by a comprehension: `let a = [… for i in 0..n]`; what runs belongs in `fn forward`");
		else
			help(p, g, "what runs belongs in `fn forward`");
		recovered(p, g);
	}
	return member != AST_NONE;
}

static node_id parse_main_body(struct parser *p, token_id keyword)
{
	p->in_main = true;
	node_id body = parse_body(p, keyword, false);
	p->in_main = false;
	return new_node(p, NODE_MAIN, keyword, body, 0);
}

/* `fn f(x) = e`, `fn f(x) => e` */
static node_id parse_expression_body(struct parser *p)
{
	token_id sign = p->i;
	uint32_t base = p->n_scratch;
	advance(p);
	if (p->k == TOK_GT)
		advance(p);
	token_id first = p->i;
	push(p, parse_expr(p));
	struct diag *g =
		error_at(p, DIAG_HABIT_SYNTAX, between(p, sign, first - 1), "a function's body needs braces; write `{ return … }`");
	edit_as(p, g, between(p, sign, p->i - 1), "{ return %.*s }", (int)(p->t->tokens.ends[p->i - 1] - p->t->tokens.starts[first]),
		token_text(&p->t->tokens, first));
	sound(p, g);
	p->height++;
	return new_node(p, NODE_BLOCK, sign, pop_list(p, base, 0), TOKEN_NONE);
}

node_id parse_function(struct parser *p, uint32_t attrs)
{
	token_id keyword = p->i;
	bool layer = p->k == TOK_LAYER, in_loop = p->in_loop;
	advance(p);
	if (p->k == TOK_MAIN && !layer) { /* fn main() */
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, keyword, p->i), "`main` is not a function; write `main { … }`");
		advance(p);
		while (p->k != TOK_LBRACE && p->k != TOK_COLON && p->k != TOK_EOF && !after_newline(p))
			skip_token(p);
		edit(p, g, between(p, keyword, p->i - 1),
		     p->k == TOK_LBRACE && p->t->tokens.ends[p->i - 1] == p->t->tokens.starts[p->i] ? "main " : "main");
		sound(p, g);
		p->told_block = true;
		return parse_main_body(p, keyword);
	}
	if (expect_name(p, layer ? "a name for the layer" : "a name for the function") == TOKEN_NONE)
		return error_node(p);
	bool failed = p->failed, in_main = p->in_main;
	p->failed = p->in_main = false;
	p->in_signature = true;
	p->told_keyword = p->told_value = false;
	p->head = NULL;
	uint32_t generics = parse_generics(p);
	token_id open = p->i;
	uint32_t params = p->panic ? 0 : parse_arg_decls(p);
	node_id result = parse_result(p);
	uint32_t where = parse_where(p);
	p->in_loop = p->in_signature = false;
	recover_signature(p);
	bool stub = (p->failed || p->k != TOK_LBRACE) && habit_stub(p, keyword);
	if (stub) {
		p->failed = true;
		p->in_main = in_main;
		p->in_loop = in_loop;
		return error_node(p);
	}
	bool headless = (p->told_keyword || p->told_value) && p->k != TOK_LBRACE;
	if (headless)
		label(p, p->head, between(p, keyword, keyword), "the body of this is missing, too: `{ … }`");
	bool assigned = p->k == TOK_ASSIGN && !p->panic;
	node_id body = headless ? error_node(p) : assigned ? parse_expression_body(p) : parse_body(p, keyword, layer);
	p->failed = p->failed || failed;
	p->in_main = in_main;
	p->in_loop = in_loop;
	bool module = layer && module_form(p, body);
	if (module)
		habit_constructors(p, body, open);
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
	if (p->k == TOK_LPAREN) {
		token_id open = p->i;
		skip_token(p);
		struct diag *g =
			error_at(p, DIAG_EXPECTED_TOKEN, between(p, open, p->i - 1), "`main` takes no arguments: its block follows");
		help(p, g, "write `main { … }`");
		edit(p, g, between(p, open, p->i - 1), "");
		sound(p, g);
	}
	return parse_main_body(p, keyword);
}

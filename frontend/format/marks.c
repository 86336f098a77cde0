/* Marks tokens by the tree: one pass over the nodes, children first, without recursion. The group of a + b is removed again if it is the
 * left part of a + b + c. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "frontend/format/state.h"
#include "frontend/syntax/parser.h"

struct marker {
	const struct ast *t;
	struct mark *m;
	token_id *firsts, *lasts; /* of nodes */
};

static enum token_kind marks_kind(const struct marker *x, token_id i) { return token_kind(&x->t->tokens, i); }
static void add_flags(struct marker *x, token_id i, unsigned flags) { x->m[i].flags |= (uint16_t)flags; }

static void add_group(struct marker *x, token_id first, token_id last)
{
	x->m[first].opens++;
	x->m[last].closes++;
}

static void remove_group(struct marker *x, node_id n)
{
	x->m[x->firsts[n]].opens--;
	x->m[x->lasts[n]].closes--;
}

static void add_node_group(struct marker *x, node_id n) { add_group(x, x->firsts[n], x->lasts[n]); }

static void set_style(struct marker *x, token_id open, enum bracket_style style) { x->m[open].style = (uint8_t)style; }

static void set_partners(struct marker *x, token_id open, token_id close)
{
	add_flags(x, open, MARK_OPENS);
	add_flags(x, close, MARK_CLOSES);
	x->m[open].partner = close;
	x->m[close].partner = open;
}

static void mark_angle_brackets(struct marker *x, token_id open, token_id close)
{
	add_flags(x, open, MARK_TIGHT_BEFORE | MARK_TIGHT_AFTER);
	add_flags(x, close, MARK_TIGHT_BEFORE);
	set_style(x, open, STYLE_TIGHT);
	set_partners(x, open, close);
}

/* Allows breaks after the commas between these nodes, which have no brackets around them. */
static void mark_bare_commas(struct marker *x, struct ast_nodes list)
{
	for (uint32_t i = 0; i + 1 < list.n; i++)
		add_flags(x, x->lasts[list.at[i]] + 1, MARK_BREAK_AFTER | MARK_FILL);
	add_group(x, x->firsts[list.at[0]], x->lasts[list.at[list.n - 1]]);
}

/* A tuple with or without brackets. The comma of a single element in brackets stays. */
static void mark_tuple(struct marker *x, node_id n)
{
	struct ast_nodes list = ast_nodes(x->t, ast_a(x->t, n));
	token_id close = ast_b(x->t, n);
	if (close == TOKEN_NONE) {
		mark_bare_commas(x, list);
		return;
	}
	set_style(x, ast_token(x->t, n), STYLE_LIST);
	if (list.n == 1)
		add_flags(x, close, MARK_KEEPS_COMMA);
}

/* --- operators --- */

static unsigned level(const struct marker *x, node_id n) { return operator_level(ast_token_kind(x->t, n)); }

static void mark_binary(struct marker *x, node_id n)
{
	node_id left = ast_a(x->t, n);
	if (ast_token_kind(x->t, n) == TOK_STAR2)
		return;
	if (ast_kind(x->t, left) == NODE_BINARY && level(x, left) == level(x, n))
		remove_group(x, left);
	add_flags(x, ast_token(x->t, n), MARK_BREAK_AFTER);
	add_node_group(x, n);
}

static void mark_comparisons(struct marker *x, node_id n)
{
	struct ast_chain c = ast_chain(x->t, n);
	for (uint32_t i = 0; i + 1 < c.n; i++)
		add_flags(x, c.ops[i], MARK_BREAK_AFTER);
	add_node_group(x, n);
}

static void mark_ternary(struct marker *x, node_id n)
{
	struct ast_if c = ast_if(x->t, n);
	if (ast_kind(x->t, c.otherwise) == NODE_TERNARY)
		remove_group(x, c.otherwise);
	add_flags(x, ast_token(x->t, n), MARK_BREAK_BEFORE);
	add_flags(x, x->lasts[c.then] + 1, MARK_BREAK_BEFORE);
	add_node_group(x, n);
}

static void mark_prefix(struct marker *x, node_id n)
{
	token_id op = ast_token(x->t, n);
	if (marks_kind(x, op + 1) != marks_kind(x, op) || marks_kind(x, op) == TOK_BANG || marks_kind(x, op) == TOK_TILDE)
		add_flags(x, op, MARK_TIGHT_AFTER);
}

static void mark_tight(struct marker *x, token_id i) { add_flags(x, i, MARK_TIGHT_BEFORE | MARK_TIGHT_AFTER); }

static void mark_range(struct marker *x, node_id n)
{
	struct ast_range r = ast_range(x->t, n);
	mark_tight(x, ast_token(x->t, n));
	if (r.step)
		mark_tight(x, x->firsts[r.step] - 1);
}

static void mark_slice(struct marker *x, node_id n)
{
	struct ast_range r = ast_range(x->t, n);
	token_id colon = ast_token(x->t, n), second = r.to ? x->lasts[r.to] + 1 : colon + 1;
	mark_tight(x, colon);
	if (marks_kind(x, second) == TOK_COLON)
		mark_tight(x, second);
}

/* --- calls --- */

static bool is_display(enum node_kind k) { return k == NODE_LIST || k == NODE_COMPREHENSION || k == NODE_TUPLE; }

/* True if the only argument is a list, tuple or comprehension: only that breaks, not the call. */
static bool is_hugging(const struct marker *x, struct ast_nodes args, token_id open)
{
	return args.n == 1 && is_display(ast_kind(x->t, args.at[0])) && ast_token(x->t, args.at[0]) == open + 1;
}

/* Returns the expression below members and indices. */
static node_id chain_base(const struct marker *x, node_id n)
{
	while (ast_kind(x->t, n) == NODE_MEMBER || ast_kind(x->t, n) == NODE_INDEX)
		n = ast_a(x->t, n);
	return n;
}

/* True if call n is a link of a chain: a method called on the result of a call. */
static bool marks_is_link(const struct marker *x, node_id n)
{
	node_id callee = ast_a(x->t, n);
	return ast_kind(x->t, callee) == NODE_MEMBER && ast_kind(x->t, chain_base(x, ast_a(x->t, callee))) == NODE_CALL;
}

static void mark_call(struct marker *x, node_id n)
{
	token_id open = ast_token(x->t, n);
	struct ast_nodes args = ast_nodes(x->t, ast_b(x->t, n));
	add_flags(x, open, MARK_TIGHT_BEFORE);
	set_style(x, open, is_hugging(x, args, open) ? STYLE_HUG : STYLE_LIST);
	if (!marks_is_link(x, n))
		return;
	node_id member = ast_a(x->t, n), before = chain_base(x, ast_a(x->t, member));
	if (marks_is_link(x, before))
		remove_group(x, before);
	add_flags(x, ast_token(x->t, member) - 1, MARK_BREAK_BEFORE);
	add_node_group(x, n);
}

static void mark_attribute(struct marker *x, node_id n)
{
	token_id name = ast_token(x->t, n);
	add_flags(x, name - 1, MARK_TIGHT_AFTER);
	if (!ast_a(x->t, n))
		return;
	add_flags(x, name + 1, MARK_TIGHT_BEFORE);
	set_style(x, name + 1, STYLE_LIST);
}

static bool marks_is_number(const struct ast *t, node_id n)
{
	if (ast_kind(t, n) == NODE_UNARY)
		n = ast_a(t, n);
	return ast_kind(t, n) == NODE_INT || ast_kind(t, n) == NODE_FLOAT;
}

static void mark_list(struct marker *x, node_id n)
{
	struct ast_nodes l = ast_nodes(x->t, ast_a(x->t, n));
	bool numbers = true;
	for (uint32_t i = 0; i < l.n && numbers; i++)
		numbers = marks_is_number(x->t, l.at[i]);
	set_style(x, ast_token(x->t, n), numbers ? STYLE_FILL : STYLE_LIST);
}

/* --- statements and definitions --- */

static void mark_attributes(struct marker *x, struct ast_nodes attrs)
{
	for (uint32_t i = 0; i < attrs.n; i++)
		add_flags(x, x->lasts[attrs.at[i]] + 1, MARK_LINE);
}

/* Returns the first token of a definition with its attributes. */
static token_id definition_start(const struct marker *x, node_id n)
{
	struct ast_nodes attrs = ast_attributes(x->t, n);
	return attrs.n ? ast_token(x->t, attrs.at[0]) - 1 : x->firsts[n];
}

static void mark_generics(struct marker *x, struct ast_nodes list, token_id open)
{
	if (!list.n)
		return;
	token_id close = x->lasts[list.at[list.n - 1]] + 1;
	if (marks_kind(x, close) == TOK_COLON) /* `n: int`: the tree has no node for the type */
		close += 2;
	mark_angle_brackets(x, open, close + (marks_kind(x, close) == TOK_COMMA));
}

static void mark_function(struct marker *x, node_id n)
{
	struct ast_fn f = ast_fn(x->t, n);
	token_id keyword = ast_token(x->t, n), open = f.name + 1, body = ast_token(x->t, f.body);
	mark_attributes(x, f.attrs);
	mark_generics(x, f.generics, open);
	if (f.generics.n)
		open = x->m[open].partner + 1;
	add_flags(x, open, MARK_TIGHT_BEFORE);
	set_style(x, open, STYLE_LIST);
	token_id arrow = x->m[open].partner + 1;
	add_flags(x, body, MARK_BODY);
	if (marks_kind(x, arrow) == TOK_ARROW)
		add_flags(x, arrow, MARK_BREAK_BEFORE);
	if (f.where.n) {
		add_flags(x, x->firsts[f.where.at[0]] - 1, MARK_BREAK_BEFORE | MARK_FILL);
		mark_bare_commas(x, f.where);
	}
	add_group(x, keyword, marks_kind(x, body - 1) == TOK_COMMA ? body - 2 : body - 1);
}

static void mark_block(struct marker *x, node_id n)
{
	struct ast_nodes statements = ast_nodes(x->t, ast_a(x->t, n));
	token_id open = ast_token(x->t, n), close = ast_b(x->t, n);
	bool forced = statements.n > 1;
	for (token_id i = open + 1; i <= close && !forced; i++)
		forced = token_after_newline(&x->t->tokens, i);
	set_style(x, open, STYLE_BLOCK);
	add_flags(x, open, forced ? MARK_FORCED : 0);
	for (uint32_t i = 0; i < statements.n; i++)
		add_flags(x, definition_start(x, statements.at[i]), MARK_LINE);
}

static void force_chain(struct marker *x, struct ast_if c)
{
	for (;;) {
		add_flags(x, ast_token(x->t, c.then), MARK_FORCED);
		if (ast_kind(x->t, c.otherwise) != NODE_IF)
			break;
		c = ast_if(x->t, c.otherwise);
	}
	if (c.otherwise)
		add_flags(x, ast_token(x->t, c.otherwise), MARK_FORCED);
}

/* Either all blocks of an if … else if … else are broken, or none. */
static void mark_if(struct marker *x, node_id n)
{
	struct ast_if c = ast_if(x->t, n);
	token_id open = ast_token(x->t, c.then), close = x->m[open].partner;
	bool chained = c.otherwise && ast_kind(x->t, c.otherwise) == NODE_IF;
	token_id rest = chained ? ast_token(x->t, ast_if(x->t, c.otherwise).then) : c.otherwise ? ast_token(x->t, c.otherwise) : open;
	bool forced = x->m[open].flags & MARK_FORCED, rest_forced = x->m[rest].flags & MARK_FORCED;
	for (token_id i = close; i < rest && !forced; i++)
		forced = token_after_newline(&x->t->tokens, i + 1);
	if (chained)
		remove_group(x, c.otherwise);
	if (forced || rest_forced) {
		add_flags(x, open, MARK_FORCED);
		if (!rest_forced)
			force_chain(x, c);
	}
	add_flags(x, open, MARK_SHARED);
	if (c.otherwise && !chained)
		add_flags(x, rest, MARK_SHARED);
	add_node_group(x, n);
}

static void mark_import(struct marker *x, node_id n)
{
	token_id open = ast_token(x->t, n) + 3; /* from module import ( */
	struct ast_nodes names = ast_nodes(x->t, ast_b(x->t, n));
	if (marks_kind(x, open) == TOK_LPAREN)
		set_style(x, open, STYLE_LIST);
	else if (names.n)
		mark_bare_commas(x, names);
}

static void mark_assert(struct marker *x, node_id n)
{
	token_id open = ast_token(x->t, n) + 1;
	node_id cond = ast_a(x->t, n), message = ast_b(x->t, n);
	if (x->firsts[cond] > open) { /* assert(c, "m"): the bracket has no node */
		add_flags(x, open, MARK_TIGHT_BEFORE);
		set_style(x, open, STYLE_LIST);
	} else if (message) {
		add_flags(x, x->lasts[cond] + 1, MARK_BREAK_AFTER | MARK_FILL);
		add_group(x, x->firsts[cond], x->lasts[message]);
	}
}

static void mark_type_arguments(struct marker *x, node_id n)
{
	struct ast_nodes args = ast_nodes(x->t, ast_b(x->t, n));
	if (ast_b(x->t, n))
		mark_angle_brackets(x, ast_token(x->t, n) + 1, args.at[args.n]);
}

/* Allows a break after the `=` of a declaration or assignment. */
static void mark_assignment(struct marker *x, node_id type, node_id value)
{
	enum node_kind k = value ? ast_kind(x->t, value) : NODE_NONE;
	token_id equals = value ? x->firsts[value] - 1 : TOKEN_NONE;
	bool simple = k == NODE_BINARY || k == NODE_CHAIN || k == NODE_TERNARY || k == NODE_STRING || k == NODE_FSTRING || k == NODE_MEMBER;
	if (!simple && !(type && k == NODE_CALL))
		return;
	add_flags(x, equals, MARK_ASSIGN);
	add_group(x, equals, x->lasts[value]);
}

static void marks_mark_node(struct marker *x, node_id n)
{
	const struct ast *t = x->t;
	token_id main = ast_token(t, n);
	switch (ast_kind(t, n)) {
	case NODE_FROM_IMPORT: mark_import(x, n); break;
	case NODE_CONST:
	case NODE_PARAM:
	case NODE_STATE:
		mark_attributes(x, ast_const(t, n).attrs);
		mark_assignment(x, ast_const(t, n).type, ast_const(t, n).value);
		break;
	case NODE_LET: mark_assignment(x, ast_let(t, n).type, ast_let(t, n).value); break;
	case NODE_ASSIGN: mark_assignment(x, AST_NONE, ast_b(t, n)); break;
	case NODE_ALIAS:
		mark_attributes(x, ast_alias(t, n).attrs);
		mark_generics(x, ast_alias(t, n).generics, main + 2);
		break;
	case NODE_FN:
	case NODE_LAYER: mark_function(x, n); break;
	case NODE_FOR: mark_attributes(x, ast_for(t, n).attrs); break;
	case NODE_ATTR: mark_attribute(x, n); break;
	case NODE_ARG_DECL:
		if (!ast_a(t, n) && ast_b(t, n))
			mark_tight(x, main + 1);
		break;
	case NODE_TYPE_NAME: mark_type_arguments(x, n); break;
	case NODE_TYPE_ANY:
		add_flags(x, main + 1, MARK_TIGHT_BEFORE);
		set_style(x, main + 1, STYLE_TIGHT);
		break;
	case NODE_TYPE_FN: add_flags(x, main + 1, MARK_TIGHT_BEFORE); break;
	case NODE_TYPE_OPTION: add_flags(x, main, MARK_TIGHT_BEFORE); break;
	case NODE_TYPE_LIST:
	case NODE_TYPE_SHAPE: set_style(x, main, STYLE_TIGHT); break;
	case NODE_TYPE_TUPLE:
	case NODE_PAT_TUPLE:
	case NODE_TUPLE: mark_tuple(x, n); break;
	case NODE_PAT_LIST: set_style(x, main, STYLE_LIST); break;
	case NODE_PAT_REST: add_flags(x, main, MARK_TIGHT_AFTER); break;
	case NODE_ASSERT: mark_assert(x, n); break;
	case NODE_BLOCK: mark_block(x, n); break;
	case NODE_IF: mark_if(x, n); break;
	case NODE_FSTRING: x->m[main].partner = x->lasts[n]; break;
	case NODE_UNARY: mark_prefix(x, n); break;
	case NODE_BINARY: mark_binary(x, n); break;
	case NODE_CHAIN: mark_comparisons(x, n); break;
	case NODE_TERNARY: mark_ternary(x, n); break;
	case NODE_RANGE: mark_range(x, n); break;
	case NODE_SLICE: mark_slice(x, n); break;
	case NODE_CALL: mark_call(x, n); break;
	case NODE_NAMED_ARG: /* name=value, name: value */
		if (marks_kind(x, main + 1) == TOK_ASSIGN)
			mark_tight(x, main + 1);
		else
			add_flags(x, main + 1, MARK_TIGHT_BEFORE);
		break;
	case NODE_INDEX:
		add_flags(x, main, MARK_TIGHT_BEFORE);
		set_style(x, main, STYLE_TIGHT);
		break;
	case NODE_LIST: mark_list(x, n); break;
	case NODE_COMPREHENSION: set_style(x, main, STYLE_CLAUSES); break;
	case NODE_COMP_FOR:
	case NODE_COMP_IF: add_flags(x, main, MARK_BREAK_BEFORE); break;
	default: break;
	}
}

static void match_brackets(struct marker *x)
{
	VEC(token_id) open = {0};
	for (token_id i = 0; i < x->t->tokens.len; i++) {
		enum token_kind k = marks_kind(x, i);
		if (k == TOK_LPAREN || k == TOK_LBRACKET || k == TOK_LBRACE) {
			vec_push(&open, i);
		} else if (k == TOK_RPAREN || k == TOK_RBRACKET || k == TOK_RBRACE) {
			BUG_ON(!open.len);
			set_partners(x, open.at[--open.len], i);
		}
	}
	vec_free(&open);
}

static void mark_items(struct marker *x)
{
	struct ast_nodes items = ast_nodes(x->t, ast_a(x->t, AST_ROOT));
	for (uint32_t i = 0; i < items.n; i++) {
		add_flags(x, definition_start(x, items.at[i]), MARK_LINE | MARK_ITEM);
		add_flags(x, ast_token(x->t, items.at[i]), MARK_DEFINES);
	}
}

struct mark *format_marks(const struct ast *t)
{
	size_t bytes = t->tokens.len * sizeof(struct mark);
	struct marker x = {.t = t, .m = huge_grow(NULL, 0, bytes)};
	x.firsts = huge_grow(NULL, 0, t->len * sizeof *x.firsts);
	x.lasts = huge_grow(NULL, 0, t->len * sizeof *x.lasts);
	memset(x.m, 0, bytes);
	ast_spans(t, x.firsts, x.lasts);
	match_brackets(&x);
	for (node_id n = AST_ROOT + 1; n < t->len; n++)
		marks_mark_node(&x, n);
	mark_items(&x);
	free(x.firsts);
	free(x.lasts);
	return x.m;
}

/* The tokens that a node covers, derived from its operands in nodes.def. Only diagnostics need them. */
#include "base/huge_alloc.h"
#include "frontend/syntax/ast.h"

/* The node that the text of n starts with, if that is not n's main token; AST_NONE then. */
static node_id leftmost(const struct ast *t, node_id n)
{
	switch (ast_kind(t, n)) {
	case NODE_BINARY:
	case NODE_TERNARY:
	case NODE_RANGE:
	case NODE_CALL:
	case NODE_INDEX:
	case NODE_MEMBER:
	case NODE_ASSIGN:
	case NODE_TYPE_OPTION:
	case NODE_SLICE: return ast_a(t, n);
	case NODE_CHAIN: return ast_chain(t, n).operands[0];
	default: return AST_NONE;
	}
}

/* The first token of a node that starts with no other node. */
static token_id own_first(const struct ast *t, node_id n)
{
	bool qualified = (ast_kind(t, n) == NODE_TYPE_NAME || ast_kind(t, n) == NODE_TYPE_ANY) && ast_a(t, n) != TOKEN_NONE;
	return qualified ? ast_a(t, n) : ast_token(t, n);
}

token_id ast_first_token(const struct ast *t, node_id n)
{
	if (t->firsts && n != AST_ROOT)
		return t->firsts[n];
	for (node_id left; (left = leftmost(t, n)) != AST_NONE;)
		n = left;
	return own_first(t, n);
}

/* The end of a node: a token, or the node that ends it. */
struct tail {
	token_id token;
	node_id node;
};
#define NO_TAIL ((struct tail){TOKEN_NONE, AST_NONE})

static struct tail node_tail(node_id n) { return (struct tail){TOKEN_NONE, n}; }
static struct tail token_tail(token_id i) { return (struct tail){i, AST_NONE}; }

static struct tail operand_tail(const struct ast *t, node_id n, enum node_operand what, uint32_t v)
{
	const uint32_t *w = t->extra + v; /* meaningful for extra indices only */
	switch (what) {
	case OPERAND_NODE:
	case OPERAND_OPT: return node_tail(v);
	case OPERAND_TOKEN:
	case OPERAND_CLOSE: return token_tail(v);
	case OPERAND_LIST: return w[0] ? node_tail(w[w[0]]) : NO_TAIL;
	case OPERAND_WORDS: return w[0] ? token_tail(w[w[0]]) : NO_TAIL;
	case OPERAND_CLOSED: return v ? token_tail(w[1 + w[0]]) : NO_TAIL;
	case OPERAND_PAIR: return node_tail(w[1] ? w[1] : w[0]);
	case OPERAND_TRIPLE:
		if (w[2])
			return node_tail(w[2]);
		return w[1] && ast_kind(t, n) != NODE_ALIAS ? node_tail(w[1]) : token_tail(ast_token(t, n) + 1);
	case OPERAND_FN: return node_tail(w[5]);
	case OPERAND_CHAIN: return node_tail(w[w[0]]);
	case OPERAND_FSTR: return token_tail(w[1 + 2 * w[0]]);
	case OPERAND_NIL:
	case OPERAND_FLAG: break;
	}
	return NO_TAIL;
}

static bool main_follows_a(enum node_kind k)
{
	return k == NODE_CALL || k == NODE_INDEX || k == NODE_SLICE || k == NODE_MEMBER || k == NODE_TYPE_NAME || k == NODE_TYPE_ANY ||
	       k == NODE_TYPE_OPTION;
}

static struct tail tail(const struct ast *t, node_id n)
{
	enum node_kind k = ast_kind(t, n);
	struct tail e = operand_tail(t, n, node_operand_b(k), ast_b(t, n));
	if (e.token == TOKEN_NONE && e.node == AST_NONE && !main_follows_a(k))
		e = operand_tail(t, n, node_operand_a(k), ast_a(t, n));
	if (e.node == AST_NONE && e.token == TOKEN_NONE)
		e.token = ast_token(t, n);
	return e;
}

token_id ast_last_token(const struct ast *t, node_id n)
{
	if (t->lasts && n != AST_ROOT)
		return t->lasts[n];
	for (;;) {
		struct tail e = tail(t, n);
		if (e.node == AST_NONE)
			return e.token;
		n = e.node;
	}
}

void ast_spans(const struct ast *t, token_id *firsts, token_id *lasts)
{
	for (node_id n = AST_ROOT + 1; n < t->len; n++) {
		node_id left = leftmost(t, n);
		struct tail e = tail(t, n);
		firsts[n] = left ? firsts[left] : own_first(t, n);
		lasts[n] = e.node ? lasts[e.node] : e.token;
	}
}

void ast_note_spans(struct ast *t)
{
	token_id *firsts = huge_grow(NULL, 0, t->len * sizeof *firsts), *lasts = huge_grow(NULL, 0, t->len * sizeof *lasts);
	ast_spans(t, firsts, lasts);
	t->firsts = firsts;
	t->lasts = lasts;
}

span ast_span(const struct ast *t, node_id n)
{
	token_id first = ast_first_token(t, n), last = ast_last_token(t, n);
	span s = token_span(&t->tokens, first);
	if (last > first && last < t->tokens.len)
		s.end = t->tokens.ends[last];
	return s;
}

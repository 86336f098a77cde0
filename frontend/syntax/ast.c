#include "frontend/syntax/ast.h"
#include <stdlib.h>
#include "base/bug.h"

struct row {
	const char *text;
	uint8_t a, b;
};
static const struct row rows[NODE_COUNT] = {
#define NODE(id, text, a, b) [NODE_##id] = {text, OPERAND_##a, OPERAND_##b},
#include "frontend/syntax/nodes.def"
#undef NODE
};

const char *node_kind_text(enum node_kind k) { return rows[k].text; }
enum node_operand node_operand_a(enum node_kind k) { return (enum node_operand)rows[k].a; }
enum node_operand node_operand_b(enum node_kind k) { return (enum node_operand)rows[k].b; }

void ast_free(struct ast *t)
{
	if (t->borrowed) {
		*t = (struct ast){0};
		return;
	}
	tokens_free(&t->tokens);
	free(t->kinds);
	free(t->mains);
	free(t->operands);
	free(t->extra);
	free(t->firsts);
	free(t->lasts);
	*t = (struct ast){0};
}

struct ast_fn ast_fn(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	BUG_ON(node_operand_a(ast_kind(t, n)) != OPERAND_FN);
	return (struct ast_fn){.name = ast_token(t, n) + 1,
			       .attrs = ast_nodes(t, w[0]),
			       .generics = ast_nodes(t, w[1]),
			       .params = ast_nodes(t, w[2]),
			       .result = w[3],
			       .where = ast_nodes(t, w[4]),
			       .body = w[5],
			       .module_form = ast_b(t, n)};
}

struct ast_const ast_const(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	BUG_ON(ast_kind(t, n) != NODE_CONST && ast_kind(t, n) != NODE_PARAM && ast_kind(t, n) != NODE_STATE);
	return (struct ast_const){.name = ast_token(t, n) + 1, .attrs = ast_nodes(t, w[0]), .type = w[1], .value = w[2]};
}

struct ast_alias ast_alias(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	BUG_ON(ast_kind(t, n) != NODE_ALIAS);
	return (struct ast_alias){.name = ast_token(t, n) + 1, .attrs = ast_nodes(t, w[0]), .generics = ast_nodes(t, w[1]), .type = w[2]};
}

struct ast_let ast_let(const struct ast *t, node_id n) { return (struct ast_let){ast_a(t, n), ast_first(t, n), ast_second(t, n)}; }
struct ast_if ast_if(const struct ast *t, node_id n) { return (struct ast_if){ast_a(t, n), ast_first(t, n), ast_second(t, n)}; }

struct ast_for ast_for(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	return (struct ast_for){.attrs = ast_nodes(t, w[0]), .pattern = w[1], .iter = w[2], .body = ast_b(t, n)};
}

struct ast_range ast_range(const struct ast *t, node_id n)
{
	return (struct ast_range){ast_a(t, n), ast_first(t, n), ast_second(t, n), ast_token_kind(t, n) == TOK_DOT2_EQ};
}

struct ast_chain ast_chain(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	return (struct ast_chain){w + 1, w + 1 + w[0], w[0]};
}

struct ast_fstring ast_fstring(const struct ast *t, node_id n)
{
	const uint32_t *w = t->extra + ast_a(t, n);
	return (struct ast_fstring){w + 1, w + 1 + w[0], w[0]};
}

struct ast_nodes ast_attributes(const struct ast *t, node_id n)
{
	enum node_operand a = node_operand_a(ast_kind(t, n));
	return a == OPERAND_FN || a == OPERAND_TRIPLE ? ast_nodes(t, t->extra[ast_a(t, n)]) : (struct ast_nodes){NULL, 0};
}

token_id ast_item_name(const struct ast *t, node_id n)
{
	switch (ast_kind(t, n)) {
	case NODE_CONST:
	case NODE_ALIAS:
	case NODE_FN:
	case NODE_LAYER:
	case NODE_PARAM:
	case NODE_STATE: return ast_token(t, n) + 1;
	case NODE_MAIN: return ast_token(t, n);
	default: return TOKEN_NONE;
	}
}

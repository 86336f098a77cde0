/* Driven by the operand columns of nodes.def. (kind text: tokens and flags, then children each on a line of its own. */
#include "base/buf.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/dump.h"

struct dump {
	const struct ast *t;
	struct buf *out;
	uint32_t indent;
};

static void node(struct dump *d, node_id n);

static void dump_ast_put_token(struct dump *d, token_id i)
{
	buf_putc(d->out, ' ');
	if (i == TOKEN_NONE)
		buf_putc(d->out, '-');
	else
		buf_put(d->out, token_text(&d->t->tokens, i), token_len(&d->t->tokens, i));
}

/* Brackets and keywords are left out: the kind of the node implies them. */
static bool dump_ast_is_shown(const struct ast *t, node_id n)
{
	enum token_kind k = ast_token_kind(t, n);
	if (ast_kind(t, n) == NODE_ERROR || ast_kind(t, n) == NODE_ROOT || ast_kind(t, n) == NODE_CHAIN || ast_kind(t, n) == NODE_FSTRING)
		return false;
	if (ast_kind(t, n) == NODE_NAME || ast_kind(t, n) == NODE_MEMBER || ast_kind(t, n) == NODE_NAMED_ARG)
		return true;
	if ((ast_kind(t, n) == NODE_TUPLE || ast_kind(t, n) == NODE_PAT_TUPLE) && ast_b(t, n) == TOKEN_NONE)
		return false;
	return token_class(k) != TOKEN_KEYWORD && k != TOK_LPAREN && k != TOK_LBRACKET && k != TOK_LBRACE && k != TOK_QUESTION &&
	       k != TOK_COLON && k != TOK_DOT3;
}

static void dump_ast_put_list(struct dump *d, const char *name, uint32_t idx)
{
	struct ast_nodes list = ast_nodes(d->t, idx);
	if (!list.n)
		return;
	if (name) {
		buf_printf(d->out, "\n%*s(%s", (int)(2 * ++d->indent), "", name);
	}
	for (uint32_t i = 0; i < list.n; i++)
		node(d, list.at[i]);
	if (name) {
		d->indent--;
		buf_putc(d->out, ')');
	}
}

static void dump_ast_put_optional(struct dump *d, node_id n)
{
	if (n)
		node(d, n);
	else
		buf_printf(d->out, "\n%*s-", (int)(2 * d->indent + 2), "");
}

static void dump_ast_put_words(struct dump *d, uint32_t idx, uint32_t more)
{
	uint32_t n = d->t->extra[idx] + more;
	for (uint32_t i = 0; i < n; i++)
		dump_ast_put_token(d, d->t->extra[idx + 1 + i]);
}

static void put_fn(struct dump *d, const uint32_t *w)
{
	dump_ast_put_list(d, "attrs", w[0]);
	dump_ast_put_list(d, "generics", w[1]);
	dump_ast_put_list(d, "args", w[2]);
	dump_ast_put_optional(d, w[3]);
	dump_ast_put_list(d, "where", w[4]);
	node(d, w[5]);
}

static void put_triple(struct dump *d, node_id n, const uint32_t *w)
{
	dump_ast_put_list(d, "attrs", w[0]);
	if (ast_kind(d->t, n) == NODE_ALIAS)
		dump_ast_put_list(d, "generics", w[1]);
	else
		dump_ast_put_optional(d, w[1]);
	dump_ast_put_optional(d, w[2]);
}

static void put_chain(struct dump *d, node_id n)
{
	struct ast_chain c = ast_chain(d->t, n);
	for (uint32_t i = 0; i + 1 < c.n; i++)
		dump_ast_put_token(d, c.ops[i]);
	for (uint32_t i = 0; i < c.n; i++)
		node(d, c.operands[i]);
}

static void put_fstring(struct dump *d, node_id n)
{
	struct ast_fstring f = ast_fstring(d->t, n);
	for (uint32_t i = 0; i <= f.n; i++)
		dump_ast_put_token(d, f.texts[i]);
	for (uint32_t i = 0; i < f.n; i++)
		node(d, f.exprs[i]);
}

static void dump_ast_operand(struct dump *d, node_id n, enum node_operand what, uint32_t v)
{
	switch (what) {
	case OPERAND_NIL:
	case OPERAND_CLOSE: break;
	case OPERAND_NODE: node(d, v); break;
	case OPERAND_OPT: dump_ast_put_optional(d, v); break;
	case OPERAND_TOKEN: dump_ast_put_token(d, v); break;
	case OPERAND_LIST: dump_ast_put_list(d, NULL, v); break;
	case OPERAND_CLOSED: dump_ast_put_list(d, NULL, v); break;
	case OPERAND_WORDS: dump_ast_put_words(d, v, 0); break;
	case OPERAND_PAIR:
		dump_ast_put_optional(d, d->t->extra[v]);
		dump_ast_put_optional(d, d->t->extra[v + 1]);
		break;
	case OPERAND_TRIPLE: put_triple(d, n, d->t->extra + v); break;
	case OPERAND_FN: put_fn(d, d->t->extra + v); break;
	case OPERAND_CHAIN: put_chain(d, n); break;
	case OPERAND_FSTR: put_fstring(d, n); break;
	case OPERAND_FLAG:
		if (v)
			buf_puts(d->out, " :module");
		break;
	}
}

static void node(struct dump *d, node_id n)
{
	const struct ast *t = d->t;
	enum node_kind k = ast_kind(t, n);
	token_id name = ast_item_name(t, n);
	d->indent++;
	buf_printf(d->out, "\n%*s(%s", (int)(2 * d->indent), "", node_kind_text(k));
	if (k == NODE_CONST || k == NODE_ALIAS || k == NODE_FN || k == NODE_LAYER || k == NODE_PARAM || k == NODE_STATE)
		dump_ast_put_token(d, name);
	else if (dump_ast_is_shown(t, n))
		dump_ast_put_token(d, ast_token(t, n));
	if (node_operand_b(k) == OPERAND_FLAG)
		dump_ast_operand(d, n, OPERAND_FLAG, ast_b(t, n));
	dump_ast_operand(d, n, node_operand_a(k), ast_a(t, n));
	if (node_operand_b(k) != OPERAND_FLAG)
		dump_ast_operand(d, n, node_operand_b(k), ast_b(t, n));
	buf_putc(d->out, ')');
	d->indent--;
}

void dump_ast(const struct ast *t, struct buf *out)
{
	struct dump d = {t, out, 0};
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	buf_puts(out, "(root");
	for (uint32_t i = 0; i < items.n; i++)
		node(&d, items.at[i]);
	buf_puts(out, ")\n");
}

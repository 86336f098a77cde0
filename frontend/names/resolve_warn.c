/* Warnings of name resolution, only about what is certainly not meant. */
#include <string.h>
#include "base/arena.h"
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"

static const char *resolve_warn_text_at(struct resolver *r, token_id tok) { return name_text(r->f, name_at(r, tok)); }

void scope_leave(struct resolver *r, uint32_t mark)
{
	for (uint32_t i = mark; i < r->scope.len; i++) {
		const struct scope_entry *s = &r->scope.at[i];
		const char *name = name_text(r->f, s->name);
		if (s->used || !s->plain || *name == '_')
			continue;
		struct diag *g = diag_add(r->warnings, DIAG_UNUSED_LOCAL, tok_span(r->m, s->tok), "`%s` is never used", name);
		if (s->hidden && r->scope.at[s->hidden - 1].plain) {
			diag_help(r->warnings, g, "it hides the outer `%s`; to change that one, leave out `let`", name);
			continue;
		}
		span at = tok_span(r->m, s->tok);
		at.end = at.start;
		diag_help(r->warnings, g, "if that is intended, start its name with `_`");
		diag_guess(r->warnings, g, at, "_");
	}
	scope_cut(r, mark);
}

static bool is_literal(enum node_kind k)
{
	return k == NODE_INT || k == NODE_FLOAT || k == NODE_STRING || k == NODE_TRUE || k == NODE_FALSE || k == NODE_NONE;
}

/* True for a call of a builtin without an effect. */
static bool pure_call(struct resolver *r, node_id n)
{
	node_id callee = ast_a(r->t, n);
	if (ast_kind(r->t, callee) != NODE_NAME)
		return false;
	token_id tok = ast_token(r->t, callee);
	uint64_t i;
	return !scope_find(r, name_at(r, tok)) && !module_find(r->m, name_at(r, tok)) &&
	       map_get(&r->f->prelude.by_name, map_key_u64(name_at(r, tok)), &i) && strcmp(resolve_warn_text_at(r, tok), "print") != 0 &&
	       strcmp(resolve_warn_text_at(r, tok), "assert") != 0;
}

static bool names_builtin(struct resolver *r, node_id callee, const char *name)
{
	token_id tok = ast_token(r->t, callee);
	return token_is(&r->t->tokens, tok, name) && !module_find(r->m, name_at(r, tok)) &&
	       (ast_kind(r->t, callee) == NODE_MEMBER || (ast_kind(r->t, callee) == NODE_NAME && !scope_find(r, name_at(r, tok))));
}

/* True if a name in the expression says that it is a mean: `running_mean`, `mu`, `m`. */
static bool mentions_mean(struct resolver *r, node_id n)
{
	span at = node_span(r->m, n);
	const char *s = r->t->tokens.src->text;
	if (at.end == at.start + 1)
		return s[at.start] == 'm';
	for (uint32_t i = at.start; i + 2 <= at.end; i++)
		if (!strncmp(s + i, "mu", 2) || (i + 4 <= at.end && !strncmp(s + i, "mean", 4)))
			return true;
	return false;
}

/* The sources of n arguments as named ones. */
static const char *name_arguments(struct resolver *r, const node_id *args, const char *const *names, uint32_t n)
{
	const char *text = "", *s = r->t->tokens.src->text;
	for (uint32_t i = 0; i < n; i++) {
		span at = node_span(r->m, args[i]);
		text = arena_printf(r->f->arena, "%s%s%s=%.*s", text, i ? ", " : "", names[i], (int)(at.end - at.start), s + at.start);
	}
	return text;
}

/* PyTorch's order is mean, variance, weight, bias; other libraries have weight, bias, mean, variance. */
void warn_norm_order(struct resolver *r, node_id call)
{
	static const char *const others[] = {"weight", "bias", "running_mean", "running_var"};
	node_id callee = ast_a(r->t, call);
	struct ast_nodes args = ast_nodes(r->t, ast_b(r->t, call));
	uint32_t first = ast_kind(r->t, callee) != NODE_MEMBER, positional = 0;
	if (!names_builtin(r, callee, "batch_norm"))
		return;
	for (uint32_t i = 0; i < args.n; i++) {
		bool named = ast_kind(r->t, args.at[i]) == NODE_NAMED_ARG;
		positional += !named;
		if (named && (token_is(&r->t->tokens, ast_token(r->t, args.at[i]), "weight") ||
			      token_is(&r->t->tokens, ast_token(r->t, args.at[i]), "bias")))
			return;
	}
	if (positional < first + 2 || is_literal(ast_kind(r->t, args.at[first])) || mentions_mean(r, args.at[first]))
		return;
	uint32_t n = positional - first < 4 ? 2 : 4;
	span at = node_span(r->m, args.at[first]);
	at.end = node_span(r->m, args.at[first + n - 1]).end;
	struct diag *g = diag_add(r->warnings, DIAG_NORM_ORDER, at, "`batch_norm` reads these as `running_mean`%s",
				  n == 2 ? " and `running_var`" : ", `running_var`, `weight` and `bias`");
	diag_help(r->warnings, g, "name the arguments: `weight=…, bias=…`, or `running_mean=…, running_var=…`");
	diag_guess(r->warnings, g, at, name_arguments(r, args.at + first, others, n));
}

static void warn_no_effect(struct resolver *r, node_id n)
{
	enum node_kind k = ast_kind(r->t, n);
	bool operation = k == NODE_BINARY || k == NODE_UNARY || k == NODE_CHAIN || k == NODE_NAME || k == NODE_MEMBER || k == NODE_INDEX ||
			 is_literal(k);
	if (!operation && !(k == NODE_CALL && pure_call(r, n)))
		return;
	struct diag *g = diag_add(r->warnings, DIAG_NO_EFFECT, node_span(r->m, n), "this value is not used");
	char first = r->t->tokens.src->text[node_span(r->m, n).start];
	if (first == '+' || first == '-')
		diag_help(r->warnings, g, "to continue the line above, move the operator to its end, or put the whole in parentheses");
	else if (k == NODE_STRING)
		diag_help(r->warnings, g, "a comment starts with `#`");
	else if (k == NODE_CALL)
		diag_help(r->warnings, g, "tensors are never changed: give the result a name, `x = …` or `let y = …`");
	else
		diag_help(r->warnings, g, "give it a name, `let y = …`, or leave it out");
}

static bool same_name(struct resolver *r, node_id a, node_id b)
{
	return ast_kind(r->t, a) == NODE_NAME && ast_kind(r->t, b) == NODE_NAME &&
	       name_at(r, ast_token(r->t, a)) == name_at(r, ast_token(r->t, b));
}

static bool is_jump(enum node_kind k) { return k == NODE_RETURN || k == NODE_BREAK || k == NODE_CONTINUE; }

void warn_statements(struct resolver *r, struct ast_nodes items)
{
	for (uint32_t i = 0; i < items.n; i++) {
		node_id n = items.at[i];
		bool plain_assign = ast_kind(r->t, n) == NODE_ASSIGN && token_kind(&r->t->tokens, ast_token(r->t, n)) == TOK_ASSIGN;
		if (plain_assign && same_name(r, ast_a(r->t, n), ast_b(r->t, n)))
			diag_add(r->warnings, DIAG_NO_EFFECT, node_span(r->m, n), "`%s` is assigned to itself",
				 resolve_warn_text_at(r, ast_first_token(r->t, n)));
		if (i + 1 == items.n)
			return;
		warn_no_effect(r, n);
		if (!is_jump(ast_kind(r->t, n)))
			continue;
		struct diag *g =
			diag_add(r->warnings, DIAG_UNREACHABLE, node_span(r->m, items.at[i + 1]), "this statement is never reached");
		diag_secondary(r->warnings, g, node_span(r->m, n), "the block is left here");
		return;
	}
}

/* ---- imports ---- */

static uint32_t names_in(const struct module *m, node_id from) { return ast_nodes(&m->ast, ast_b(&m->ast, from)).n; }

/* The statement of a `from` import that holds the name. */
static node_id from_statement(const struct module *m, node_id name)
{
	struct ast_nodes items = ast_nodes(&m->ast, ast_a(&m->ast, AST_ROOT));
	for (uint32_t i = 0; i < items.n; i++) {
		if (ast_kind(&m->ast, items.at[i]) != NODE_FROM_IMPORT)
			continue;
		struct ast_nodes names = ast_nodes(&m->ast, ast_b(&m->ast, items.at[i]));
		for (uint32_t k = 0; k < names.n; k++)
			if (names.at[k] == name)
				return items.at[i];
	}
	return AST_NONE;
}

static span without_comma(const struct module *m, node_id name)
{
	const struct tokens *t = &m->ast.tokens;
	token_id first = ast_first_token(&m->ast, name), last = ast_last_token(&m->ast, name);
	if (token_kind(t, first - 1) == TOK_COMMA)
		return (span){t->src->id, t->starts[first - 1], t->ends[last]};
	if (token_kind(t, last + 1) == TOK_COMMA)
		return (span){t->src->id, t->starts[first], t->starts[last + 2]};
	return node_span(m, name);
}

void resolve_warn_imports(struct frontend *f, const struct module *m)
{
	for (uint32_t i = 0; i < m->n_items && !m->std && !m->failed; i++) {
		const struct item *it = &m->items[i];
		if (it->resolved.used || !it->import.target || !it->name || *name_text(f, it->name) == '_')
			continue;
		node_id from = it->kind == ITEM_FROM ? from_statement(m, it->node) : AST_NONE;
		bool whole = from == AST_NONE || names_in(m, from) == 1;
		struct diag *g = diag_add(f->warnings, DIAG_UNUSED_IMPORT, tok_span(m, it->name_token), "`%s` is imported, but never used",
					  name_text(f, it->name));
		diag_edit(f->warnings, g,
			  whole ? import_line(m->ast.tokens.src, node_span(m, from ? from : it->node)) : without_comma(m, it->node), "");
	}
}

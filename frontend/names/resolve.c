/* One walk over each item with a stack of the names in scope. */
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/hir/dtype.h"
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"

static void note_traits(struct diags *out, struct diag *g, const char *const *names, uint32_t n)
{
	struct buf all = {0};
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&all, "%s%s", !i ? "" : i + 1 < n ? ", " : " and ", names[i]);
	diag_note(out, g, "the traits are %s", all.at);
	buf_free(&all);
}

static void resolve_check_traits(struct resolver *r, struct ast_nodes traits)
{
	uint32_t n;
	const char *const *names = dtype_traits(&n);
	for (uint32_t i = 0; i < traits.n; i++) {
		const char *name = name_text(r->f, name_at(r, traits.at[i]));
		bool found = false;
		for (uint32_t k = 0; k < n; k++)
			found = found || !strcmp(name, names[k]);
		if (found)
			continue;
		const char *near = diag_nearest(name, names, n);
		struct diag *g = diag_add(r->out, DIAG_UNKNOWN_TYPE, tok_span(r->m, traits.at[i]), "unknown trait `%s`", name);
		note_traits(r->out, g, names, n);
		if (near)
			diag_edit(r->out, g, tok_span(r->m, traits.at[i]), near);
	}
}

static void push_generics(struct resolver *r, struct ast_nodes generics)
{
	for (uint32_t i = 0; i < generics.n; i++) {
		if (ast_kind(r->t, generics.at[i]) != NODE_GENERIC)
			continue;
		scope_push(r, ast_token(r->t, generics.at[i]), SYMBOL_GENERIC, generics.at[i], true);
		resolve_check_traits(r, ast_nodes(r->t, ast_a(r->t, generics.at[i])));
	}
}

static void push_argument(struct resolver *r, node_id n, uint32_t first)
{
	token_id tok = ast_token(r->t, n);
	const struct scope_entry *before = scope_find(r, name_at(r, tok));
	if (before && before >= r->scope.at + first && before->kind == SYMBOL_ARG) {
		struct diag *g = diag_add(r->out, DIAG_DUPLICATE, tok_span(r->m, tok), "argument `%s` is declared twice",
					  name_text(r->f, name_at(r, tok)));
		diag_secondary(r->out, g, tok_span(r->m, before->tok), "first declared here");
	}
	scope_push(r, tok, SYMBOL_ARG, n, ast_a(r->t, n) != AST_NONE);
}

static void walk_signature(struct resolver *r, const struct ast_fn *fn)
{
	check_attributes(r, fn->attrs, BEFORE_DEFINITION);
	push_generics(r, fn->generics);
	uint32_t first = r->scope.len;
	for (uint32_t i = 0; i < fn->params.n; i++) {
		node_id p = fn->params.at[i];
		if (ast_a(r->t, p))
			resolve_type(r, ast_a(r->t, p), DIMS_INTRODUCE);
		if (ast_b(r->t, p))
			resolve_node(r, ast_b(r->t, p));
		push_argument(r, p, first);
	}
	for (uint32_t i = 0; i < fn->where.n; i++) {
		if (ast_kind(r->t, fn->where.at[i]) == NODE_WHERE_TRAIT) {
			use_defined_name(r, ast_token(r->t, fn->where.at[i]));
			resolve_check_traits(r, ast_nodes(r->t, ast_a(r->t, fn->where.at[i])));
		} else {
			resolve_node(r, fn->where.at[i]);
		}
	}
	if (fn->result)
		resolve_type(r, fn->result, DIMS_INTRODUCE);
}

static void walk_fn(struct resolver *r, node_id n)
{
	struct ast_fn fn = ast_fn(r->t, n);
	uint32_t mark = r->scope.len, outer = r->parent;
	if (r->f->index)
		r->parent = index_symbol_at(r->f->index, tok_span(r->m, fn.name));
	walk_signature(r, &fn);
	resolve_node(r, fn.body);
	scope_leave(r, mark);
	r->parent = outer;
}

void resolve_local_fn(struct resolver *r, node_id n)
{
	walk_fn(r, n);
	scope_push(r, ast_fn(r->t, n).name, SYMBOL_LOCAL, n, true);
}

void resolve_local_alias(struct resolver *r, node_id n)
{
	struct ast_alias al = ast_alias(r->t, n);
	uint32_t mark = r->scope.len;
	push_generics(r, al.generics);
	resolve_type(r, al.type, DIMS_KNOWN);
	scope_cut(r, mark);
	scope_push(r, al.name, SYMBOL_LOCAL, n, true);
}

static enum symbol_kind resolve_member_kind(enum node_kind k)
{
	return k == NODE_PARAM ? SYMBOL_PARAM : k == NODE_STATE ? SYMBOL_STATE : k == NODE_FN ? SYMBOL_METHOD : SYMBOL_MEMBER;
}

static bool is_typed(const struct ast *t, node_id n)
{
	return (ast_kind(t, n) == NODE_FN ? ast_fn(t, n).result : ast_const(t, n).type) != AST_NONE;
}

/* Reports a second member of the name at `tok` among the names in scope from `first` on. */
static void check_member_twice(struct resolver *r, token_id tok, uint32_t first)
{
	const struct scope_entry *before = scope_find(r, name_at(r, tok));
	const char *name = name_text(r->f, name_at(r, tok));
	if (!before || before < r->scope.at + first || !strcmp(name, "_"))
		return;
	struct diag *g = diag_add(r->out, DIAG_DUPLICATE, tok_span(r->m, tok), "the layer has two members `%s`", name);
	diag_secondary(r->out, g, tok_span(r->m, before->tok), "first declared here");
}

static void push_member(struct resolver *r, node_id n, uint32_t first)
{
	token_id tok = ast_item_name(r->t, n);
	check_member_twice(r, tok, first);
	scope_push(r, tok, resolve_member_kind(ast_kind(r->t, n)), n, is_typed(r->t, n));
}

/* All members are visible in all functions. */
static void push_members(struct resolver *r, struct ast_nodes items)
{
	uint32_t first = r->scope.len;
	for (uint32_t i = 0; i < items.n; i++) {
		switch (ast_kind(r->t, items.at[i])) {
		case NODE_PARAM:
		case NODE_STATE:
		case NODE_CONST:
		case NODE_FN: push_member(r, items.at[i], first); break;
		case NODE_LET:
			if (ast_kind(r->t, ast_let(r->t, items.at[i]).pattern) == NODE_PAT_NAME)
				check_member_twice(r, ast_token(r->t, ast_let(r->t, items.at[i]).pattern), first);
			resolve_pattern(r, ast_let(r->t, items.at[i]).pattern, SYMBOL_MEMBER, items.at[i],
					ast_let(r->t, items.at[i]).type != AST_NONE);
			break;
		default: break;
		}
	}
}

static void walk_module_layer(struct resolver *r, node_id n)
{
	struct ast_fn fn = ast_fn(r->t, n);
	uint32_t mark = r->scope.len;
	r->layer = n;
	walk_signature(r, &fn);
	if (ast_kind(r->t, fn.body) == NODE_BLOCK) {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, fn.body));
		push_members(r, items);
		for (uint32_t i = 0; i < items.n; i++) {
			enum node_kind k = ast_kind(r->t, items.at[i]);
			if (k == NODE_FN)
				walk_fn(r, items.at[i]);
			else if (k == NODE_PARAM || k == NODE_STATE || k == NODE_CONST)
				check_attributes(r, ast_const(r->t, items.at[i]).attrs, BEFORE_DEFINITION), resolve_const(r, items.at[i]);
			else
				resolve_node(r, items.at[i]);
		}
	}
	r->layer = AST_NONE;
	scope_leave(r, mark);
}

static void offer_import(struct resolver *r, const struct item *it)
{
	if (!it->import.target || !index_asked(r->f, tok_span(r->m, ast_token(r->t, it->node))))
		return;
	r->f->index->context = ASK_IMPORT;
	index_offer_items(r->f, it->import.target, false);
}

static void walk_item(struct resolver *r, const struct item *it)
{
	uint32_t mark = r->scope.len;
	r->parent = index_item(r->f, &r->m->items[it - r->m->items]);
	switch (it->kind) {
	case ITEM_FN:
	case ITEM_LAYER: walk_fn(r, it->node); break;
	case ITEM_MODULE_LAYER: walk_module_layer(r, it->node); break;
	case ITEM_CONST:
		if (ast_kind(r->t, it->node) == NODE_LET) {
			if (item_first(&r->m->items[it - r->m->items]) == it)
				resolve_let_value(r, it->node);
			break;
		}
		check_attributes(r, ast_const(r->t, it->node).attrs, BEFORE_DEFINITION);
		resolve_const(r, it->node);
		break;
	case ITEM_TYPE: {
		struct ast_alias al = ast_alias(r->t, it->node);
		check_attributes(r, al.attrs, BEFORE_DEFINITION);
		push_generics(r, al.generics);
		resolve_type(r, al.type, DIMS_KNOWN);
		break;
	}
	case ITEM_FROM:
		item_resolve_import(r->f, &r->m->items[it - r->m->items]);
		offer_import(r, it);
		break;
	case ITEM_MAIN: resolve_node(r, ast_a(r->t, it->node)); break;
	case ITEM_IMPORT: break;
	}
	scope_leave(r, mark);
}

void resolve_module(struct frontend *f, struct module *m)
{
	struct resolver r = {.f = f, .m = m, .t = &m->ast, .trash = diags_new(1), .parent = SYMBOL_NONE};
	for (uint32_t i = 0; i < m->n_items; i++) {
		r.reported.len = 0;
		r.out = m->std || m->incomplete || m->items[i].has_syntax_error ? r.trash : f->diags;
		r.warnings = r.out == r.trash ? r.trash : f->warnings;
		walk_item(&r, &m->items[i]);
	}
	diags_free(r.trash);
	scope_cut(&r, 0);
	vec_free(&r.scope);
	vec_free(&r.reported);
}

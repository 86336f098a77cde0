/* Names in types and dimensions. */
#include <string.h>
#include "base/diag.h"
#include "frontend/habits/habits.h"
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"

/* Reports what is no dimension: sizes[0], config.width, List<int>. */
static bool reject_dimension(struct resolver *r, node_id n)
{
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_NAME:
		if (ast_a(r->t, n) == TOKEN_NONE && !ast_b(r->t, n))
			return false;
		break;
	case NODE_TYPE_ANY:
	case NODE_TYPE_LIST:
	case NODE_TYPE_SHAPE:
	case NODE_TYPE_TUPLE: break;
	default: return false;
	}
	struct diag *g = diag_add(r->out, DIAG_TYPE_MISMATCH, node_span(r->m, n),
				  "a dimension is an integer, a name, `?`, or arithmetic with these");
	diag_help(r->out, g, "name the size first: `const width = …`");
	return true;
}

static void walk_dim(struct resolver *r, node_id n, enum dim_names dims)
{
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_NAME: {
		token_id tok = ast_token(r->t, n);
		offer_names(r, tok, ASK_NAME);
		if (use_defined_name(r, tok))
			return;
		if (dims == DIMS_INTRODUCE)
			scope_push(r, tok, SYMBOL_DIM, n, false);
		else
			report_unknown(r, DIAG_UNKNOWN_NAME, tok, "dimension", 0);
		return;
	}
	case NODE_BINARY:
		if (!reject_dimension(r, ast_a(r->t, n)))
			walk_dim(r, ast_a(r->t, n), dims);
		if (!reject_dimension(r, ast_b(r->t, n)))
			walk_dim(r, ast_b(r->t, n), dims);
		return;
	case NODE_UNARY:
	case NODE_PAREN: walk_dim(r, ast_a(r->t, n), dims); return;
	case NODE_DIM_CAP: index_capacity(r->f, r->m, ast_a(r->t, n), n); return;
	case NODE_TYPE_SHAPE: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < items.n; i++)
			if (!reject_dimension(r, items.at[i]))
				walk_dim(r, items.at[i], dims);
		return;
	}
	default: return;
	}
}

static bool is_type_word(const char *s)
{
	return dtype_find(s) != DT_COUNT || !strcmp(s, "Tensor") || !strcmp(s, "TernaryTensor") || !strcmp(s, "List") ||
	       !strcmp(s, "Tuple") || !strcmp(s, "str") || !strcmp(s, "void");
}

static void note_type_word(struct resolver *r, token_id tok)
{
	if (r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_builtin(r->f->index, name_text(r->f, name_at(r, tok))));
}

/* The item that a type's name means. NULL: a generic or a type of the prelude; or unknown, which is reported. */
static struct item *resolve_type_item(struct resolver *r, node_id n)
{
	name_id name = name_at(r, ast_token(r->t, n));
	struct module *m = r->m;
	token_id tok = ast_token(r->t, n), mod = ast_a(r->t, n);
	if (mod != TOKEN_NONE) {
		struct item *im = module_find(m, name_at(r, mod));
		use_defined_name(r, mod);
		im = im ? item_resolve_import(r->f, im) : NULL;
		if (!im || im->kind != ITEM_IMPORT) {
			if (!im && !report_library_module(r, mod, tok, HABIT_TYPE))
				report_unknown(r, DIAG_UNKNOWN_NAME, mod, "module", HABIT_VALUE);
			return NULL;
		}
		m = im->import.target;
		if (!m || m->failed)
			return NULL;
		offer_members(r, m, tok);
	} else {
		offer_names(r, tok, ASK_TYPE);
		if (scope_find(r, name))
			return use_defined_name(r, tok), NULL;
		if (is_type_word(name_text(r->f, name)))
			return note_type_word(r, tok), NULL;
	}
	struct item *it = module_find(m, name);
	if (!it && mod == TOKEN_NONE && !strcmp(name_text(r->f, name), "Layer"))
		return note_type_word(r, tok), NULL;
	if (it)
		use_item(r, it, tok);
	bool from = it && it->kind == ITEM_FROM;
	it = it ? item_resolve_import(r->f, it) : NULL;
	if (from && !it)
		return NULL;
	if (!it || (it->kind != ITEM_TYPE && it->kind != ITEM_MODULE_LAYER)) {
		report_unknown(r, DIAG_UNKNOWN_TYPE, ast_token(r->t, n), "type", HABIT_TYPE);
		return NULL;
	}
	return it;
}

/* True for the name of an element type: a built-in one, a generic or an alias. */
static bool names_element(struct resolver *r, node_id n)
{
	if (ast_kind(r->t, n) != NODE_TYPE_NAME)
		return false;
	name_id name = name_at(r, ast_token(r->t, n));
	const struct scope_entry *local = scope_find(r, name);
	if (local)
		return local->kind == SYMBOL_GENERIC;
	return dtype_find(name_text(r->f, name)) != DT_COUNT || module_find(r->m, name) ||
	       (habit_name_instead(name_text(r->f, name), HABIT_TYPE) && name != 0);
}

/* True if a tensor's type has an element type, then a list of dimensions or the name of a shape. */
static bool tensor_arguments_fit(struct resolver *r, node_id n, bool ternary, struct ast_nodes args)
{
	bool square = ast_kind(r->t, n) == NODE_TYPE_ANY,
	     shape_only = ternary && args.n == 1 && ast_kind(r->t, args.at[0]) == NODE_TYPE_SHAPE;
	if (square)
		return args.n == 1 && names_element(r, args.at[0]);
	if (args.n == 0 || shape_only)
		return true;
	if (args.n > 2 || ast_kind(r->t, args.at[0]) != NODE_TYPE_NAME)
		return false;
	return args.n == 1 || ast_kind(r->t, args.at[1]) == NODE_TYPE_SHAPE || ast_kind(r->t, args.at[1]) == NODE_TYPE_NAME;
}

/* One argument of an alias: a dimension, an element type, a shape or a type. */
static void walk_alias_arg(struct resolver *r, node_id n, enum dim_names dims)
{
	token_id tok = ast_token(r->t, n);
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_ANY:
	case NODE_TYPE_LIST:
	case NODE_TYPE_TUPLE: resolve_type(r, n, dims); return;
	case NODE_TYPE_SHAPE: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < items.n; i++)
			walk_alias_arg(r, items.at[i], dims);
		return;
	}
	case NODE_TYPE_NAME: {
		struct item *it = scope_find(r, name_at(r, tok)) ? NULL : module_find(r->m, name_at(r, tok));
		it = it ? item_resolve_import(r->f, it) : NULL;
		bool type = it && (it->kind == ITEM_TYPE || it->kind == ITEM_MODULE_LAYER);
		if (type || ast_a(r->t, n) != TOKEN_NONE || ast_b(r->t, n)) {
			resolve_type(r, n, dims);
			return;
		}
		if (is_type_word(name_text(r->f, name_at(r, tok)))) {
			note_type_word(r, tok);
			return;
		}
		break;
	}
	default: break;
	}
	walk_dim(r, n, dims);
}

static void walk_type_name(struct resolver *r, node_id n, enum dim_names dims)
{
	const char *text = name_text(r->f, name_at(r, ast_token(r->t, n)));
	struct item *it = resolve_type_item(r, n);
	struct ast_nodes args = ast_b(r->t, n) ? ast_nodes(r->t, ast_b(r->t, n)) : (struct ast_nodes){0};
	bool tensor = !it && (!strcmp(text, "Tensor") || !strcmp(text, "TernaryTensor"));
	if (tensor && !tensor_arguments_fit(r, n, text[1] == 'e' && text[2] == 'r', args)) {
		report_tensor_type(r, n, args);
		return;
	}
	if (!it && args.n && dtype_find(text) != DT_COUNT) {
		report_tensor_type(r, n, args);
		return;
	}
	for (uint32_t i = 0; i < args.n; i++) {
		enum node_kind k = ast_kind(r->t, args.at[i]);
		if (k == NODE_TYPE_SHAPE && tensor)
			walk_dim(r, args.at[i], dims);
		else if (tensor && i == 0 && k == NODE_TYPE_NAME)
			resolve_type(r, args.at[i], dims);
		else if (!strcmp(text, "List") || !strcmp(text, "Tuple"))
			resolve_type(r, args.at[i], dims);
		else
			walk_alias_arg(r, args.at[i], dims);
	}
}

void resolve_type(struct resolver *r, node_id n, enum dim_names dims)
{
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_NAME:
	case NODE_TYPE_ANY: walk_type_name(r, n, dims); break;
	case NODE_TYPE_LIST:
	case NODE_TYPE_OPTION:
	case NODE_PAREN: resolve_type(r, ast_a(r->t, n), dims); break;
	case NODE_TYPE_FN: {
		struct ast_nodes params = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < params.n; i++)
			resolve_type(r, params.at[i], dims);
		if (ast_b(r->t, n))
			resolve_type(r, ast_b(r->t, n), dims);
		break;
	}
	case NODE_TYPE_SHAPE:
	case NODE_TYPE_TUPLE: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < items.n; i++)
			resolve_type(r, items.at[i], dims);
		break;
	}
	default: break;
	}
}

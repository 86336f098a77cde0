/* Definitions as entries: what a file is built for without a manifest, the declared arguments of an entry, main blocks. */
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "frontend/elab/elab.h"
#include "frontend/elab/elaborate.h"
#include "frontend/frontend.h"
#include "frontend/hir/dtype.h"
#include "frontend/names/module.h"

bool frontend_has_main(const struct frontend *f, uint32_t file)
{
	const struct module *m = f->modules.at[file];
	for (uint32_t i = 0; i < m->n_items; i++)
		if (m->items[i].kind == ITEM_MAIN)
			return true;
	return false;
}

static uint32_t count_defaults(const struct item *it)
{
	const struct ast *t = &it->mod->ast;
	struct ast_nodes params = ast_fn(t, it->node).params;
	uint32_t n = 0;
	for (uint32_t i = 0; i < params.n; i++)
		n += ast_b(t, params.at[i]) != AST_NONE;
	return n;
}

static bool needs_no_arguments(const struct item *it)
{
	return it->name != 0 && count_defaults(it) == ast_fn(&it->mod->ast, it->node).params.n;
}

/* True if the name of a definition is nowhere but in the definition itself. */
static bool is_unused(struct frontend *f, const struct item *it)
{
	token_id first = ast_first_token(&it->mod->ast, it->node), last = ast_last_token(&it->mod->ast, it->node);
	for (uint32_t k = 0; k < f->modules.len; k++) {
		const struct module *m = f->modules.at[k];
		for (token_id i = 0; i < m->ast.tokens.len && !m->std; i++)
			if (token_kind(&m->ast.tokens, i) == TOK_NAME && !(m == it->mod && i >= first && i <= last) &&
			    token_name(f, m, i) == it->name)
				return false;
	}
	return true;
}

/* Elaborates a function as an entry. Errors that concern it as an entry only are dropped. */
static void try_entry(struct frontend *f, const char *name)
{
	struct elab_request req = {.entries = &name, .n_entries = 1, .at = SPAN_NONE};
	struct diags *out = f->diags;
	struct elab e;
	f->diags = diags_new(0);
	elab_init(&e, f, false);
	elab_program(&e, &req);
	elab_free(&e);
	for (uint32_t i = 0; i < diags_count(f->diags); i++) {
		const struct diag *g = diags_at(f->diags, i);
		if (diag_severity_of(g->code) == SEV_ERROR && g->code != DIAG_ENTRY && g->code != DIAG_ENTRY_INPUT &&
		    g->code != DIAG_NO_FORWARD)
			diags_add_copy(out, g);
	}
	diags_free(f->diags);
	f->diags = out;
}

/* True if other code of the layer uses the function's name: its callers elaborate it, with their sizes. */
static bool is_helper(struct frontend *f, const struct item *it, token_id name)
{
	struct module *m = it->mod;
	token_id last = ast_last_token(&m->ast, it->node);
	for (token_id i = ast_first_token(&m->ast, it->node); i <= last; i++)
		if (i != name && token_kind(&m->ast.tokens, i) == TOK_NAME && token_name(f, m, i) == token_name(f, m, name))
			return true;
	return false;
}

static bool takes_tensors(struct frontend *f, struct module *m, const struct ast_fn *fn)
{
	for (uint32_t i = 0; i < fn->params.n; i++) {
		node_id type = ast_a(&m->ast, fn->params.at[i]);
		if (type && ast_kind(&m->ast, type) == NODE_TYPE_NAME &&
		    dtype_find(name_text(f, token_name(f, m, ast_token(&m->ast, type)))) != DT_COUNT)
			return false;
	}
	return true;
}

/* Elaborates the functions of a layer that may be entries: `forward`, `prefill`, `decode`. */
static void try_layer(struct frontend *f, const struct item *it)
{
	const struct ast *t = &it->mod->ast;
	node_id body = ast_fn(t, it->node).body;
	struct ast_nodes members = ast_nodes(t, ast_a(t, body));
	for (uint32_t i = 0; i < members.n && !diags_errors(f->diags); i++) {
		if (ast_kind(t, members.at[i]) != NODE_FN)
			continue;
		struct ast_fn fn = ast_fn(t, members.at[i]);
		const char *name = name_text(f, token_name(f, it->mod, fn.name));
		if (!strcmp(name, "forward") || (takes_tensors(f, it->mod, &fn) && !is_helper(f, it, fn.name)))
			try_entry(f, arena_printf(f->session, "%s.%s", name_text(f, it->name), name));
	}
}

bool frontend_try_layers(struct frontend *f)
{
	int64_t t0 = os_now_ns();
	for (uint32_t i = 0; i < f->modules.len && !diags_errors(f->diags); i++) {
		const struct module *m = f->modules.at[i];
		for (uint32_t k = 0; k < m->n_items && !m->std; k++) {
			struct item *it = &m->items[k];
			if (it->kind != ITEM_MODULE_LAYER)
				continue;
			if (needs_no_arguments(it))
				try_layer(f, it);
			else if (count_defaults(it) && is_unused(f, it))
				check_with_defaults(f, it);
		}
	}
	f->times.elaborate += os_now_ns() - t0;
	return !diags_errors(f->diags);
}

static bool is_exported(struct frontend *f, const struct item *it)
{
	struct ast_nodes attrs = ast_attributes(&it->mod->ast, it->node);
	for (uint32_t i = 0; i < attrs.n; i++)
		if (!strcmp(name_text(f, token_name(f, it->mod, ast_token(&it->mod->ast, attrs.at[i]))), "export"))
			return true;
	return false;
}

const char *frontend_default_entry(struct frontend *f, const char *path)
{
	const struct module *m = module_loaded(f, path);
	const struct item *best = NULL;
	int most = 0;
	for (uint32_t i = 0; m && i < m->n_items; i++) {
		const struct item *it = &m->items[i];
		bool layer = it->kind == ITEM_MODULE_LAYER || it->kind == ITEM_LAYER;
		if (it->name == 0 || !(layer || it->kind == ITEM_FN))
			continue;
		bool ready = it->kind == ITEM_LAYER || (layer && needs_no_arguments(it));
		int rank = 1 + layer + ready + 4 * is_exported(f, it);
		if (rank >= most) {
			most = rank;
			best = it;
		}
	}
	return best ? name_text(f, best->name) : NULL;
}

/* ---- declared arguments ---- */

static const struct item *find_functional(struct frontend *f, const char *name)
{
	name_id id = intern_str(f->names, name);
	for (uint32_t i = 0; i < f->modules.len; i++) {
		const struct item *it = f->modules.at[i]->std ? NULL : module_find(f->modules.at[i], id);
		if (it && (it->kind == ITEM_FN || it->kind == ITEM_LAYER))
			return it;
	}
	return NULL;
}

static const char *entries_text_of(const struct frontend *f, struct arena *a, span at)
{
	return arena_strndup(a, sources_get(f->sources, at.source)->text + at.start, at.end - at.start);
}

const struct frontend_arg *frontend_entry_args(struct frontend *f, const char *entry, struct arena *a, uint32_t *n)
{
	const struct item *it = find_functional(f, entry);
	if (!it || it->has_syntax_error)
		return NULL;
	const struct ast *t = &it->mod->ast;
	struct ast_nodes params = ast_fn(t, it->node).params;
	struct frontend_arg *list = ARENA_ARRAY(a, struct frontend_arg, params.n + 1);
	for (uint32_t i = 0; i < params.n; i++) {
		node_id p = params.at[i];
		list[i] = (struct frontend_arg){.name = entries_text_of(f, a, tok_span(it->mod, ast_token(t, p))),
						.has_default = ast_b(t, p) != AST_NONE,
						.at = tok_span(it->mod, ast_token(t, p))};
		if (ast_a(t, p))
			list[i].type = entries_text_of(f, a, node_span(it->mod, ast_a(t, p)));
	}
	*n = params.n;
	return list;
}

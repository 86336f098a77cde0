/* The declared arguments of a functional entry. */
#include <string.h>
#include "base/arena.h"
#include "frontend/frontend.h"
#include "frontend/names/module.h"

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

static const char *text_of(const struct frontend *f, struct arena *a, span at)
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
		list[i] = (struct frontend_arg){.name = text_of(f, a, tok_span(it->mod, ast_token(t, p))),
						.has_default = ast_b(t, p) != AST_NONE};
		if (ast_a(t, p))
			list[i].type = text_of(f, a, node_span(it->mod, ast_a(t, p)));
	}
	*n = params.n;
	return list;
}

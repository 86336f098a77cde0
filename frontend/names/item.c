/* Items seen from other files: the definition that an import means, and the identity of a definition. */
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/habits/habits.h"
#include "frontend/names/module.h"

void item_hash_identity(struct hasher *h, const struct frontend *f, const struct item *it)
{
	hasher_add_str(h, name_text(f, it->name));
	hasher_add_u64(h, it->ordinal);
}

/* ---- from m import x ---- */

static void report_import_name(struct frontend *f, struct item *it)
{
	VEC(const char *) names = {0};
	struct module *m = it->import.target;
	for (uint32_t i = 0; i < m->n_items; i++)
		if (m->items[i].name)
			vec_push(&names, name_text(f, m->items[i].name));
	token_id tok = ast_token(&it->mod->ast, it->node);
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_NAME, tok_span(it->mod, tok), "`%s` defines no `%s`", m->path,
				  name_text(f, it->import.remote));
	if (!m->std || !habit_name_help(f->diags, g, &it->mod->ast.tokens, tok, HABIT_NN))
		diag_did_you_mean(f->diags, g, tok_span(it->mod, tok), name_text(f, it->import.remote), names.at, names.len);
	vec_free(&names);
}

struct item *item_resolve_import(struct frontend *f, struct item *it)
{
	for (int hops = 0; it && it->kind == ITEM_FROM; hops++) {
		struct item *next = it->import.target ? module_find(it->import.target, it->import.remote) : NULL;
		if (next) {
			next->resolved.used = true;
			f->loaded.reexports = f->loaded.reexports || next->import.target;
		}
		if (!next && it->import.target && !it->resolved.missing_reported && !it->import.target->loading)
			report_import_name(f, it);
		it->resolved.missing_reported = true;
		it = hops < 64 ? next : NULL;
	}
	return it;
}

/* Another build with the front end of the last one: loads files again, finds the definitions that changed, and marks what depends on them. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "frontend/frontend.h"
#include "frontend/elab/elab.h"

void frontend_record_reads(struct frontend *f) { f->records_reads = true; }
void frontend_enable_refresh(struct frontend *f) { f->records_reads = f->is_refreshable = true; }
size_t frontend_memory(const struct frontend *f) { return arena_used(f->session); }

/* ---- one file ---- */

static bool refresh_same_shape(const struct module *old, const struct module *new)
{
	const struct ast *a = &old->ast, *b = &new->ast;
	struct ast_nodes x = ast_nodes(a, ast_a(a, AST_ROOT)), y = ast_nodes(b, ast_a(b, AST_ROOT));
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		enum node_kind k = ast_kind(a, x.at[i]);
		if (k != ast_kind(b, y.at[i]))
			return false;
		bool import = k == NODE_IMPORT || k == NODE_FROM_IMPORT;
		if (import && !hash_eq(ast_item_tokens(a, x.at[i]), ast_item_tokens(b, y.at[i])))
			return false;
	}
	return true;
}

static bool same_items(const struct module *old, const struct module *new)
{
	bool same = old->n_items == new->n_items;
	for (uint32_t i = 0; same && i < old->n_items; i++) {
		const struct item *a = &old->items[i], *b = &new->items[i];
		same = a->kind == b->kind && a->name == b->name && (a->kind != ITEM_TYPE || hash_eq(a->tokens, b->tokens));
	}
	return same;
}

static void update_item(struct item *it, const struct item *new)
{
	enum item_change change = hash_eq(it->tokens, new->tokens)         ? CHANGE_NONE
				  : hash_eq(it->interface, new->interface) ? CHANGE_BODY
									   : CHANGE_INTERFACE;
	if (it->refresh.change < change)
		it->refresh.change = change;
	it->node = new->node;
	it->name_token = new->name_token;
	it->tokens = new->tokens;
	it->interface = new->interface;
	it->resolved.used = it->resolved.used && !it->import.target;
	if (it->checked.func)
		it->checked.func->node = it->node;
}

/* Moves the definitions at the end of the list, from `first` on, to the positions of the file's old ones. */
static void update_defs(struct frontend *f, const struct module *m, uint32_t first)
{
	uint32_t next = first;
	for (uint32_t i = 0; i < first && next < f->loaded.defs.len; i++)
		if (f->loaded.defs.at[i].file == m->path)
			f->loaded.defs.at[i] = f->loaded.defs.at[next++];
	f->loaded.defs.len = first;
}

static void replace_text(struct frontend *f, struct module *m, struct module *new, uint32_t first_def)
{
	for (uint32_t i = 0; i < m->n_items; i++)
		update_item(&m->items[i], &new->items[i]);
	update_defs(f, m, first_def);
	ast_free(&m->ast);
	free(m->names);
	m->ast = new->ast;
	m->names = new->names;
	m->tokens = new->tokens;
	m->reloaded = m->must_resolve = true;
	m->checks_hold = false;
}

bool module_reload(struct frontend *f, struct module *m, const struct source *src)
{
	struct module new = {.path = m->path, .imported_at = m->imported_at};
	struct diags *session_diags = f->diags;
	uint32_t first_def = f->loaded.defs.len;
	f->diags = diags_new(1);
	bool ok = module_parse(f, &new, src) && refresh_same_shape(m, &new) && module_collect_items(f, &new) &&
		  diags_count(f->diags) == 0 && same_items(m, &new);
	diags_free(f->diags);
	f->diags = session_diags;
	map_free(&new.by_name);
	if (ok) {
		replace_text(f, m, &new, first_def);
		return true;
	}
	ast_free(&new.ast);
	free(new.names);
	return false;
}

/* ---- all files ---- */

static bool reload_files(struct frontend *f)
{
	for (uint32_t i = 0; i < f->loaded.missing.len; i++)
		if (f->host.load(f->host.ctx, f->loaded.missing.at[i]))
			return false;
	for (uint32_t i = 0; i < f->modules.len; i++) {
		struct module *m = f->modules.at[i];
		if (m->std)
			sources_use(f->sources, m->ast.tokens.src->id);
		const struct source *src = m->std ? m->ast.tokens.src : f->host.load(f->host.ctx, m->path);
		if (!src || (src != m->ast.tokens.src && !module_reload(f, m, src)))
			return false;
	}
	return true;
}

/* True if a reloaded file was read: a constant's value may point into its old text. */
static bool reads_reloaded(const struct item_reads *reads)
{
	for (uint32_t i = 0; i < reads->n; i++)
		if (reads->at[i].item->mod->reloaded)
			return true;
	return false;
}

/* Marks constants whose value is not known any more as changed, and the constants that depend on them. */
static void spread_constants(struct frontend *f)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < f->modules.len; i++)
			for (uint32_t k = 0; k < f->modules.at[i]->n_items; k++) {
				struct item *it = &f->modules.at[i]->items[k];
				if (it->kind != ITEM_CONST || it->checked.state == ITEM_NEW)
					continue;
				if (!it->refresh.change && !reads_changed(&it->checked.reads) && !reads_reloaded(&it->checked.reads))
					continue;
				it->checked.state = ITEM_NEW;
				it->refresh.change = CHANGE_INTERFACE;
				it->mod->reloaded = again = true;
			}
	}
}

static void mark_unchecked(struct frontend *f)
{
	for (uint32_t i = 0; i < f->modules.len; i++)
		for (uint32_t k = 0; k < f->modules.at[i]->n_items; k++) {
			struct item *it = &f->modules.at[i]->items[k];
			it->refresh.must_check = it->refresh.must_check || it->refresh.change || reads_changed(&it->checked.reads);
			it->mod->checks_hold = it->mod->checks_hold && !it->refresh.must_check;
		}
}

bool frontend_refresh(struct frontend *f, struct frontend_host host, struct diags *diags)
{
	f->host = host;
	f->diags = diags;
	f->times = (struct frontend_times){0};
	if (f->loaded.reexports || f->index || f->n_dependencies || !reload_files(f))
		return false;
	for (uint32_t i = 0; i < f->modules.len; i++)
		if (f->modules.at[i]->reloaded) {
			spread_constants(f);
			mark_unchecked(f);
			break;
		}
	return true;
}

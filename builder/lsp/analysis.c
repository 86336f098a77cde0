/* Files come from the editor where they are open, else from the host. */
#include "builder/lsp/analysis.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/lsp/editor_state.h"
#include "builder/manifest/glob.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/build_spec.h"
#include "frontend/frontend.h"
#include "frontend/index/index.h"
#include "frontend/names/index_note.h"

#define MANIFEST "tri.build"

static const struct source *analysis_read_source(struct analysis *a, const char *path)
{
	const struct lsp_host *h = a->state->host;
	const char *full = path_normal(a->arena, path_join(a->arena, a->workspace->root, path));
	const struct document *d = document_of_path(a->state, full);
	char *text;
	size_t len;
	map_put(&a->looked_for, map_key_str(full), 1);
	if (d && a->edited && a->edited->document == d) {
		const struct source *s = sources_add(a->sources, path, a->edited->text, a->edited->len);
		index_ask(a->index, s->id, (uint32_t)a->edited->offset);
		return s;
	}
	if (d)
		return sources_add(a->sources, path, d->text.at ? d->text.at : "", d->text.len);
	if (!h->read(h->ctx, full, &text, &len))
		return NULL;
	if (len < INT32_MAX)
		return sources_add_owned(a->sources, path, text, len);
	free(text);
	return NULL;
}

static const struct source *analysis_load(void *ctx, const char *path)
{
	struct analysis *a = ctx;
	hash128 key = map_key_str(path);
	uint64_t id;
	if (map_get(&a->loaded, key, &id))
		return id ? sources_get(a->sources, (uint32_t)id - 1) : NULL;
	const struct source *s = analysis_read_source(a, path);
	map_put(&a->loaded, key, s ? s->id + 1u : 0);
	return s;
}

/* The path in the front end: relative to the root if it is below the root. */
static const char *inner_path(const struct analysis *a, const char *path)
{
	size_t n = strlen(a->workspace->root);
	if (a->workspace->is_std)
		return arena_printf(a->arena, "std/%s", path_base(path));
	if (!strncmp(path, a->workspace->root, n) && path[n] == '/')
		return path + n + 1;
	return n == 1 && *path == '/' ? path + 1 : path;
}

static void add_sources(struct analysis *a, const struct manifest *m)
{
	const struct lsp_host *h = a->state->host;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		const struct manifest_value *v = m->blocks[i].kind == BLOCK_MODEL ? manifest_get(&m->blocks[i], KEY_SOURCES) : NULL;
		for (uint32_t k = 0; v && k < v->n_words; k++) {
			const char *word = v->words[k];
			uint32_t n = 1;
			const char *const *files = &word;
			if (glob_is_pattern(word))
				files = h->expand(h->ctx, a->arena, a->workspace->root, word, &n);
			else if (!analysis_load(a, word))
				n = 0;
			for (uint32_t j = 0; j < n; j++)
				frontend_add_file(a->frontend, inner_path(a, files[j]));
			if (!n)
				diag_add(a->diags, DIAG_MANIFEST_SOURCES, v->at, "no file matches `%s`", word);
		}
	}
}

static void add_dependencies(struct analysis *a, const struct manifest *m)
{
	const struct dependency_options r = {.arena = a->arena,
					     .sources = a->sources,
					     .host = {analysis_load, a},
					     .manifest = m,
					     .mode = DEPENDENCY_LINKED,
					     .top = a->workspace->root,
					     .diags = a->diags};
	if (dependencies_resolve(&r, &a->dependencies))
		frontend_set_dependencies(a->frontend, a->dependencies.visible, a->dependencies.n_visible);
}

static void add_manifest(struct analysis *a)
{
	const struct options none = {
		.opt = -1, .most_failures = -1, .verbose = -1, .explain = -1, .timing = -1, .no_cache = -1, .low_memory = -1, .json = -1};
	const struct manifest *m = manifest_read(a->arena, (struct frontend_host){analysis_load, a}, MANIFEST, a->diags);
	struct build_spec *spec = ARENA_NEW(a->arena, struct build_spec);
	a->manifest = m;
	if (!diags_errors(a->diags) && build_spec_make(a->arena, m, &none, spec, a->diags))
		a->spec = spec;
	add_dependencies(a, m);
	add_sources(a, m);
}

/* ---- entries ---- */

/* Counts the definitions that an entry may name. *members: their weights are members of a layer, not arguments. */
static uint32_t entry_definitions(const struct analysis *a, const char *entry, bool *members)
{
	size_t n = strcspn(entry, ".");
	uint32_t found = 0;
	*members = false;
	for (uint32_t i = 0; i < a->index->symbols.len; i++) {
		const struct symbol *s = &a->index->symbols.at[i], *up = s->parent == SYMBOL_NONE ? NULL : &a->index->symbols.at[s->parent];
		const char *name = up ? up->name : s->name;
		if (s->std || strlen(name) != n || memcmp(name, entry, n) != 0)
			continue;
		found += !up && (s->kind == SYMBOL_FN || s->kind == SYMBOL_LAYER);
		*members = *members || (s->kind == SYMBOL_METHOD && up->kind == SYMBOL_LAYER);
	}
	return found;
}

/* False if only the weights file says which arguments are weights. That file is not read here. */
static bool can_elaborate(const struct analysis *a, const struct model_spec *spec)
{
	for (uint32_t i = 0; i < spec->n_entries; i++) {
		bool members;
		uint32_t n = entry_definitions(a, spec->entries[i], &members);
		if (n > 1 || (n && !members && spec->weights))
			return false;
	}
	return true;
}

bool analysis_has_models_left(const struct analysis *a) { return a->spec && a->n_elaborated < a->spec->n_models; }

void analysis_elaborate_next(struct analysis *a)
{
	const struct model_spec *m = &a->spec->models[a->n_elaborated++];
	struct elab_request req = {.entries = m->entries,
				   .n_entries = m->n_entries,
				   .inputs = m->inputs,
				   .n_inputs = m->n_inputs,
				   .weight_names = m->weight_names,
				   .n_weight_names = m->n_weight_names,
				   .at = m->entry_at};
	if (can_elaborate(a, m))
		frontend_elaborate(a->frontend, &req);
	diags_sort(a->diags);
	a->edits_verified = false;
}

void analysis_verify_edits(struct analysis *a)
{
	if (!a->edits_verified)
		frontend_verify_edits(a->frontend, a->diags);
	a->edits_verified = true;
}

static void add_documents(struct analysis *a)
{
	const struct document *only = a->edited ? a->edited->document : NULL;
	for (uint32_t i = 0; i < a->state->documents.len; i++) {
		const struct document *d = a->state->documents.at[i];
		if (only ? only == d : d->workspace == a->workspace && !document_is_manifest(d))
			frontend_add_file(a->frontend, inner_path(a, d->path));
	}
}

/* Notes T of `state.T` in the manifest as a use of the capacity. */
static void note_capacities(struct analysis *a)
{
	for (uint32_t i = 0; a->manifest && i < a->manifest->n_blocks; i++) {
		const struct manifest_block *b = &a->manifest->blocks[i];
		for (uint32_t k = 0; k < b->n_values; k++) {
			const struct manifest_value *v = &b->values[k];
			uint32_t s = v->key == KEY_STATE ? index_find_capacity(a->index, v->name, false) : SYMBOL_NONE;
			span at = {v->key_at.source, v->key_at.start + (uint32_t)strlen("state."), v->key_at.end};
			if (s != SYMBOL_NONE && at.end - at.start == strlen(v->name))
				index_use(a->frontend, at, s);
		}
	}
}

struct analysis *analysis_new(const struct editor_state *state, const struct workspace *ws, const struct edited_document *edited)
{
	struct arena *arena = arena_new(0);
	struct analysis *a = ARENA_NEW(arena, struct analysis);
	*a = (struct analysis){.state = state, .workspace = ws, .edited = edited, .arena = arena};
	a->sources = sources_new();
	a->diags = diags_new(0);
	a->index = index_new();
	a->frontend = frontend_new(a->sources, (struct frontend_host){analysis_load, a}, a->diags);
	frontend_set_index(a->frontend, a->index);
	if (ws->has_manifest && !edited)
		add_manifest(a);
	else if (ws->has_manifest)
		add_dependencies(a, manifest_read(a->arena, (struct frontend_host){analysis_load, a}, MANIFEST, a->diags));
	add_documents(a);
	frontend_check(a->frontend);
	note_capacities(a);
	index_finish(a->index);
	frontend_set_index(a->frontend, NULL);
	if (diags_errors(a->diags))
		a->spec = NULL;
	diags_sort(a->diags);
	a->edited = NULL;
	return a;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	frontend_free(a->frontend);
	index_free(a->index);
	diags_free(a->diags);
	sources_free(a->sources);
	map_free(&a->loaded);
	map_free(&a->looked_for);
	arena_free(a->arena);
}

const char *analysis_path(const struct analysis *a, uint32_t source)
{
	const char *path = sources_get(a->sources, source)->path;
	if (!strncmp(path, "std/", 4))
		return path_join(a->arena, a->state->host->std_dir, path + 4);
	return path_normal(a->arena, path_join(a->arena, a->workspace->root, path));
}

const struct source *analysis_source(const struct analysis *a, const char *path)
{
	const char *inner = inner_path(a, path);
	for (uint32_t i = 0; i < sources_count(a->sources); i++)
		if (!strcmp(sources_get(a->sources, i)->path, inner))
			return sources_get(a->sources, i);
	return NULL;
}

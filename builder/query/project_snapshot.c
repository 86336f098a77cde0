#include "builder/query/affected.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/os.h"
#include "base/path.h"
#include "base/source.h"
#include "base/vec.h"
#include "builder/deps/checkout.h"
#include "builder/deps/dependency.h"
#include "builder/git/git.h"
#include "builder/manifest/glob.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "frontend/def_graph.h"

#define MANIFEST "tri.build"

/* The checked sources of a model. Models with the same files share them. */
struct checked_sources {
	const char *const *files;
	uint32_t n_files;
	struct frontend *frontend;
	struct index *index;
	struct def_graph *graph;
	uint32_t *numbers; /* graph node → definition of the snapshot */
};
struct snapshot_loader {
	struct project_snapshot snapshot; /* first: snapshot_new returns it */
	const struct git_api *git;
	struct git_view *view;
	struct map seen; /* path → source id + 1; 0: missing */
	struct dependencies dependencies;
	VEC(const struct dependency *) old_dependencies; /* of a commit */
	struct checked_sources *checked;
	uint32_t n_checked;
	VEC(struct snapshot_def) defs;
	struct map by_name; /* file, name and number → index in defs */
};

/* ---- files ---- */

/* Reads a file of the commit. The paths of dependencies lead to their current files, so the old ones are read from the cache. */
static bool read_at_commit(struct snapshot_loader *l, const char *path, char **text, size_t *len)
{
	size_t n = strlen(DEPENDENCY_FOLDER);
	if (strncmp(path, DEPENDENCY_FOLDER, n) != 0 || path[n] != '/')
		return l->git->view_read(l->view, path, text, len);
	for (uint32_t i = 0; i < l->old_dependencies.len; i++) {
		const struct dependency *d = l->old_dependencies.at[i];
		size_t root = strlen(d->root);
		if (strncmp(path, d->root, root) == 0 && path[root] == '/')
			return os_read_file(path_join(l->snapshot.arena, d->files, path + root + 1), INT32_MAX, text, len);
	}
	return false;
}

static const struct source *project_snapshot_load(void *ctx, const char *path)
{
	struct snapshot_loader *l = ctx;
	hash128 key = map_key_str(path);
	uint64_t id;
	char *text;
	size_t len;
	if (map_get(&l->seen, key, &id))
		return id ? sources_get(l->snapshot.sources, (uint32_t)id - 1) : NULL;
	const struct source *s = NULL;
	bool found = l->view ? read_at_commit(l, path, &text, &len) : os_read_file(path, INT32_MAX, &text, &len);
	if (found && len < INT32_MAX)
		s = sources_add_owned(l->snapshot.sources, path, text, len);
	else if (found)
		free(text);
	map_put(&l->seen, key, s ? s->id + 1u : 0);
	return s;
}

struct pattern_match {
	struct arena *a;
	const char *pattern;
	VEC(const char *) found;
};

static void match(void *ctx, const char *path)
{
	struct pattern_match *m = ctx;
	if (glob_matches(m->pattern, path))
		vec_push(&m->found, arena_strdup(m->a, path));
}

static int project_snapshot_by_text(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

/* glob_expand for the files of a commit. */
static const char *const *expand_in_commit(struct snapshot_loader *l, const char *pattern, uint32_t *n)
{
	struct arena *a = l->snapshot.arena;
	struct pattern_match m = {.a = a, .pattern = pattern};
	const char *plain = pattern + strcspn(pattern, "*?["); /* the folder before the first part that is a pattern */
	while (plain > pattern && plain[-1] != '/')
		plain--;
	l->git->view_files(l->view, arena_strndup(a, pattern, (size_t)(plain - pattern)), match, &m);
	const char **list = ARENA_ARRAY(a, const char *, m.found.len + 1);
	if (m.found.len)
		qsort(m.found.at, m.found.len, sizeof *m.found.at, project_snapshot_by_text);
	for (uint32_t i = 0; i < m.found.len; i++)
		list[i] = path_normal(a, m.found.at[i]);
	*n = m.found.len;
	vec_free(&m.found);
	return list;
}

static const char *const *project_snapshot_source_files(struct snapshot_loader *l, const struct model_spec *s, uint32_t *n)
{
	VEC(const char *) files = {0};
	for (uint32_t i = 0; i < s->sources->n_words; i++) {
		const char *word = s->sources->words[i];
		uint32_t found = 1;
		const char *const *list = &word;
		if (glob_is_pattern(word))
			list = l->view ? expand_in_commit(l, word, &found) : glob_expand(l->snapshot.arena, word, &found);
		for (uint32_t k = 0; k < found; k++)
			vec_push(&files, list[k]);
	}
	const char **copy = ARENA_ARRAY(l->snapshot.arena, const char *, files.len + 1);
	if (files.len)
		memcpy(copy, files.at, files.len * sizeof *copy);
	*n = files.len;
	vec_free(&files);
	return copy;
}

/* ---- front ends ---- */

static bool same_files(const struct checked_sources *l, const char *const *files, uint32_t n)
{
	bool same = l->n_files == n;
	for (uint32_t i = 0; same && i < n; i++)
		same = strcmp(l->files[i], files[i]) == 0;
	return same;
}

/* Copies the syntax errors into the snapshot. A build will report the other errors. */
static void copy_syntax_errors(struct snapshot_loader *l, const struct diags *all)
{
	for (uint32_t i = 0; i < diags_count(all); i++) {
		const struct diag *g = diags_at(all, i);
		if (diag_is_syntax_error(g->code) && g->primary.at.source != SPAN_NO_SOURCE)
			diags_add_copy(l->snapshot.diags, g);
	}
}

static struct checked_sources *load_files(struct snapshot_loader *l, const char *const *files, uint32_t n)
{
	for (uint32_t i = 0; i < l->n_checked; i++)
		if (same_files(&l->checked[i], files, n))
			return &l->checked[i];
	struct checked_sources *it = &l->checked[l->n_checked++];
	struct diags *found = diags_new(0);
	*it = (struct checked_sources){.files = files, .n_files = n, .index = index_new()};
	it->frontend = frontend_new(l->snapshot.sources, (struct frontend_host){project_snapshot_load, l}, found);
	frontend_set_index(it->frontend, it->index);
	frontend_set_dependencies(it->frontend, l->dependencies.visible, l->dependencies.n_visible);
	for (uint32_t i = 0; i < n; i++)
		frontend_add_file(it->frontend, files[i]);
	frontend_check(it->frontend);
	index_finish(it->index);
	frontend_set_index(it->frontend, NULL);
	copy_syntax_errors(l, found);
	it->graph = def_graph_new(l->snapshot.arena, it->frontend, it->index);
	diags_free(found);
	return it;
}

/* ---- definitions ---- */

static hash128 project_snapshot_name_key(const char *file, const char *name, uint32_t nth)
{
	return hash_combine(hash_combine(map_key_str(file), map_key_str(name)), (hash128){nth, 0});
}

/* The number of a definition in the snapshot. A new definition is added, without its uses. */
static uint32_t project_snapshot_number_of(struct snapshot_loader *l, const struct def_node *n, struct map *counts)
{
	const struct frontend_def *d = n->def;
	hash128 plain = project_snapshot_name_key(d->file, d->name, UINT32_MAX);
	uint64_t nth = 0, at;
	map_get(counts, plain, &nth);
	map_put(counts, plain, nth + 1);
	hash128 key = project_snapshot_name_key(d->file, d->name, (uint32_t)nth);
	if (map_get(&l->by_name, key, &at))
		return (uint32_t)at;
	struct snapshot_def def = {
		.file = d->file, .name = d->name, .nth = (uint32_t)nth, .std = n->std, .tokens = d->tokens, .deep = n->deep};
	def.line = source_position(l->snapshot.sources, d->at.source, d->at.start).line;
	map_put(&l->by_name, key, l->defs.len);
	vec_push(&l->defs, def);
	return l->defs.len - 1;
}

static int project_snapshot_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void project_snapshot_add_definitions(struct snapshot_loader *l, struct checked_sources *it)
{
	struct map counts = {0};
	const struct def_graph *g = it->graph;
	it->numbers = ARENA_ARRAY(l->snapshot.arena, uint32_t, g->n + 1);
	for (uint32_t i = 0; i < g->n; i++)
		it->numbers[i] = project_snapshot_number_of(l, &g->nodes[i], &counts);
	for (uint32_t i = 0; i < g->n; i++) {
		struct snapshot_def *d = &l->defs.at[it->numbers[i]];
		uint32_t *uses = ARENA_ARRAY(l->snapshot.arena, uint32_t, g->nodes[i].n_uses + 1);
		for (uint32_t k = 0; k < g->nodes[i].n_uses; k++)
			uses[k] = it->numbers[g->nodes[i].uses[k]];
		qsort(uses, g->nodes[i].n_uses, sizeof *uses, project_snapshot_by_number);
		d->uses = uses;
		d->n_uses = g->nodes[i].n_uses;
	}
	map_free(&counts);
}

/* The definition of an entry. Of several, the one in the file that was loaded first, as in a build. */
static uint32_t project_snapshot_find_entry(const struct checked_sources *it, const char *entry)
{
	const struct def_graph *g = it->graph;
	size_t len = strcspn(entry, ".");
	uint32_t best = SNAPSHOT_NO_DEF, best_rank = UINT32_MAX;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct def_node *n = &g->nodes[i];
		enum symbol_kind kind = n->symbol == SYMBOL_NONE ? SYMBOL_UNKNOWN : it->index->symbols.at[n->symbol].kind;
		if (n->std || (kind != SYMBOL_FN && kind != SYMBOL_LAYER) || strncmp(n->def->name, entry, len) != 0 || n->def->name[len])
			continue;
		uint32_t rank = 0;
		while (rank < frontend_files(it->frontend) && strcmp(frontend_file_path(it->frontend, rank), n->def->file) != 0)
			rank++;
		if (rank < best_rank) {
			best_rank = rank;
			best = it->numbers[i];
		}
	}
	return best;
}

static void project_snapshot_mark_syntax_errors(struct snapshot_loader *l)
{
	VEC(const char *) files = {0};
	for (uint32_t i = 0; i < diags_count(l->snapshot.diags); i++) {
		const struct diag *g = diags_at(l->snapshot.diags, i);
		if (diag_severity_of(g->code) != SEV_ERROR)
			continue;
		const char *path = sources_get(l->snapshot.sources, g->primary.at.source)->path;
		if (!files.len || strcmp(files.at[files.len - 1], path) != 0)
			vec_push(&files, path);
	}
	const char **list = ARENA_ARRAY(l->snapshot.arena, const char *, files.len + 1);
	for (uint32_t i = 0; i < files.len; i++)
		list[i] = files.at[i];
	l->snapshot.broken = list;
	l->snapshot.n_broken = files.len;
	vec_free(&files);
	for (uint32_t i = 0; i < l->snapshot.n_defs; i++)
		for (uint32_t k = 0; k < l->snapshot.n_broken && !l->snapshot.defs[i].broken; k++)
			l->snapshot.defs[i].broken = strcmp(l->snapshot.defs[i].file, l->snapshot.broken[k]) == 0;
}

static void load_models(struct snapshot_loader *l)
{
	struct project_snapshot *s = &l->snapshot;
	s->n_models = s->spec.n_models;
	s->models = ARENA_ARRAY(s->arena, struct snapshot_model, s->n_models + 1);
	l->checked = ARENA_ARRAY(s->arena, struct checked_sources, s->n_models + 1);
	for (uint32_t i = 0; i < s->n_models; i++) {
		const struct model_spec *m = &s->spec.models[i];
		uint32_t n, before = l->n_checked, *entries = ARENA_ARRAY(s->arena, uint32_t, m->n_entries + 1);
		const char *const *files = project_snapshot_source_files(l, m, &n);
		struct checked_sources *it = load_files(l, files, n);
		if (l->n_checked != before)
			project_snapshot_add_definitions(l, it);
		for (uint32_t k = 0; k < m->n_entries; k++)
			entries[k] = project_snapshot_find_entry(it, m->entries[k]);
		s->models[i] = (struct snapshot_model){m, entries};
	}
	s->n_defs = l->defs.len;
	s->defs = l->defs.at;
}

static void add_old_dependency(void *ctx, const struct dependency *dependency)
{
	struct snapshot_loader *l = ctx;
	struct dependency *copy = ARENA_NEW(l->snapshot.arena, struct dependency);
	*copy = *dependency;
	vec_push(&l->old_dependencies, copy);
}

/* The dependencies of a commit may be unreachable; that is no error. */
static bool find_dependencies(struct snapshot_loader *l, const struct manifest *m, const struct options *o)
{
	struct checkouts c;
	struct project_snapshot *s = &l->snapshot;
	struct diags *found = diags_new(0);
	struct dependency_options r = {.arena = s->arena,
				       .sources = s->sources,
				       .host = {project_snapshot_load, l},
				       .manifest = m,
				       .checkouts = &c,
				       .diags = found};
	r.mode = l->view ? DEPENDENCY_AT_COMMIT : o->locked ? DEPENDENCY_LOCKED : DEPENDENCY_BUILD;
	r.found = l->view ? add_old_dependency : NULL;
	r.ctx = l;
	s->has_dependencies = checkouts_open(&c, s->arena, s->sources, m, o, found) && dependencies_resolve(&r, &l->dependencies);
	if (!l->view)
		diags_merge(s->diags, found);
	diags_free(found);
	return s->has_dependencies || l->view;
}

struct project_snapshot *snapshot_new(const struct options *o, const struct git_api *git, struct git_view *view)
{
	struct arena *a = arena_new(0);
	struct snapshot_loader *l = ARENA_NEW(a, struct snapshot_loader);
	struct project_snapshot *s = &l->snapshot;
	l->git = git;
	l->view = view;
	s->arena = a;
	s->sources = sources_new();
	s->diags = diags_new(0);
	s->has_manifest = project_snapshot_load(l, MANIFEST) != NULL;
	const struct manifest *m = manifest_read(a, (struct frontend_host){project_snapshot_load, l}, MANIFEST, s->diags);
	s->sound_manifest = diags_errors(s->diags) == 0 && build_spec_make(a, m, o, &s->spec, s->diags) && find_dependencies(l, m, o);
	if (s->sound_manifest) {
		load_models(l);
		diags_sort(s->diags);
		project_snapshot_mark_syntax_errors(l);
	}
	return s;
}

void snapshot_free(struct project_snapshot *s)
{
	struct snapshot_loader *l = (struct snapshot_loader *)s;
	if (!s)
		return;
	for (uint32_t i = 0; i < l->n_checked; i++) {
		frontend_free(l->checked[i].frontend);
		index_free(l->checked[i].index);
	}
	vec_free(&l->defs);
	vec_free(&l->old_dependencies);
	map_free(&l->seen);
	map_free(&l->by_name);
	diags_free(s->diags);
	sources_free(s->sources);
	arena_free(s->arena);
}

/* The front end's public interface. */
#include "frontend/frontend.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "frontend/elab/elaborate.h"
#include "frontend/elab/elab.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/expr.h"
#include "frontend/names/index_note.h"
#include "frontend/names/module.h"
#include "frontend/rules/builtin.h"
#include "frontend/syntax/dump.h"

struct frontend *frontend_new(struct sources *sources, struct frontend_host host, struct diags *diags)
{
	struct arena *a = arena_new(256 * 1024);
	struct frontend *f = ARENA_NEW(a, struct frontend);
	f->arena = f->session = a;
	f->sources = sources;
	f->host = host;
	f->diags = diags;
	f->warnings = diags_new(0);
	f->names = interner_new();
	prelude_init(f);
	builtin_sigs_init(f);
	return f;
}

void frontend_free(struct frontend *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->modules.len; i++) {
		ast_free(&f->modules.at[i]->ast);
		free(f->modules.at[i]->names);
		map_free(&f->modules.at[i]->by_name);
	}
	diags_free(f->warnings);
	vec_free(&f->modules);
	vec_free(&f->elab.most_locals);
	vec_free(&f->resolver.innermost);
	vec_free(&f->loaded.defs);
	vec_free(&f->loaded.missing);
	vec_free(&f->elab.calls);
	vec_free(&f->prelude.values);
	vec_free(&f->prelude.names);
	map_free(&f->loaded.by_path);
	map_free(&f->elab.units);
	map_free(&f->elab.wrong_results);
	map_free(&f->prelude.by_name);
	map_free(&f->loaded.ordinals);
	interner_free(f->names);
	arena_free(f->session);
}

const struct frontend_times *frontend_times(const struct frontend *f) { return &f->times; }

bool frontend_add_file(struct frontend *f, const char *path)
{
	bool ok = true;
	const struct module *known = module_loaded(f, path);
	if (known)
		return !known->failed;
	struct module *m = module_load(f, path, SPAN_NONE, true, &ok);
	return m && ok;
}

void frontend_set_index(struct frontend *f, struct index *ix)
{
	f->index = ix;
	if (ix)
		index_prelude(f);
}

void frontend_set_dependencies(struct frontend *f, const struct frontend_dependency *list, uint32_t n)
{
	f->dependencies = list;
	f->n_dependencies = n;
}

/* Resolves names in reloaded files and in new ones. */
static void resolve_all(struct frontend *f)
{
	uint32_t first = f->resolver.n_modules, n = f->modules.len;
	for (uint32_t i = 0; i < n; i++) {
		struct module *m = f->modules.at[i];
		if (i < first ? m->must_resolve : f->index || !(m->std || m->checks_hold))
			resolve_module(f, m);
	}
	f->resolver.n_tokens = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct module *m = f->modules.at[i];
		if (i < first ? m->must_resolve : !m->checks_hold)
			resolve_warn_imports(f, m);
		m->must_resolve = false;
		f->resolver.n_tokens += m->ast.tokens.len;
	}
	f->resolver.n_modules = n;
}

/* True if the module is checked. A question of an editor concerns one file only. */
static bool is_checked(const struct frontend *f, const struct module *m)
{
	uint32_t asked = f->index ? f->index->asked.source : SPAN_NO_SOURCE;
	return !m->std && (asked == SPAN_NO_SOURCE || asked == m->ast.tokens.src->id);
}

/* For the index, checks files with syntax errors, too. Their errors are dropped, and they come last, so that other files report theirs. */
static void check_broken(struct frontend *f, uint32_t first)
{
	struct diags *trash = diags_new(1);
	for (uint32_t k = first; k < f->modules.len; k++)
		if (f->modules.at[k]->failed && is_checked(f, f->modules.at[k]))
			check_module(f, f->modules.at[k], trash, false);
	diags_free(trash);
}

/* Checks the definitions of earlier files again whose inputs have changed. */
static void check_changed(struct frontend *f)
{
	for (uint32_t i = 0; i < f->elab.n_checked && f->is_refreshable; i++)
		if (!f->modules.at[i]->std)
			check_module(f, f->modules.at[i], NULL, true);
}

static void check_new(struct frontend *f)
{
	for (; f->elab.n_checked < f->modules.len; f->elab.n_checked++)
		if (is_checked(f, f->modules.at[f->elab.n_checked]))
			check_module(f, f->modules.at[f->elab.n_checked], NULL, false);
}

static void show_warnings(struct frontend *f)
{
	diags_merge(f->diags, f->warnings);
	diags_free(f->warnings);
	f->warnings = diags_new(0);
}

bool frontend_check(struct frontend *f)
{
	int64_t t0 = os_now_ns();
	uint32_t before = diags_errors(f->diags), first = f->elab.n_checked;
	measure_begin("resolve");
	resolve_all(f);
	measure_end();
	measure_begin("check");
	check_changed(f);
	check_new(f);
	measure_end();
	if (f->index)
		check_broken(f, first);
	if (!diags_errors(f->diags))
		show_warnings(f);
	f->times.check += os_now_ns() - t0;
	return diags_errors(f->diags) == before;
}

uint32_t frontend_defs(const struct frontend *f, const struct frontend_def **defs)
{
	*defs = f->loaded.defs.at;
	return f->loaded.defs.len;
}

uint32_t frontend_files(const struct frontend *f) { return f->modules.len; }
const char *frontend_file_path(const struct frontend *f, uint32_t i) { return f->modules.at[i]->path; }
hash128 frontend_file_tokens(const struct frontend *f, uint32_t i) { return f->modules.at[i]->tokens; }

/* Those of the standard library change with trib only. */
hash128 frontend_file_lines(const struct frontend *f, uint32_t i)
{
	const struct tokens *t = &f->modules.at[i]->ast.tokens;
	uint64_t h = 0, line = 1, at = 0, line_start = 0;
	for (uint32_t k = 0; !f->modules.at[i]->std && k + 1 < t->len; k++) { /* without the end of the file */
		for (; at < t->starts[k]; at++)
			if (t->src->text[at] == '\n') {
				line++;
				line_start = at + 1;
			}
		h = (h ^ (line << 20 ^ (at - line_start))) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 29;
	}
	return (hash128){h, line};
}

struct hir_program *frontend_elaborate(struct frontend *f, const struct elab_request *req)
{
	int64_t t0 = os_now_ns();
	uint32_t before = diags_errors(f->diags);
	struct elab e;
	resolve_all(f);
	struct hir_program *p = NULL;
	if (diags_errors(f->diags) == before && !(p = elab_incremental(f, req))) {
		elab_init(&e, f, false);
		p = elab_program(&e, req);
		elab_free(&e);
	}
	f->times.elaborate += os_now_ns() - t0;
	return p;
}

void frontend_dump_tokens(struct frontend *f, const char *path, struct buf *out)
{
	struct module *m = module_loaded(f, path);
	if (m)
		dump_tokens(&m->ast.tokens, out);
}

void frontend_dump_ast(struct frontend *f, const char *path, struct buf *out)
{
	struct module *m = module_loaded(f, path);
	if (m)
		dump_ast(&m->ast, out);
}

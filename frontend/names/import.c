/* What an import names: a file beside the importing one, a file of a dependency, or a module of the standard library. */
#include "frontend/names/module.h"
#include <errno.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "frontend/habits/habits.h"
#include "frontend/syntax/literal.h"

static bool import_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return n && !strncmp(path, folder, n) && path[n] == '/';
}

/* The root of the dependency that has the file; "": it is the project's own. */
static const char *import_owner_of(const struct frontend *f, const char *file)
{
	for (uint32_t i = 0; i < f->n_dependencies; i++)
		if (import_is_below(file, f->dependencies[i].root))
			return f->dependencies[i].root;
	return "";
}

/* The dependency that a file imports by the first `len` bytes of `name`, or NULL. */
static const struct frontend_dependency *find_dependency(const struct frontend *f, const char *file, const char *name, size_t len)
{
	const char *owner = import_owner_of(f, file);
	for (uint32_t i = 0; i < f->n_dependencies; i++) {
		const struct frontend_dependency *d = &f->dependencies[i];
		if (!strcmp(d->owner, owner) && strlen(d->name) == len && !memcmp(d->name, name, len))
			return d;
	}
	return NULL;
}

static struct module *report_absent(struct frontend *f, const struct frontend_dependency *dependency, span at, bool *ok)
{
	struct diag *g =
		diag_add(f->diags, DIAG_IMPORT_FILE, at, "the files of the dependency `%s` were not fetched yet", dependency->name);
	diag_help(f->diags, g, "`trib build` fetches them");
	*ok = false;
	return NULL;
}

/* A stranger's file must not show any file of this machine, in a message about its syntax. */
static struct module *report_outside(struct frontend *f, const char *text, span at, bool *ok)
{
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_FILE, at, "`%s` leads out of the dependency", text);
	diag_help(f->diags, g, "an import stays in the repository; a file of another one needs a `dependency` block in tri.build");
	*ok = false;
	return NULL;
}

static struct module *import_file(struct frontend *f, struct module *m, const char *text, span at, bool *ok)
{
	char *path = path_normal(f->arena, path_join(f->arena, path_dir(f->arena, m->path), text));
	size_t len = strcspn(text, "/");
	const struct frontend_dependency *d = text[len] ? find_dependency(f, m->path, text, len) : NULL;
	const char *owner = import_owner_of(f, m->path);
	if (*owner && !import_is_below(path, owner))
		return report_outside(f, text, at, ok);
	if (!d)
		return module_load(f, path, at, true, ok);
	bool quiet_ok = true;
	struct module *beside = module_load(f, path, at, false, &quiet_ok);
	*ok = *ok && quiet_ok;
	if (beside || !quiet_ok)
		return beside;
	if (d->absent)
		return report_absent(f, d, at, ok);
	path = path_normal(f->arena, path_join(f->arena, d->folder, text + len + 1));
	return import_is_below(path, d->root) ? module_load(f, path, at, true, ok) : report_outside(f, text, at, ok);
}

static struct module *import_dependency(struct frontend *f, const struct frontend_dependency *dependency, span at, bool *ok)
{
	if (dependency->main)
		return module_load(f, dependency->main, at, true, ok);
	if (dependency->absent)
		return report_absent(f, dependency, at, ok);
	struct diag *g =
		diag_add(f->diags, DIAG_IMPORT_FILE, at, "the dependency `%s` has no file `%s.tri`", dependency->name, dependency->name);
	diag_label_primary(f->diags, g, "not in `%s` or its folder `src`", dependency->folder);
	diag_help(f->diags, g, "import a file of it by its path: `import \"%s/FILE.tri\" as NAME`", dependency->name);
	*ok = false;
	return NULL;
}

struct module *import_target(struct frontend *f, struct module *m, token_id tok, bool *ok)
{
	const struct tokens *ts = &m->ast.tokens;
	span at = token_span(ts, tok);
	if (token_kind(ts, tok) == TOK_STRING) {
		size_t n;
		return import_file(f, m, literal_string(ts, tok, f->arena, &n), at, ok);
	}
	const char *name = name_text(f, token_name(f, m, tok));
	if (!m->std) {
		const struct frontend_dependency *d = find_dependency(f, m->path, name, strlen(name));
		char *beside =
			path_normal(f->arena, path_join(f->arena, path_dir(f->arena, m->path), arena_printf(f->arena, "%s.tri", name)));
		bool quiet_ok = true;
		struct module *found = module_load(f, beside, at, false, &quiet_ok);
		*ok = *ok && quiet_ok;
		if (found || !quiet_ok)
			return found;
		if (d)
			return import_dependency(f, d, at, ok);
	}
	return module_load(f, arena_printf(f->arena, "std/%s.tri", name), at, true, ok);
}

/* ---- reports ---- */

span import_line(const struct source *s, span import)
{
	uint32_t start = source_line_start(s, import.start), end = import.end;
	while (end < s->len && (s->text[end] == ' ' || s->text[end] == '\t' || s->text[end] == '\r'))
		end++;
	bool alone = start == import.start && (end == s->len || s->text[end] == '\n');
	return alone ? (span){s->id, start, end < s->len ? end + 1 : end} : import;
}

static bool import_is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* The edit that removes `import torch as t`, whose module's name is `at`; none for `from torch import …`. */
static void drop_import(struct frontend *f, struct diag *g, span at)
{
	const struct source *s = sources_get(f->sources, at.source);
	span import = {at.source, source_line_start(s, at.start), at.end};
	if (strncmp(s->text + import.start, "import ", 7) != 0)
		return;
	if (!strncmp(s->text + import.end, " as ", 4))
		for (import.end += 4; import_is_word(s->text[import.end]);)
			import.end++;
	if (s->text[import.end] != ';' && s->text[import.end] != ',')
		diag_edit(f->diags, g, import_line(s, import), "");
}

/* Suggests a module whose name of two letters differs in one: `import nm`. */
static bool short_slip(struct frontend *f, struct diag *g, span at, const char *name, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n && strlen(name) == 2; i++)
		if (strlen(names[i]) == 2 && (names[i][0] == name[0]) != (names[i][1] == name[1])) {
			diag_help(f->diags, g, "did you mean `%s`?", names[i]);
			diag_guess(f->diags, g, at, names[i]);
			return true;
		}
	return false;
}

void import_report_missing(struct frontend *f, const char *path, span at, int why)
{
	if (why && why != ENOENT && why != ENOTDIR) {
		diag_add(f->diags, DIAG_FILE_READ, at, "cannot read `%s`: %s", path, os_read_error(why));
		return;
	}
	bool bare = !strncmp(path, "std/", 4);
	const char *name = bare ? path_stem(f->arena, path) : path, *std_names[16];
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_FILE, at, bare ? "there is no module `%s`" : "there is no file `%s`", name);
	diag_label_primary(f->diags, g, bare ? "neither a file beside this one nor in the standard library" : "not found");
	uint32_t n = frontend_std_names(std_names, 16);
	const char *foreign = bare ? habit_module_help(name) : NULL;
	if (foreign) {
		diag_help(f->diags, g, "%s", foreign);
		if (habit_package(name))
			drop_import(f, g, at);
	} else if (bare && !short_slip(f, g, at, name, std_names, n) && !diag_did_you_mean(f->diags, g, at, name, std_names, n)) {
		struct buf all = {0};
		for (uint32_t i = 0; i < n; i++)
			buf_printf(&all, "%s`%s`", !i ? "" : i + 1 < n ? ", " : " and ", std_names[i]);
		diag_help(f->diags, g, "the standard library's modules are %s; a file is imported as `import \"%s.tri\" as %s`", all.at,
			  name, name);
		buf_free(&all);
	} else if (!bare) {
		diag_help(f->diags, g, "a path is relative to the importing file");
	}
}

#include "builder/manifest/outputs.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/manifest/backends.h"
#include "builder/manifest/build_spec.h"

/* ---- files ---- */

static const struct {
	const char *files, *what;
} emits[] = {
#define EMIT(id, text, backend, files, what) {files, what},
#include "builder/manifest/emits.def"
#undef EMIT
};

/* File k of a row: *end is its end. */
static const char *outputs_find_file(enum emit e, uint32_t k, const char **end)
{
	const char *file = emits[e].files;
	for (; k; k--)
		file += strcspn(file, " ") + 1;
	*end = file + strcspn(file, " ");
	return file;
}

uint32_t emit_files(enum emit e)
{
	uint32_t n = 1;
	for (const char *s = emits[e].files; (s = strchr(s, ' ')); s++)
		n++;
	return n;
}

/* The place of the model's name in file k; NULL: it has none. */
static const char *outputs_find_name(enum emit e, uint32_t k)
{
	const char *end, *file = outputs_find_file(e, k, &end), *name = strstr(file, "%s");
	return name < end ? name : NULL;
}

bool emit_is_shared(enum emit e, uint32_t k) { return !outputs_find_name(e, k); }

const char *emit_what(enum emit e) { return emits[e].what; }

const char *emit_path(struct arena *a, enum emit e, uint32_t k, const struct model_spec *s)
{
	const char *end, *file = outputs_find_file(e, k, &end), *name = outputs_find_name(e, k);
	if (!name)
		return arena_printf(a, "%s/%.*s", s->out, (int)(end - file), file);
	return arena_printf(a, "%s/%.*s%s%.*s", s->out, (int)(name - file), file, s->name, (int)(end - name - 2), name + 2);
}

/* ---- one model for each file ---- */

enum { MOST_PATHS = EMIT_COUNT * EMIT_FILES };

/* Stores the path of each file of each emit; NULL: the model does not write it. */
static void outputs_list(struct arena *a, const struct model_spec *s, const char *paths[MOST_PATHS])
{
	for (uint32_t i = 0; i < MOST_PATHS; i++) {
		enum emit e = i / EMIT_FILES;
		uint32_t k = i % EMIT_FILES;
		paths[i] = s->emit >> e & 1 && k < emit_files(e) ? path_normal(a, emit_path(a, e, k, s)) : NULL;
	}
}

static bool report_overlap(struct diags *diags, const struct model_spec *first, const struct model_spec *second, const char *path)
{
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, second->at, "models `%s` and `%s` write the same file, `%s`", first->name,
				  second->name, path);
	diag_secondary(diags, g, first->at, "the other model");
	diag_help(diags, g, "rename a model, or give it another output folder with `out`");
	return false;
}

static bool report_twice(struct diags *diags, const struct model_spec *s, enum emit a, enum emit b, const char *path)
{
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, s->at, "model `%s` writes `%s` twice: as %s and as %s", s->name, path,
				  emits[a].what, emits[b].what);
	diag_help(diags, g, "remove one of them from `emit`, or rename the model");
	return false;
}

static bool check_pair(struct arena *a, const struct model_spec *x, const struct model_spec *y, struct diags *diags)
{
	const char *of_x[MOST_PATHS], *of_y[MOST_PATHS];
	outputs_list(a, x, of_x);
	outputs_list(a, y, of_y);
	for (uint32_t i = 0; i < MOST_PATHS; i++)
		for (uint32_t k = x == y ? i + 1 : 0; k < MOST_PATHS; k++)
			if (of_x[i] && of_y[k] && strcmp(of_x[i], of_y[k]) == 0 &&
			    (x == y || i != k || !emit_is_shared(i / EMIT_FILES, i % EMIT_FILES)))
				return x == y ? report_twice(diags, x, i / EMIT_FILES, k / EMIT_FILES, of_x[i])
					      : report_overlap(diags, x, y, of_x[i]);
	return true;
}

/* True if the names of two models allow a common output. A quick test, for projects with hundreds of models. */
static bool may_overlap(const struct model_spec *x, const struct model_spec *y)
{
	size_t n = strlen(x->name), m = strlen(y->name);
	return strncmp(x->name, y->name, n < m ? n : m) == 0;
}

bool outputs_check_distinct(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags)
{
	bool ok = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k <= i; k++)
			if (may_overlap(&models[k], &models[i]))
				ok = check_pair(a, &models[k], &models[i], diags) && ok;
	return ok;
}

/* ---- names ---- */

static bool check_name(const struct model_spec *s, const struct backend *b, struct diags *diags)
{
	const char *fault = b->name_fault ? b->name_fault(s->name) : NULL;
	if (!fault)
		return true;
	struct diag *g =
		diag_add(diags, DIAG_MANIFEST_NAME, s->at, "a model with `%s` in `emit` cannot have the name `%s`", b->name, s->name);
	diag_note(diags, g, "%s", fault);
	diag_help(diags, g, "rename the model, or remove `%s` from `emit`", b->name);
	return false;
}

bool outputs_check_names(const struct model_spec *models, uint32_t n, struct diags *diags)
{
	bool ok = true;
	for (uint32_t i = 0; i < n; i++)
		for (enum emit e = 0; e < EMIT_COUNT; e++)
			ok = (!(models[i].emit >> e & 1) || check_name(&models[i], emit_backend(e), diags)) && ok;
	return ok;
}

/* ---- inside the project ---- */

static bool outputs_is_below(const char *full, const char *top)
{
	size_t n = strlen(top);
	return strncmp(full, top, n) == 0 && (full[n] == '/' || !full[n] || n == 1);
}

bool outputs_is_inside(struct arena *a, const char *folder)
{
	char top[PATH_MAX], full[PATH_MAX];
	const char *at = path_normal(a, folder);
	if (!realpath(".", top))
		return true; /* writing fails there, too */
	while (!realpath(at, full)) {
		struct stat st;
		if (lstat(at, &st) == 0 || strcmp(at, ".") == 0 || strcmp(at, "/") == 0)
			return false; /* a link to nothing */
		at = path_dir(a, at);
	}
	return outputs_is_below(full, top);
}

bool outputs_check_inside(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags)
{
	bool ok = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct model_spec *s = &models[i];
		if (s->out_named || outputs_is_inside(a, s->out) || (i && strcmp(models[i - 1].out, s->out) == 0 && !ok))
			continue;
		struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, s->out_at,
					  "the output folder of model `%s`, `%s`, is outside the project", s->name, s->out);
		diag_help(
			diags, g,
			"use `--out %s` on the command line, or allow it in all your projects with `trib config set build.out_outside true`",
			s->out);
		ok = false;
	}
	return ok;
}

bool outputs_remove_link(struct arena *a, const char *path, bool named)
{
	struct stat link, target;
	char full[PATH_MAX];
	if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
		return true;
	bool exists = stat(path, &target) == 0;
	if (named && exists && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode))
		return true;
	if (exists && S_ISREG(target.st_mode) && realpath(path, full) && outputs_is_inside(a, full))
		return true;
	return unlink(path) == 0 || errno == ENOENT;
}

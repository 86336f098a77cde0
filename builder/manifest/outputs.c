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
#include "builder/manifest/build_spec.h"

/* ---- one model for each file ---- */

enum { MAX_OUTPUTS = 8 };

/* Writes the paths of a model's outputs and returns their number. Weights are left out: their names contain a digest. */
static uint32_t list_outputs(struct arena *a, const struct model_spec *s, const char *paths[MAX_OUTPUTS])
{
	uint32_t n = 0;
	const char *out = path_normal(a, s->out);
	if (s->emit >> EMIT_LIBRARY & 1)
		paths[n++] = path_join(a, out, arena_printf(a, "lib%s.so", s->name));
	if (s->emit >> EMIT_HEADER & 1)
		paths[n++] = path_join(a, out, arena_printf(a, "%s.h", s->name));
	if (s->emit >> EMIT_OPENCL & 1)
		paths[n++] = path_join(a, out, arena_printf(a, "lib%s_opencl.so", s->name));
	if (s->emit >> EMIT_LIVE & 1)
		paths[n++] = path_join(a, out, "tri_live.h");
	return n;
}

/* True for tri_live.h, to which every model with `emit = live` writes the same text. */
static bool is_shared(const struct model_spec *a, const struct model_spec *b, const char *path)
{
	return strcmp(path_base(path), "tri_live.h") == 0 && a->emit >> EMIT_LIVE & 1 && b->emit >> EMIT_LIVE & 1 &&
	       strcmp(a->name, "tri_live") != 0 && strcmp(b->name, "tri_live") != 0;
}

static bool report_overlap(struct diags *diags, const struct model_spec *first, const struct model_spec *second, const char *path)
{
	struct diag *g;
	if (first == second) {
		g = diag_add(diags, DIAG_MANIFEST_VALUE, second->at,
			     "model `%s` writes `%s` twice: as its header and as that of `emit = live`", second->name, path);
	} else {
		g = diag_add(diags, DIAG_MANIFEST_VALUE, second->at, "models `%s` and `%s` write the same file, `%s`", first->name,
			     second->name, path);
		diag_secondary(diags, g, first->at, "the other model");
	}
	diag_help(diags, g, "rename a model, or give it another output folder with `out`");
	return false;
}

static bool check_pair(struct arena *a, const struct model_spec *x, const struct model_spec *y, struct diags *diags)
{
	const char *of_x[MAX_OUTPUTS], *of_y[MAX_OUTPUTS];
	uint32_t n = list_outputs(a, x, of_x), m = list_outputs(a, y, of_y);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = x == y ? i + 1 : 0; k < m; k++)
			if (strcmp(of_x[i], of_y[k]) == 0 && (x == y || !is_shared(x, y, of_x[i])))
				return report_overlap(diags, x, y, of_x[i]);
	return true;
}

/* True if the names of two models allow a common output. A quick test, for projects with hundreds of models. */
static bool may_overlap(const struct model_spec *x, const struct model_spec *y)
{
	size_t n = strlen(x->name), m = strlen(y->name);
	return strncmp(x->name, y->name, n < m ? n : m) == 0 || strcmp(x->name, "tri_live") == 0 || strcmp(y->name, "tri_live") == 0;
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

/* ---- inside the project ---- */

static bool is_below(const char *full, const char *top)
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
	return is_below(full, top);
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

/* Breadth first from the project's own blocks to those in the dependencies' manifests. A name means one repository and revision everywhere; what the
 * project says of a name goes over what its dependencies say. */
#include "builder/deps/dependency.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/deps/checkout.h"
#include "builder/manifest/outputs.h"

#define MANIFEST "tri.build"

struct finding {
	const struct dependency_options *r;
	struct arena *a;
	const struct lockfile *lock; /* NULL: there is none */
	VEC(struct dependency) chosen;
	VEC(struct frontend_dependency) visible;
	bool stale; /* the lock file says something else than the manifests */
};

/* ---- what a block asks for ---- */

static bool wrong(struct finding *f, span at, const char *help, const char *what, const char *name)
{
	diag_help(f->r->diags, diag_add(f->r->diags, DIAG_DEPENDENCY, at, what, name), "%s", help);
	return false;
}

static bool check_name(struct finding *f, const struct manifest_block *b)
{
	uint32_t len;
	bool good = isalpha((unsigned char)*b->name) || *b->name == '_';
	for (const char *s = b->name; *s; s++)
		good = good && (isalnum((unsigned char)*s) || *s == '_');
	if (!good)
		return wrong(f, b->at, "sources import it by its name: use letters, digits and `_`",
			     "`%s` cannot be the name of a dependency", b->name);
	if (frontend_std(b->name, &len))
		return wrong(f, b->at, "give the dependency another name; `import` uses that name",
			     "`%s` is a module of the standard library", b->name);
	return true;
}

static bool leaves(const char *path) { return *path == '/' || strncmp(path, "..", 2) == 0; }

/* `base`: the repository whose manifest the block stands in. */
static bool read_block(struct finding *f, const struct manifest_block *b, const char *base, struct dependency *out)
{
	static const enum manifest_key refs[] = {[GIT_REF_REV] = KEY_REV, [GIT_REF_TAG] = KEY_TAG, [GIT_REF_BRANCH] = KEY_BRANCH};
	const struct manifest_value *git = manifest_get(b, KEY_GIT), *path = manifest_get(b, KEY_PATH);
	*out = (struct dependency){.name = b->name, .ref = "", .path = "", .base = base, .at = b->at};
	if (!check_name(f, b))
		return false;
	if (!git) {
		struct diag *g = diag_add(f->r->diags, DIAG_MANIFEST_NEEDS, b->at, "dependency `%s` has no `git`", b->name);
		diag_help(f->r->diags, g, "add a line `git = URL`, or `git = ../FOLDER` for a repository beside this one");
		return false;
	}
	out->git = checkout_join(f->a, base, git->text);
	for (uint32_t k = GIT_REF_REV; k <= GIT_REF_BRANCH; k++) {
		const struct manifest_value *v = manifest_get(b, refs[k]);
		if (v && out->kind != GIT_REF_HEAD)
			return wrong(f, v->key_at, "keep the one that is meant",
				     "dependency `%s` has more than one of `rev`, `tag` and `branch`", b->name);
		if (v) {
			out->kind = (enum git_ref)k;
			out->ref = v->text;
		}
	}
	if (path)
		out->path = path_normal(f->a, path->text);
	if (leaves(out->path))
		return wrong(f, path->at, "`path` names a folder in the repository",
			     "the path of dependency `%s` leads out of its repository", b->name);
	if (strcmp(out->path, ".") == 0)
		out->path = "";
	out->root = path_join(f->a, DEPENDENCY_FOLDER, b->name);
	out->folder = *out->path ? path_join(f->a, out->root, out->path) : out->root;
	return true;
}

static const char *asked(struct finding *f, const struct dependency *d)
{
	return d->kind == GIT_REF_HEAD ? d->git : arena_printf(f->a, "%s, %s %s", d->git, git_ref_text(d->kind), d->ref);
}

static bool same_wish(const struct dependency *a, const struct dependency *b)
{
	return strcmp(a->git, b->git) == 0 && a->kind == b->kind && strcmp(a->ref, b->ref) == 0 && strcmp(a->path, b->path) == 0;
}

/* ---- the lock file ---- */

static bool read_lock(struct finding *f)
{
	const struct source *s = NULL;
	char *text;
	size_t len;
	if (f->r->mode == DEPENDENCY_LINKED)
		return true;
	if (f->r->mode == DEPENDENCY_AT_COMMIT)
		s = f->r->host.load(f->r->host.ctx, LOCK_FILE);
	else if (os_read_file(LOCK_FILE, INT32_MAX, &text, &len)) /* not as an input of the build, which may write it */
		s = sources_take(f->r->sources, LOCK_FILE, text, len);
	f->lock = s ? lockfile_read(f->a, s, f->r->diags) : NULL;
	return f->lock || !s;
}

static bool is_locked(const struct lockfile_entry *e, const struct dependency *d)
{
	return e && strcmp(e->git, d->git) == 0 && e->kind == d->kind && strcmp(e->ref, d->ref) == 0;
}

static bool report_stale(struct finding *f, const struct dependency *d, const struct lockfile_entry *e)
{
	struct diags *diags = f->r->diags;
	struct diag *g =
		e ? diag_add(diags, DIAG_LOCK_STALE, d->at, "dependency `%s` is %s here and another in " LOCK_FILE, d->name, asked(f, d))
		  : diag_add(diags, DIAG_LOCK_STALE, d->at, LOCK_FILE " does not name dependency `%s`", d->name);
	if (e)
		diag_secondary(diags, g, e->at, "locked here");
	diag_help(diags, g, "build without --locked, or `trib update %s`, and commit " LOCK_FILE, d->name);
	return false;
}

static bool is_renewed(const struct finding *f, const char *name)
{
	if (f->r->mode != DEPENDENCY_UPDATE)
		return false;
	for (uint32_t i = 0; i < f->r->n_names; i++)
		if (strcmp(f->r->names[i], name) == 0)
			return true;
	return f->r->n_names == 0;
}

static bool report_fetch(struct finding *f, const struct dependency *d, const char *error)
{
	if (os_interrupted())
		return false;
	struct diag *g = diag_add(f->r->diags, DIAG_FETCH, d->at, "dependency `%s`: %s", d->name, error);
	if (f->r->checkouts->offline)
		diag_help(f->r->diags, g, "once without --offline brings it into the cache");
	else if (f->r->checkouts->help)
		diag_help(f->r->diags, g, "%s", f->r->checkouts->help);
	else
		diag_help(f->r->diags, g,
			  "`git` is a URL or a path from the project's folder; `git ls-remote %s` lists what can be asked for", d->git);
	return false;
}

static bool choose_commit(struct finding *f, struct dependency *d)
{
	const struct lockfile_entry *e = lockfile_find(f->lock, d->name);
	const char *error;
	char commit[41];
	d->old_commit = e ? e->commit : NULL;
	if (is_locked(e, d) && !is_renewed(f, d->name)) {
		d->commit = e->commit;
		return true;
	}
	if (f->r->mode == DEPENDENCY_LOCKED || f->r->mode == DEPENDENCY_AT_COMMIT)
		return report_stale(f, d, e);
	if (!checkout_resolve(f->r->checkouts, d->git, d->kind, d->ref, commit, &error))
		return report_fetch(f, d, error);
	f->stale = f->stale || !is_locked(e, d) || strcmp(commit, e->commit) != 0;
	d->commit = arena_strdup(f->a, commit);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct lockfile_entry *)a)->name, ((const struct lockfile_entry *)b)->name);
}

static bool write_lock(struct finding *f)
{
	struct buf text = {0};
	struct lockfile_entry *list = ARENA_ARRAY(f->a, struct lockfile_entry, f->chosen.len + 1);
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency *d = &f->chosen.at[i];
		list[i] = (struct lockfile_entry){d->name, d->git, d->kind, d->ref, d->commit, SPAN_NONE};
	}
	qsort(list, f->chosen.len, sizeof *list, by_name);
	lockfile_print(list, f->chosen.len, &text);
	bool ok = os_write_if_changed(LOCK_FILE, text.at, text.len, 0666, false);
	os_sweep("."); /* what a killed run left */
	if (!ok)
		diag_add(f->r->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `" LOCK_FILE "`: %s", strerror(errno));
	buf_free(&text);
	return ok;
}

/* What nothing asks for any more goes. */
static bool settle_lock(struct finding *f)
{
	enum dependency_mode mode = f->r->mode;
	for (uint32_t i = 0; f->lock && i < f->lock->n; i++) {
		const struct lockfile_entry *e = &f->lock->entries[i];
		bool used = false;
		for (uint32_t k = 0; k < f->chosen.len && !used; k++)
			used = strcmp(f->chosen.at[k].name, e->name) == 0;
		f->stale = f->stale || !used;
		if (used || mode != DEPENDENCY_LOCKED)
			continue;
		struct diag *g = diag_add(f->r->diags, DIAG_LOCK_STALE, e->at, "no manifest asks for the dependency `%s`", e->name);
		diag_help(f->r->diags, g, "build without --locked and commit " LOCK_FILE);
		return false;
	}
	return !f->stale || (mode != DEPENDENCY_BUILD && mode != DEPENDENCY_UPDATE) || write_lock(f);
}

/* ---- files ---- */

/* A link is replaced at once, so that others always see one. */
static bool link_files(struct finding *f, const struct dependency *d)
{
	char now[4096];
	ssize_t n = readlink(d->root, now, sizeof now - 1);
	if (n >= 0 && (now[n] = 0, strcmp(now, d->files) == 0))
		return true;
	if (!f->r->checkouts->out_outside && !outputs_is_inside(f->a, DEPENDENCY_FOLDER)) {
		struct diag *g =
			diag_add(f->r->diags, DIAG_FILE_WRITE, d->at, "`" DEPENDENCY_FOLDER "` leads out of the project by a link");
		diag_help(f->r->diags, g, "remove the link, or `trib config set build.out_outside true` for all your projects");
		return false;
	}
	const char *fresh = arena_printf(f->a, "%s.%ld.tmp", d->root, (long)getpid());
	unlink(fresh);
	if (os_mkdirs(DEPENDENCY_FOLDER) && symlink(d->files, fresh) == 0 && rename(fresh, d->root) == 0)
		return true;
	diag_add(f->r->diags, DIAG_FILE_WRITE, d->at, "cannot link `%s` to `%s`: %s", d->root, d->files, strerror(errno));
	unlink(fresh);
	return false;
}

static bool bring_files(struct finding *f, struct dependency *d)
{
	const char *error;
	struct stat st;
	if (f->r->mode == DEPENDENCY_LINKED) {
		d->commit = "";
		return true;
	}
	if (!choose_commit(f, d))
		return false;
	d->files = checkout_files(f->r->checkouts, d->git, d->commit, &error);
	if (!d->files)
		return report_fetch(f, d, error);
	if (*d->path && stat(path_join(f->a, d->files, d->path), &st) != 0)
		return report_fetch(f, d, arena_printf(f->a, "commit %s has no folder `%s`", d->commit, d->path));
	if (f->r->found)
		f->r->found(f->r->ctx, d);
	return f->r->mode == DEPENDENCY_AT_COMMIT || link_files(f, d);
}

static bool is_file(struct finding *f, const char *path) { return f->r->host.load(f->r->host.ctx, path) != NULL; }

/* NAME.tri or src/NAME.tri, by its own name or by the one that it calls itself. */
static const char *find_main(struct finding *f, const struct dependency *d)
{
	const struct manifest_block *project = d->manifest ? manifest_find(d->manifest, BLOCK_PROJECT, NULL) : NULL;
	const char *names[] = {d->name, project ? project->name : d->name};
	for (uint32_t i = 0; i < 2; i++) {
		const char *file = arena_printf(f->a, "%s/%s.tri", d->folder, names[i]),
			   *below = arena_printf(f->a, "%s/src/%s.tri", d->folder, names[i]);
		if (is_file(f, file))
			return file;
		if (is_file(f, below))
			return below;
	}
	return NULL;
}

/* ---- the walk ---- */

static void make_visible(struct finding *f, const char *owner, const struct dependency *d, const char *main)
{
	struct stat st;
	bool absent = f->r->mode == DEPENDENCY_LINKED && stat(path_join(f->a, f->r->top, d->folder), &st) != 0;
	struct frontend_dependency v = {owner, d->name, d->root, d->folder, main, absent};
	vec_push(&f->visible, v);
}

static const char *main_of(const struct finding *f, const char *name)
{
	for (uint32_t i = 0; i < f->visible.len; i++)
		if (strcmp(f->visible.at[i].name, name) == 0)
			return f->visible.at[i].main;
	return NULL;
}

static bool report_conflict(struct finding *f, const struct dependency *d, const struct dependency *other)
{
	struct diag *g = diag_add(f->r->diags, DIAG_DEPENDENCY, d->at, "two dependencies are called `%s`: %s here, and %s", d->name,
				  asked(f, d), asked(f, other));
	diag_secondary(f->r->diags, g, other->at, "the other one");
	diag_help(f->r->diags, g, "a block `dependency %s` in the project's own " MANIFEST " decides for both", d->name);
	return false;
}

static bool add(struct finding *f, struct dependency *d, const char *owner)
{
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency *other = &f->chosen.at[i];
		if (strcmp(other->name, d->name) != 0)
			continue;
		if (*other->base && !same_wish(d, other))
			return report_conflict(f, d, other);
		make_visible(f, owner, other, main_of(f, d->name));
		return true;
	}
	if (checkout_is_remote(d->base) && !checkout_is_remote(d->git))
		return wrong(
			f, d->at,
			"a repository elsewhere does not decide which files of this machine are read; a block of that name in the project's own " MANIFEST
			" may",
			"the address of dependency `%s` is on this machine, and the repository that names it is not", d->name);
	if (!bring_files(f, d))
		return false;
	const char *manifest = path_join(f->a, d->folder, MANIFEST);
	d->manifest = is_file(f, manifest) ? manifest_read(f->a, f->r->host, manifest, f->r->diags) : NULL;
	vec_push(&f->chosen, *d);
	make_visible(f, owner, d, find_main(f, d));
	return true;
}

/* All blocks of a manifest before those of what they name. */
static bool add_blocks(struct finding *f, const struct manifest *m, const char *owner, const char *base)
{
	bool ok = true;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		struct dependency d;
		if (m->blocks[i].kind == BLOCK_DEPENDENCY)
			ok = read_block(f, &m->blocks[i], base, &d) && add(f, &d, owner) && ok;
	}
	return ok;
}

static bool walk(struct finding *f)
{
	bool ok = add_blocks(f, f->r->manifest, "", "");
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency d = f->chosen.at[i]; /* a copy: the list grows */
		ok = (!d.manifest || add_blocks(f, d.manifest, d.root, d.git)) && ok;
	}
	return ok;
}

bool dependencies_resolve(const struct dependency_options *r, struct dependencies *out)
{
	struct finding f = {.r = r, .a = r->arena};
	*out = (struct dependencies){0};
	if (!manifest_find(r->manifest, BLOCK_DEPENDENCY, NULL))
		return true;
	uint32_t before = diags_errors(r->diags);
	bool ok = read_lock(&f) && walk(&f) && diags_errors(r->diags) == before && settle_lock(&f);
	struct dependency *at = ARENA_ARRAY(r->arena, struct dependency, f.chosen.len + 1);
	struct frontend_dependency *visible = ARENA_ARRAY(r->arena, struct frontend_dependency, f.visible.len + 1);
	for (uint32_t i = 0; i < f.chosen.len; i++)
		at[i] = f.chosen.at[i];
	for (uint32_t i = 0; i < f.visible.len; i++)
		visible[i] = f.visible.at[i];
	*out = (struct dependencies){visible, f.visible.len, at, f.chosen.len};
	vec_free(&f.chosen);
	vec_free(&f.visible);
	return ok;
}

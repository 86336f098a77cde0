/* Visits the project's own blocks first, then breadth first those in the dependencies' manifests. A name means one repository and
 * revision everywhere; a block of the project overrides those of its dependencies. */
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

struct resolver {
	const struct dependency_options *o;
	struct arena *a;
	const struct lockfile *lock; /* or NULL */
	VEC(struct dependency) chosen;
	VEC(struct frontend_dependency) visible;
	bool stale; /* the lock file differs from the manifests */
};

/* ---- blocks ---- */

static bool report_block(struct resolver *f, span at, const char *help, const char *what, const char *name)
{
	diag_help(f->o->diags, diag_add(f->o->diags, DIAG_DEPENDENCY, at, what, name), "%s", help);
	return false;
}

static bool dependency_check_name(struct resolver *f, const struct manifest_block *b)
{
	uint32_t len;
	bool good = isalpha((unsigned char)*b->name) || *b->name == '_';
	for (const char *s = b->name; *s; s++)
		good = good && (isalnum((unsigned char)*s) || *s == '_');
	if (!good)
		return report_block(f, b->at, "sources import the dependency by its name: use letters, digits and `_`",
				    "`%s` cannot be the name of a dependency", b->name);
	if (frontend_std(b->name, &len))
		return report_block(f, b->at, "rename the dependency", "dependency `%s` has the name of a standard-library module",
				    b->name);
	return true;
}

static bool leads_outside(const char *path) { return *path == '/' || strncmp(path, "..", 2) == 0; }

/* `base`: the repository whose manifest has the block. */
static bool read_block(struct resolver *f, const struct manifest_block *b, const char *base, struct dependency *out)
{
	static const enum manifest_key refs[] = {[GIT_REF_REV] = KEY_REV, [GIT_REF_TAG] = KEY_TAG, [GIT_REF_BRANCH] = KEY_BRANCH};
	const struct manifest_value *git = manifest_get(b, KEY_GIT), *path = manifest_get(b, KEY_PATH);
	*out = (struct dependency){.name = b->name, .source.ref = "", .path = "", .base = base, .at = b->at};
	if (!dependency_check_name(f, b))
		return false;
	if (!git) {
		struct diag *g = diag_add(f->o->diags, DIAG_MANIFEST_NEEDS, b->at, "dependency `%s` has no `git`", b->name);
		diag_help(f->o->diags, g, "add `git = URL`, or `git = ../FOLDER` for a repository on this machine");
		return false;
	}
	out->source.git = address_join(f->a, base, git->text);
	for (uint32_t k = GIT_REF_REV; k <= GIT_REF_BRANCH; k++) {
		const struct manifest_value *v = manifest_get(b, refs[k]);
		if (v && out->source.kind != GIT_REF_HEAD)
			return report_block(f, v->key_at, "keep one of them",
					    "dependency `%s` has more than one of `rev`, `tag` and `branch`", b->name);
		if (v) {
			out->source.kind = (enum git_ref)k;
			out->source.ref = v->text;
		}
	}
	if (path)
		out->path = path_normal(f->a, path->text);
	if (leads_outside(out->path))
		return report_block(f, path->at, "`path` must name a folder inside the repository",
				    "`path` of dependency `%s` leads out of its repository", b->name);
	if (strcmp(out->path, ".") == 0)
		out->path = "";
	out->root = path_join(f->a, DEPENDENCY_FOLDER, b->name);
	out->folder = *out->path ? path_join(f->a, out->root, out->path) : out->root;
	return true;
}

static const char *dependency_source_text(struct resolver *f, const struct git_source *source)
{
	return source->kind == GIT_REF_HEAD ? source->git
					    : arena_printf(f->a, "%s, %s %s", source->git, git_ref_text(source->kind), source->ref);
}

/* ---- the lock file ---- */

static bool read_lock(struct resolver *f)
{
	const struct source *s = NULL;
	char *text;
	size_t len;
	if (f->o->mode == DEPENDENCY_LINKED)
		return true;
	if (f->o->mode == DEPENDENCY_AT_COMMIT)
		s = f->o->host.load(f->o->host.ctx, LOCK_FILE);
	else if (os_read_file(LOCK_FILE, INT32_MAX, &text, &len)) /* read here, not as an input of the build, which may write it */
		s = sources_add_owned(f->o->sources, LOCK_FILE, text, len);
	f->lock = s ? lockfile_read(f->a, s, f->o->diags) : NULL;
	return f->lock || !s;
}

static bool is_locked(const struct lockfile_entry *entry, const struct dependency *d)
{
	return entry && git_source_equal(&entry->source, &d->source);
}

static bool report_stale(struct resolver *f, const struct dependency *d, const struct lockfile_entry *entry)
{
	struct diags *diags = f->o->diags;
	struct diag *g = entry ? diag_add(diags, DIAG_LOCK_STALE, d->at, "dependency `%s` is %s here, but %s in " LOCK_FILE, d->name,
					  dependency_source_text(f, &d->source), dependency_source_text(f, &entry->source))
			       : diag_add(diags, DIAG_LOCK_STALE, d->at, LOCK_FILE " does not name dependency `%s`", d->name);
	if (entry)
		diag_secondary(diags, g, entry->at, "locked here");
	diag_help(diags, g, "build without --locked or run `trib update %s`, then commit " LOCK_FILE, d->name);
	return false;
}

static bool is_to_update(const struct resolver *f, const char *name)
{
	if (f->o->mode != DEPENDENCY_UPDATE)
		return false;
	for (uint32_t i = 0; i < f->o->n_names; i++)
		if (strcmp(f->o->names[i], name) == 0)
			return true;
	return f->o->n_names == 0;
}

static bool report_fetch(struct resolver *f, const struct dependency *d, const char *error)
{
	if (os_interrupted())
		return false;
	struct diag *g = diag_add(f->o->diags, DIAG_FETCH, d->at, "dependency `%s`: %s", d->name, error);
	if (f->o->checkouts->offline)
		diag_help(f->o->diags, g, "build once without --offline to fetch it into the cache");
	else if (f->o->checkouts->help)
		diag_help(f->o->diags, g, "%s", f->o->checkouts->help);
	else
		diag_help(f->o->diags, g,
			  "`git` must be a URL or a path from the project's folder; `git ls-remote %s` lists the references",
			  d->source.git);
	return false;
}

static bool choose_commit(struct resolver *f, struct dependency *d)
{
	const struct lockfile_entry *e = lockfile_find(f->lock, d->name);
	const char *error;
	char commit[41];
	d->old_commit = e ? e->commit : NULL;
	if (is_locked(e, d) && !is_to_update(f, d->name)) {
		d->commit = e->commit;
		return true;
	}
	if (f->o->mode == DEPENDENCY_LOCKED || f->o->mode == DEPENDENCY_AT_COMMIT)
		return report_stale(f, d, e);
	if (!checkout_resolve(f->o->checkouts, &d->source, commit, &error))
		return report_fetch(f, d, error);
	f->stale = f->stale || !is_locked(e, d) || strcmp(commit, e->commit) != 0;
	d->commit = arena_strdup(f->a, commit);
	return true;
}

static int dependency_by_name(const void *a, const void *b)
{
	return strcmp(((const struct lockfile_entry *)a)->name, ((const struct lockfile_entry *)b)->name);
}

static bool write_lock(struct resolver *f)
{
	struct buf text = {0};
	struct lockfile_entry *list = ARENA_ARRAY(f->a, struct lockfile_entry, f->chosen.len + 1);
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency *d = &f->chosen.at[i];
		list[i] = (struct lockfile_entry){d->name, d->source, d->commit, SPAN_NONE};
	}
	qsort(list, f->chosen.len, sizeof *list, dependency_by_name);
	lockfile_print(list, f->chosen.len, &text);
	bool ok = os_write_if_changed(LOCK_FILE, text.at, text.len, 0666, false);
	os_remove_temporaries("."); /* temporary files of killed processes */
	if (!ok)
		diag_add(f->o->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `" LOCK_FILE "`: %s", strerror(errno));
	buf_free(&text);
	return ok;
}

/* Drops entries that no manifest names, and writes the file if it changed. */
static bool update_lock(struct resolver *f)
{
	enum dependency_mode mode = f->o->mode;
	for (uint32_t i = 0; f->lock && i < f->lock->n; i++) {
		const struct lockfile_entry *e = &f->lock->entries[i];
		bool used = false;
		for (uint32_t k = 0; k < f->chosen.len && !used; k++)
			used = strcmp(f->chosen.at[k].name, e->name) == 0;
		f->stale = f->stale || !used;
		if (used || mode != DEPENDENCY_LOCKED)
			continue;
		struct diag *g = diag_add(f->o->diags, DIAG_LOCK_STALE, e->at, "no manifest names the dependency `%s`", e->name);
		diag_help(f->o->diags, g, "build without --locked and commit " LOCK_FILE);
		return false;
	}
	return !f->stale || (mode != DEPENDENCY_BUILD && mode != DEPENDENCY_UPDATE) || write_lock(f);
}

/* ---- files ---- */

/* Replaces a link in one step, so that other processes always see one. */
static bool link_files(struct resolver *f, const struct dependency *d)
{
	char target[4096];
	ssize_t n = readlink(d->root, target, sizeof target - 1);
	if (n >= 0 && (target[n] = 0, strcmp(target, d->files) == 0))
		return true;
	if (!f->o->checkouts->out_outside && !outputs_is_inside(f->a, DEPENDENCY_FOLDER)) {
		struct diag *g = diag_add(f->o->diags, DIAG_FILE_WRITE, d->at,
					  "`" DEPENDENCY_FOLDER "` is outside the project: it is a link, or below one");
		diag_help(f->o->diags, g,
			  "remove the link, or allow it in all your projects with `trib config set build.out_outside true`");
		return false;
	}
	const char *fresh = arena_printf(f->a, "%s.%ld.tmp", d->root, (long)getpid());
	unlink(fresh);
	if (os_mkdirs(DEPENDENCY_FOLDER) && symlink(d->files, fresh) == 0 && rename(fresh, d->root) == 0)
		return true;
	diag_add(f->o->diags, DIAG_FILE_WRITE, d->at, "cannot link `%s` to `%s`: %s", d->root, d->files, strerror(errno));
	unlink(fresh);
	return false;
}

static bool check_out_files(struct resolver *f, struct dependency *d)
{
	const char *error;
	struct stat st;
	if (f->o->mode == DEPENDENCY_LINKED) {
		d->commit = "";
		return true;
	}
	if (!choose_commit(f, d))
		return false;
	d->files = checkout_files(f->o->checkouts, d->source.git, d->commit, &error);
	if (!d->files)
		return report_fetch(f, d, error);
	if (*d->path && stat(path_join(f->a, d->files, d->path), &st) != 0)
		return report_fetch(f, d, arena_printf(f->a, "commit %s has no folder `%s`", d->commit, d->path));
	if (f->o->found)
		f->o->found(f->o->ctx, d);
	return f->o->mode == DEPENDENCY_AT_COMMIT || link_files(f, d);
}

static bool dependency_is_file(struct resolver *f, const char *path) { return f->o->host.load(f->o->host.ctx, path) != NULL; }

/* Returns NAME.tri or src/NAME.tri, by the name of the block or of its own project; NULL: it has none. */
static const char *find_main(struct resolver *f, const struct dependency *d)
{
	const struct manifest_block *project = d->manifest ? manifest_find(d->manifest, BLOCK_PROJECT, NULL) : NULL;
	const char *names[] = {d->name, project ? project->name : d->name};
	for (uint32_t i = 0; i < 2; i++) {
		const char *file = arena_printf(f->a, "%s/%s.tri", d->folder, names[i]),
			   *below = arena_printf(f->a, "%s/src/%s.tri", d->folder, names[i]);
		if (dependency_is_file(f, file))
			return file;
		if (dependency_is_file(f, below))
			return below;
	}
	return NULL;
}

/* ---- all manifests ---- */

static void make_visible(struct resolver *f, const char *owner, const struct dependency *d, const char *main)
{
	struct stat st;
	bool absent = f->o->mode == DEPENDENCY_LINKED && stat(path_join(f->a, f->o->top, d->folder), &st) != 0;
	struct frontend_dependency v = {owner, d->name, d->root, d->folder, main, absent};
	vec_push(&f->visible, v);
}

static const char *main_of(const struct resolver *f, const char *name)
{
	for (uint32_t i = 0; i < f->visible.len; i++)
		if (strcmp(f->visible.at[i].name, name) == 0)
			return f->visible.at[i].main;
	return NULL;
}

static bool report_conflict(struct resolver *f, const struct dependency *d, const struct dependency *other)
{
	struct diag *g = diag_add(f->o->diags, DIAG_DEPENDENCY, d->at, "two dependencies are called `%s`: %s here, and %s", d->name,
				  dependency_source_text(f, &d->source), dependency_source_text(f, &other->source));
	diag_secondary(f->o->diags, g, other->at, "the other one");
	diag_help(f->o->diags, g, "add a block `dependency %s` to the project's own " MANIFEST "; it overrides both", d->name);
	return false;
}

struct confined_host {
	struct frontend_host host;
	const char *root;
};

/* Loads a file of the dependency alone: a manifest may include any path. */
static const struct source *load_below(void *ctx, const char *path)
{
	const struct confined_host *c = ctx;
	size_t n = strlen(c->root);
	return strncmp(path, c->root, n) == 0 && path[n] == '/' ? c->host.load(c->host.ctx, path) : NULL;
}

static const struct manifest *dependency_read_manifest(struct resolver *f, const struct dependency *d)
{
	struct confined_host c = {f->o->host, d->root};
	const char *path = path_join(f->a, d->folder, MANIFEST);
	return dependency_is_file(f, path) ? manifest_read(f->a, (struct frontend_host){load_below, &c}, path, f->o->diags) : NULL;
}

static bool dependency_add(struct resolver *f, struct dependency *d, const char *owner)
{
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency *other = &f->chosen.at[i];
		if (strcmp(other->name, d->name) != 0)
			continue;
		if (*other->base && !(git_source_equal(&d->source, &other->source) && strcmp(d->path, other->path) == 0))
			return report_conflict(f, d, other);
		make_visible(f, owner, other, main_of(f, d->name));
		return true;
	}
	if (address_is_remote(d->base) && !address_is_remote(d->source.git))
		return report_block(f, d->at, "add a block of that name to the project's own " MANIFEST,
				    "dependency `%s` has a local address, but the repository that names it is remote", d->name);
	if (!check_out_files(f, d))
		return false;
	d->manifest = dependency_read_manifest(f, d);
	vec_push(&f->chosen, *d);
	make_visible(f, owner, d, find_main(f, d));
	return true;
}

static bool add_blocks(struct resolver *f, const struct manifest *m, const char *owner, const char *base)
{
	bool ok = true;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		struct dependency d;
		if (m->blocks[i].kind == BLOCK_DEPENDENCY)
			ok = read_block(f, &m->blocks[i], base, &d) && dependency_add(f, &d, owner) && ok;
	}
	return ok;
}

static bool visit_manifests(struct resolver *f)
{
	bool ok = add_blocks(f, f->o->manifest, "", "");
	for (uint32_t i = 0; i < f->chosen.len; i++) {
		const struct dependency d = f->chosen.at[i]; /* a copy: the list grows */
		ok = (!d.manifest || add_blocks(f, d.manifest, d.root, d.source.git)) && ok;
	}
	return ok;
}

bool dependencies_resolve(const struct dependency_options *o, struct dependencies *out)
{
	struct resolver f = {.o = o, .a = o->arena};
	*out = (struct dependencies){0};
	if (!manifest_find(o->manifest, BLOCK_DEPENDENCY, NULL))
		return true;
	uint32_t before = diags_errors(o->diags);
	bool ok = read_lock(&f) && visit_manifests(&f) && diags_errors(o->diags) == before && update_lock(&f);
	struct dependency *at = ARENA_ARRAY(o->arena, struct dependency, f.chosen.len + 1);
	struct frontend_dependency *visible = ARENA_ARRAY(o->arena, struct frontend_dependency, f.visible.len + 1);
	for (uint32_t i = 0; i < f.chosen.len; i++)
		at[i] = f.chosen.at[i];
	for (uint32_t i = 0; i < f.visible.len; i++)
		visible[i] = f.visible.at[i];
	*out = (struct dependencies){visible, f.visible.len, at, f.chosen.len};
	vec_free(&f.chosen);
	vec_free(&f.visible);
	return ok;
}

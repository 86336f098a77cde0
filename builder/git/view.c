/* The files of a commit. Follows paths through submodules, symbolic links and `..`, which libgit2 does not. */
#include "builder/git/module.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINKS = 16 };

/* A repository and the tree of one of its commits: of the project or of a submodule. */
struct view_repo {
	char *at; /* its path from the top of the work tree: "" or "libs/blocks/" */
	git_repository *repo;
	git_tree *tree; /* NULL: the submodule or its commit is missing */
	struct view_repo *next;
};
struct git_view {
	struct view_repo *repos; /* the last is the project's */
	char *folder;            /* of the view, from the top of the work tree: "" or "sub/dir" */
	char *top;               /* of the work tree, as realpath gives it */
	char *missing;
};

/* ---- paths ---- */

/* Writes dir/path without `.` and `..`, from the top of the work tree. False: it leads out of the work tree or is too long. */
static bool normalize(const struct git_view *v, const char *dir, const char *path, char out[PATH_MAX])
{
	char all[PATH_MAX];
	size_t top = strlen(v->top), len = 0;
	if (*path == '/' && (strncmp(path, v->top, top) != 0 || path[top] != '/'))
		return false;
	int n = *path == '/' ? snprintf(all, sizeof all, "%s", path + top + 1) : snprintf(all, sizeof all, "%s/%s", dir, path);
	if (n < 0 || (size_t)n >= sizeof all)
		return false;
	out[0] = 0;
	for (const char *s = all; *s;) {
		size_t part = strcspn(s, "/");
		if (part == 2 && s[0] == '.' && s[1] == '.') {
			if (!len)
				return false;
			while (len && out[--len] != '/')
				continue;
		} else if (part && !(part == 1 && *s == '.')) {
			if (len)
				out[len++] = '/';
			memcpy(out + len, s, part);
			len += part;
		}
		out[len] = 0;
		s += part + (s[part] == '/');
	}
	return true;
}

/* ---- submodules ---- */

static void note_missing(struct git_view *v, const char *at)
{
	if (!v->missing)
		v->missing = strdup(at);
}

static struct view_repo *open_submodule(struct git_view *v, const char *at, const git_oid *commit)
{
	char dir[PATH_MAX];
	struct view_repo *p;
	git_commit *c = NULL;
	for (p = v->repos; p; p = p->next)
		if (strcmp(p->at, at) == 0)
			return p;
	p = calloc(1, sizeof *p);
	if (!p || !(p->at = strdup(at)))
		abort();
	p->next = v->repos;
	v->repos = p;
	int n = snprintf(dir, sizeof dir, "%s/%s", v->top, at);
	bool ok = n > 0 && (size_t)n < sizeof dir && git_repository_open_ext(&p->repo, dir, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0 &&
		  git_commit_lookup(&c, p->repo, commit) == 0 && git_commit_tree(&p->tree, c) == 0;
	git_commit_free(c);
	if (!ok)
		note_missing(v, at);
	return p;
}

static const struct view_repo *project_repository(const struct git_view *v)
{
	const struct view_repo *p = v->repos;
	while (p->next)
		p = p->next;
	return p;
}

/* ---- lookup ---- */

struct lookup {
	const struct view_repo *repo;
	git_tree_entry *entry; /* NULL: the top of the repository's tree */
	char path[PATH_MAX];   /* from the top of the work tree, links followed */
};

/* Writes the target of a link and `rest`, as a path from the top of the work tree. */
static bool follow_link(const struct git_view *v, const struct view_repo *p, const git_tree_entry *link, const char *at, const char *rest,
			char out[PATH_MAX])
{
	char dir[PATH_MAX], target[PATH_MAX];
	git_blob *blob = NULL;
	if (git_blob_lookup(&blob, p->repo, git_tree_entry_id(link)) != 0)
		return false;
	int n = snprintf(target, sizeof target, "%.*s%s%s", (int)git_blob_rawsize(blob), (const char *)git_blob_rawcontent(blob),
			 *rest ? "/" : "", rest);
	git_blob_free(blob);
	const char *slash = strrchr(at, '/');
	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - at) : 0, at);
	return n > 0 && (size_t)n < sizeof target && normalize(v, dir, target, out);
}

static bool view_look_up(struct git_view *v, const char *path, struct lookup *out, int links);

static void free_entry(struct lookup *l)
{
	git_tree_entry_free(l->entry);
	l->entry = NULL;
}

/* Looks up the first `len` bytes of out->path; follows links and enters submodules. *stop: the lookup is complete. */
static bool look_up_step(struct git_view *v, struct lookup *out, size_t len, int links, bool *stop)
{
	char at[PATH_MAX], rest[PATH_MAX], target[PATH_MAX];
	const struct view_repo *p = out->repo;
	*stop = true;
	snprintf(at, sizeof at, "%.*s", (int)len, out->path);
	snprintf(rest, sizeof rest, "%s", out->path[len] ? out->path + len + 1 : "");
	if (!p->tree || git_tree_entry_bypath(&out->entry, p->tree, at + strlen(p->at)) != 0)
		return false;
	if (git_tree_entry_filemode(out->entry) == GIT_FILEMODE_LINK) {
		bool ok = follow_link(v, p, out->entry, at, rest, target);
		free_entry(out);
		return ok && links < MAX_LINKS && view_look_up(v, target, out, links + 1);
	}
	if (git_tree_entry_type(out->entry) == GIT_OBJECT_COMMIT) {
		strncat(at, "/", sizeof at - strlen(at) - 1);
		out->repo = open_submodule(v, at, git_tree_entry_id(out->entry));
		free_entry(out);
		*stop = false;
		return out->repo->tree != NULL;
	}
	*stop = !*rest;
	if (*rest)
		free_entry(out);
	return true;
}

static bool view_look_up(struct git_view *v, const char *path, struct lookup *out, int links)
{
	*out = (struct lookup){.repo = project_repository(v)};
	snprintf(out->path, sizeof out->path, "%s", path);
	size_t len = 0;
	bool stop = false;
	while (out->path[len]) {
		len += strcspn(out->path + len, "/");
		if (!look_up_step(v, out, len, links, &stop))
			return false;
		if (stop)
			return true;
		len += out->path[len] == '/';
	}
	return true;
}

static bool view_find_file(struct git_view *v, const char *path, struct lookup *out)
{
	char full[PATH_MAX];
	if (!normalize(v, v->folder, path, full) || !view_look_up(v, full, out, 0))
		return false;
	if (out->entry && git_tree_entry_type(out->entry) == GIT_OBJECT_BLOB)
		return true;
	git_tree_entry_free(out->entry);
	return false;
}

bool git_view_has(struct git_view *v, const char *path)
{
	struct lookup f;
	if (!view_find_file(v, path, &f))
		return false;
	git_tree_entry_free(f.entry);
	return true;
}

bool git_view_read(struct git_view *v, const char *path, char **text, size_t *len)
{
	struct lookup f;
	git_blob *blob = NULL;
	if (!view_find_file(v, path, &f))
		return false;
	bool ok = git_blob_lookup(&blob, f.repo->repo, git_tree_entry_id(f.entry)) == 0;
	git_tree_entry_free(f.entry);
	if (!ok)
		return false;
	*len = (size_t)git_blob_rawsize(blob);
	*text = malloc(*len + 1);
	if (!*text)
		abort();
	memcpy(*text, git_blob_rawcontent(blob), *len);
	(*text)[*len] = 0;
	git_blob_free(blob);
	return true;
}

bool git_view_matches_disk(struct git_view *v, const char *path)
{
	struct lookup f;
	git_oid disk;
	char full[PATH_MAX];
	if (!view_find_file(v, path, &f))
		return false;
	/* with the path, so that line-end and other filters apply as `git add` would */
	const char *inner = f.path + strlen(f.repo->at);
	int n = snprintf(full, sizeof full, "%s/%s", v->top, f.path);
	bool same = n > 0 && (size_t)n < sizeof full && git_repository_hashfile(&disk, f.repo->repo, full, GIT_OBJECT_BLOB, inner) == 0 &&
		    git_oid_equal(&disk, git_tree_entry_id(f.entry));
	git_tree_entry_free(f.entry);
	return same;
}

/* ---- listing ---- */

struct listing {
	struct git_view *v;
	git_file_visitor *visit;
	void *ctx;
};

static void view_list(const struct listing *l, const struct view_repo *p, const git_tree *tree, const char *inner, const char *shown,
		      int depth);

static void list_entry(const struct listing *l, const struct view_repo *p, const git_tree_entry *e, const char *inner, const char *shown,
		       int depth)
{
	git_object *below = NULL;
	char at[PATH_MAX];
	switch (git_tree_entry_type(e)) {
	case GIT_OBJECT_BLOB: l->visit(l->ctx, shown); return;
	case GIT_OBJECT_TREE:
		if (git_tree_entry_to_object(&below, p->repo, e) == 0)
			view_list(l, p, (git_tree *)below, inner, shown, depth + 1);
		git_object_free(below);
		return;
	case GIT_OBJECT_COMMIT: {
		int n = snprintf(at, sizeof at, "%s/", inner);
		const struct view_repo *sub = n > 0 && (size_t)n < sizeof at ? open_submodule(l->v, at, git_tree_entry_id(e)) : NULL;
		if (sub && sub->tree)
			view_list(l, sub, sub->tree, inner, shown, depth + 1);
		return;
	}
	default: return;
	}
}

/* inner: the tree's path from the top of the work tree; shown: the path that the visitor gets. */
static void view_list(const struct listing *l, const struct view_repo *p, const git_tree *tree, const char *inner, const char *shown,
		      int depth)
{
	char a[PATH_MAX], b[PATH_MAX];
	for (size_t i = 0; depth < 256 && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		int n = snprintf(a, sizeof a, "%s%s%s", inner, *inner ? "/" : "", git_tree_entry_name(e));
		int m = snprintf(b, sizeof b, "%s%s%s", shown, *shown && shown[strlen(shown) - 1] != '/' ? "/" : "",
				 git_tree_entry_name(e));
		if (n > 0 && m > 0 && (size_t)n < sizeof a && (size_t)m < sizeof b)
			list_entry(l, p, e, a, b, depth);
	}
}

void git_view_files(struct git_view *v, const char *folder, git_file_visitor *visit, void *ctx)
{
	struct lookup f;
	char full[PATH_MAX];
	git_object *tree = NULL;
	const struct listing l = {v, visit, ctx};
	if (!normalize(v, v->folder, folder, full) || !view_look_up(v, full, &f, 0))
		return;
	if (!f.entry)
		view_list(&l, f.repo, f.repo->tree, f.path, folder, 0);
	else if (git_tree_entry_type(f.entry) == GIT_OBJECT_TREE && git_tree_entry_to_object(&tree, f.repo->repo, f.entry) == 0)
		view_list(&l, f.repo, (git_tree *)tree, f.path, folder, 0);
	git_object_free(tree);
	git_tree_entry_free(f.entry);
}

/* ---- opening ---- */

const char *git_view_missing_submodule(const struct git_view *v) { return v->missing; }

void git_view_close(struct git_view *v)
{
	if (!v)
		return;
	for (struct view_repo *p = v->repos, *next; p; p = next) {
		next = p->next;
		git_tree_free(p->tree);
		git_repository_free(p->repo);
		free(p->at);
		free(p);
	}
	free(v->folder);
	free(v->top);
	free(v->missing);
	free(v);
	git_libgit2_shutdown();
}

/* Finds the path of `dir` in the work tree. */
static bool locate_folder(struct git_view *v, const char *dir, git_repository *repo, struct git_failure *error)
{
	const char *work = git_repository_workdir(repo);
	char *full = realpath(dir, NULL);
	v->top = work ? realpath(work, NULL) : NULL;
	size_t n = v->top ? strlen(v->top) : 0;
	if (v->top && full && strncmp(full, v->top, n) == 0 && (full[n] == '/' || !full[n]))
		v->folder = strdup(full[n] ? full + n + 1 : "");
	free(full);
	if (v->folder)
		return true;
	snprintf(error->text, sizeof error->text, "%s", git_repository_path(repo));
	error->problem = GIT_PROBLEM_BARE;
	return false;
}

static bool commit_of(git_repository *repo, const char *rev, git_oid *id)
{
	git_object *object = NULL, *c = NULL;
	bool ok = git_revparse_single(&object, repo, rev) == 0 && git_object_peel(&c, object, GIT_OBJECT_COMMIT) == 0;
	if (ok)
		git_oid_cpy(id, git_object_id(c));
	git_object_free(object);
	git_object_free(c);
	return ok;
}

/* `A...B` is the merge base, as in git diff. */
static bool find_commit(git_repository *repo, const char *rev, git_oid *id)
{
	const char *dots = strstr(rev, "...");
	char one[1024];
	git_oid a, b;
	if (!dots)
		return commit_of(repo, rev, id);
	if ((size_t)snprintf(one, sizeof one, "%.*s", (int)(dots - rev), rev) >= sizeof one)
		return false;
	return commit_of(repo, *one ? one : "HEAD", &a) && commit_of(repo, dots[3] ? dots + 3 : "HEAD", &b) &&
	       git_merge_base(id, repo, &a, &b) == 0;
}

static bool open_commit(struct view_repo *p, const char *rev, char commit[41], struct git_failure *error)
{
	git_oid id;
	git_commit *c = NULL;
	bool ok = find_commit(p->repo, rev, &id) && git_commit_lookup(&c, p->repo, &id) == 0 && git_commit_tree(&p->tree, c) == 0;
	if (ok)
		git_oid_tostr(commit, 41, &id);
	else
		git_fail(error, git_repository_is_shallow(p->repo) ? GIT_PROBLEM_SHALLOW : GIT_PROBLEM_REVISION);
	git_commit_free(c);
	return ok;
}

struct git_view *git_view_open(const char *dir, const char *rev, char commit[41], struct git_failure *error)
{
	struct git_view *v = calloc(1, sizeof *v);
	struct view_repo *p = calloc(1, sizeof *p);
	if (!v || !p || !(p->at = strdup("")))
		abort();
	v->repos = p;
	git_libgit2_init();
	bool ok = git_repository_open_ext(&p->repo, dir, 0, NULL) == 0 || git_fail(error, GIT_PROBLEM_NO_REPOSITORY);
	if (ok && locate_folder(v, dir, p->repo, error) && open_commit(p, rev, commit, error))
		return v;
	git_view_close(v);
	return NULL;
}

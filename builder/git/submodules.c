/* The submodules of a commit, from its tree and .gitmodules: what libgit2 has for them wants a repository with a working tree. */
#include <stdio.h>
#include <string.h>
#include "builder/git/module.h"

struct submodules {
	git_config *names; /* .gitmodules; NULL: there is none */
	git_submodule_visitor *visit;
	void *ctx;
};

/* The setting of the submodule at `path`, in `out`; "" where there is none. */
static void setting_of(git_config *names, const char *path, const char *key, git_buf *out)
{
	git_config_iterator *it = NULL;
	git_config_entry *e;
	char name[1024];
	if (!names || git_config_iterator_glob_new(&it, names, "^submodule\\..*\\.path$") != 0)
		return;
	while (git_config_next(&e, it) == 0)
		if (strcmp(e->value ? e->value : "", path) == 0 &&
		    (size_t)snprintf(name, sizeof name, "%.*s%s", (int)(strlen(e->name) - strlen("path")), e->name, key) < sizeof name)
			git_config_get_string_buf(out, names, name);
	git_config_iterator_free(it);
}

static int look_for_submodule(const char *folder, const git_tree_entry *e, void *submodules)
{
	const struct submodules *s = submodules;
	char path[1024], commit[41];
	git_buf url = {0}, update = {0};
	if (git_tree_entry_filemode(e) != GIT_FILEMODE_COMMIT)
		return 0;
	snprintf(path, sizeof path, "%s%s", folder, git_tree_entry_name(e));
	git_oid_tostr(commit, sizeof commit, git_tree_entry_id(e));
	setting_of(s->names, path, "url", &url);
	setting_of(s->names, path, "update", &update);
	bool wanted = !update.ptr || strcmp(update.ptr, "none") != 0;
	bool ok = !wanted || s->visit(s->ctx, path, url.ptr ? url.ptr : "", commit);
	git_buf_dispose(&url);
	git_buf_dispose(&update);
	return ok ? 0 : -1;
}

bool git_mirror_submodules(const char *db, const char *commit, const char *folder, git_submodule_visitor *visit, void *ctx)
{
	struct submodules s = {.visit = visit, .ctx = ctx};
	git_repository *repo = NULL;
	git_commit *c = NULL;
	git_tree *tree = NULL;
	git_oid id;
	char file[4096];
	git_libgit2_init();
	snprintf(file, sizeof file, "%s/.gitmodules", folder);
	if (git_config_open_ondisk(&s.names, file) != 0)
		s.names = NULL;
	bool ok = git_repository_open_bare(&repo, db) == 0 && git_oid_fromstr(&id, commit) == 0 && git_commit_lookup(&c, repo, &id) == 0 && git_commit_tree(&tree, c) == 0 &&
		  git_tree_walk(tree, GIT_TREEWALK_PRE, look_for_submodule, &s) == 0;
	git_tree_free(tree);
	git_commit_free(c);
	git_repository_free(repo);
	git_config_free(s.names);
	git_libgit2_shutdown();
	return ok;
}

#include "builder/git/module.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool git_fail(struct git_failure *error, enum git_problem problem)
{
	const git_error *last = git_error_last();
	const char *text = last && last->message ? last->message : "";
	bool owner = strstr(text, "safe.directory") ||
		     strstr(text, "not owned by current user"); /* libgit2 1.5 returns GIT_EOWNER in only one of these cases */
	error->problem = owner ? GIT_PROBLEM_OWNER : problem;
	snprintf(error->text, sizeof error->text, "%s",
		 owner ? "the repository belongs to another user and is not in git's setting safe.directory" : text);
	return false;
}

/* True if the file in the work tree differs from the blob in the commit's tree. */
static bool module_differs(git_repository *repo, git_tree *tree, const char *path)
{
	git_tree_entry *entry = NULL;
	git_oid disk;
	if (!tree || git_tree_entry_bypath(&entry, tree, path) != 0)
		return true;
	/* with the path, so that line-end and other filters apply as `git add` would */
	bool same =
		git_repository_hashfile(&disk, repo, path, GIT_OBJECT_BLOB, path) == 0 && git_oid_equal(&disk, git_tree_entry_id(entry));
	git_tree_entry_free(entry);
	return !same;
}

static bool any_differs(git_repository *repo, git_tree *tree, const char *const *files, uint32_t n)
{
	const char *root = git_repository_workdir(repo);
	char full[PATH_MAX], top[PATH_MAX];
	if (!root || !realpath(root, top))
		return false;
	size_t len = strlen(top);
	for (uint32_t i = 0; i < n; i++)
		if (realpath(files[i], full) && strncmp(full, top, len) == 0 && full[len] == '/' &&
		    module_differs(repo, tree, full + len + 1))
			return true;
	return false;
}

static bool module_describe(const char *dir, const char *const *files, uint32_t n, char commit[41], bool *dirty)
{
	git_repository *repo = NULL;
	git_object *head = NULL;
	git_tree *tree = NULL;
	commit[0] = 0;
	*dirty = false;
	git_libgit2_init();
	bool ok = git_repository_open_ext(&repo, dir, 0, NULL) == 0;
	if (ok && git_revparse_single(&head, repo, "HEAD^{commit}") == 0) {
		git_oid_tostr(commit, 41, git_object_id(head));
		git_commit_tree(&tree, (git_commit *)head);
	}
	if (ok)
		*dirty = any_differs(repo, tree, files, n);
	git_tree_free(tree);
	git_object_free(head);
	git_repository_free(repo);
	git_libgit2_shutdown();
	return ok;
}

const struct git_api *trib_git(void)
{
	static const struct git_api api = {
		GIT_ABI,
		module_describe,
		git_view_open,
		git_view_close,
		git_view_read,
		git_view_files,
		git_view_has,
		git_view_matches_disk,
		git_view_missing_submodule,
		git_mirror_fetch,
		git_mirror_resolve,
		git_mirror_check_out,
		git_mirror_submodules,
	};
	return &api;
}

/* Functions that the files of the git module share. No other code of trib is linked into the module. */
#ifndef TRIB_BUILDER_GIT_MODULE_H
#define TRIB_BUILDER_GIT_MODULE_H
#include <git2.h>
#include <stdbool.h>
#include "builder/git/git.h"

const struct git_api *trib_git(void);

/* Fills *error with libgit2's last message. Returns false. */
bool git_fail(struct git_failure *error, enum git_problem problem);
/* Opens a commit of a mirror, and its tree. Free both also on failure. False: *error. */
bool git_mirror_open(const char *db, const char *commit, git_repository **repo, git_tree **tree, struct git_failure *error);
struct git_view *git_view_open(const char *dir, const char *rev, char commit[41], struct git_failure *error);
void git_view_close(struct git_view *view);
bool git_view_read(struct git_view *view, const char *path, char **text, size_t *len);
void git_view_files(struct git_view *view, const char *folder, git_file_visitor *visit, void *ctx);
bool git_view_has(struct git_view *view, const char *path);
bool git_view_matches_disk(struct git_view *view, const char *path);
const char *git_view_missing_submodule(const struct git_view *view);
bool git_mirror_fetch(const char *db, const char *url, bool (*stopped)(void), struct git_failure *error);
bool git_mirror_resolve(const char *db, enum git_ref kind, const char *name, char commit[41], struct git_failure *error);
bool git_mirror_check_out(const char *db, const char *commit, const char *root, const char *below, struct git_failure *error);
bool git_mirror_submodules(const char *db, const char *commit, const char *root, const char *below, git_submodule_visitor *visit, void *ctx,
			   struct git_failure *error);

/* Opens git's configuration as the git command reads it: libgit2 ignores GIT_CONFIG_GLOBAL and GIT_CONFIG_NOSYSTEM. It is that of the machine, of the user, and of the repository around the current folder. NULL: libgit2's error. */
git_config *user_config_open(void);

/* tree.c: trees come from untrusted repositories. Those that are refused cannot be made with git's own tools.
 *
 * True if each name is a valid file name and unique in its folder without regard to case, and the tree is not too large. False: *error. */
bool tree_is_safe(git_repository *repo, const git_tree *tree, struct git_failure *error);
/* Writes a safe tree into the empty folder `dir`: files, links and folders. Follows no link. False: *error. */
bool tree_write(git_repository *repo, const git_tree *tree, int dir, struct git_failure *error);
/* Opens the folder `below` ("" or "libs/sub") of `root`, component by component. Follows no link. -1: errno. */
int tree_open_folder(const char *root, const char *below);
#endif

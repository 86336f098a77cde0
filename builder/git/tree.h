/* Checks and writes the tree of a commit. Trees come from untrusted repositories; those that are refused cannot be made with git's own
 * tools. */
#ifndef TRIB_BUILDER_GIT_TREE_H
#define TRIB_BUILDER_GIT_TREE_H
#include <git2.h>
#include <stdbool.h>
#include "builder/git/git.h"

/* True if each name is a valid file name and unique in its folder without regard to case, and the tree is not too large. False: *error. */
bool tree_is_safe(git_repository *repo, const git_tree *tree, struct git_failure *error);
/* Writes a safe tree into the empty folder `dir`: files, links and folders. Follows no link. False: *error. */
bool tree_write(git_repository *repo, const git_tree *tree, int dir, struct git_failure *error);
/* Opens the folder `below` ("" or "libs/sub") of `root`, component by component. Follows no link. -1: errno. */
int tree_open_folder(const char *root, const char *below);
#endif

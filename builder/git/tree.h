/* Which trees of a repository may be written to a disk. A tree is what somebody else made: git's own tools write none of those that are refused here. */
#ifndef TRIB_BUILDER_GIT_TREE_H
#define TRIB_BUILDER_GIT_TREE_H
#include <git2.h>
#include <stdbool.h>
#include "builder/git/git.h"

/* True if in every folder each name can be a file's, and no two are the same, whatever the case of their letters; and if there are not too many. False: *error. */
bool tree_is_sound(git_repository *repo, const git_tree *tree, struct git_failure *error);
/* Writes such a `tree` into the empty folder `dir`: files, links and folders, each without following a link. False: *error. */
bool tree_write(git_repository *repo, const git_tree *tree, int dir, struct git_failure *error);
/* The folder `below` ("" or "libs/sub") of `root`, opened component by component without following a link. -1: errno. */
int tree_open_folder(const char *root, const char *below);
#endif

/* git's configuration as the git command reads it. libgit2 alone does not know GIT_CONFIG_GLOBAL and GIT_CONFIG_NOSYSTEM. */
#ifndef TRIB_BUILDER_GIT_USER_CONFIG_H
#define TRIB_BUILDER_GIT_USER_CONFIG_H
#include <git2.h>

/* The machine's, the user's, and those of the repository around the current folder. NULL: libgit2's error. */
git_config *user_config_open(void);
#endif

/* git's configuration as the git command reads it. libgit2 alone does not know GIT_CONFIG_GLOBAL and GIT_CONFIG_NOSYSTEM. */
#ifndef TRIB_BUILDER_GIT_SETTINGS_H
#define TRIB_BUILDER_GIT_SETTINGS_H
#include <git2.h>

/* The machine's, the user's, and those of the repository around the current folder. NULL: libgit2's error. */
git_config *settings_open(void);
#endif

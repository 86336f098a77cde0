/* git's configuration as the git command reads it. libgit2 ignores GIT_CONFIG_GLOBAL and GIT_CONFIG_NOSYSTEM. */
#ifndef TRIB_BUILDER_GIT_USER_CONFIG_H
#define TRIB_BUILDER_GIT_USER_CONFIG_H
#include <git2.h>

/* Opens the configuration of the machine, of the user, and of the repository around the current folder. NULL: libgit2's error. */
git_config *user_config_open(void);
#endif

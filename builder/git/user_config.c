#include "builder/git/module.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static void user_config_add(git_config *c, const char *path, git_config_level_t level)
{
	git_config_add_file_ondisk(c, path, level, NULL, true);
}

static void add_if_found(git_config *c, int (*find)(git_buf *), git_config_level_t level)
{
	git_buf path = {0};
	if (find(&path) == 0)
		user_config_add(c, path.ptr, level);
	git_buf_dispose(&path);
}

static bool user_config_is_set(const char *text)
{
	return text && *text && strcasecmp(text, "0") && strcasecmp(text, "false") && strcasecmp(text, "no") && strcasecmp(text, "off");
}

static void add_repository(git_config *c)
{
	char path[4096];
	git_repository *repo = NULL;
	if (git_repository_open_ext(&repo, ".", 0, NULL) == 0 &&
	    (size_t)snprintf(path, sizeof path, "%sconfig", git_repository_commondir(repo)) < sizeof path)
		user_config_add(c, path, GIT_CONFIG_LEVEL_LOCAL);
	git_repository_free(repo);
}

git_config *user_config_open(void)
{
	const char *global = secure_getenv("GIT_CONFIG_GLOBAL"), *system = secure_getenv("GIT_CONFIG_SYSTEM");
	git_config *c = NULL;
	if (git_config_new(&c) != 0)
		return NULL;
	if (system && *system)
		user_config_add(c, system, GIT_CONFIG_LEVEL_SYSTEM);
	else if (!user_config_is_set(secure_getenv("GIT_CONFIG_NOSYSTEM")))
		add_if_found(c, git_config_find_system, GIT_CONFIG_LEVEL_SYSTEM);
	if (global) {
		user_config_add(c, global, GIT_CONFIG_LEVEL_GLOBAL);
	} else {
		add_if_found(c, git_config_find_xdg, GIT_CONFIG_LEVEL_XDG);
		add_if_found(c, git_config_find_global, GIT_CONFIG_LEVEL_GLOBAL);
	}
	add_repository(c);
	return c;
}

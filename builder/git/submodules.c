/* The submodules of a commit, from its tree and .gitmodules. libgit2's functions for them need a repository with a work tree. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "builder/git/module.h"

enum { MAX_GITMODULES = 1 << 20 };

struct submodules {
	git_config *gitmodules; /* or NULL */
	git_submodule_visitor *visit;
	void *ctx;
	bool too_long; /* a path */
};

/* Reads the setting `key` of the submodule at `path`; leaves `out` empty if there is none. */
static void read_setting(git_config *gitmodules, const char *path, const char *key, git_buf *out)
{
	git_config_iterator *it = NULL;
	git_config_entry *e;
	char name[1024];
	if (!gitmodules || git_config_iterator_glob_new(&it, gitmodules, "^submodule\\..*\\.path$") != 0)
		return;
	while (git_config_next(&e, it) == 0)
		if (strcmp(e->value ? e->value : "", path) == 0 &&
		    (size_t)snprintf(name, sizeof name, "%.*s%s", (int)(strlen(e->name) - strlen("path")), e->name, key) < sizeof name)
			git_config_get_string_buf(out, gitmodules, name);
	git_config_iterator_free(it);
}

static int visit_entry(const char *folder, const git_tree_entry *e, void *submodules)
{
	struct submodules *s = submodules;
	char path[1024], commit[41];
	git_buf url = {0}, update = {0};
	if (git_tree_entry_filemode(e) != GIT_FILEMODE_COMMIT)
		return 0;
	int n = snprintf(path, sizeof path, "%s%s", folder, git_tree_entry_name(e));
	if (n < 0 || (size_t)n >= sizeof path) {
		s->too_long = true;
		return -1;
	}
	git_oid_tostr(commit, sizeof commit, git_tree_entry_id(e));
	read_setting(s->gitmodules, path, "url", &url);
	read_setting(s->gitmodules, path, "update", &update);
	bool wanted = !update.ptr || strcmp(update.ptr, "none") != 0;
	bool ok = !wanted || s->visit(s->ctx, path, url.ptr ? url.ptr : "", commit);
	git_buf_dispose(&url);
	git_buf_dispose(&update);
	return ok ? 0 : -1;
}

/* libgit2 would read included files, wherever they are. */
static bool has_no_includes(int fd)
{
	struct stat st;
	char *text = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < MAX_GITMODULES ? calloc(1, (size_t)st.st_size + 1) : NULL;
	bool ok = text && read(fd, text, (size_t)st.st_size) == st.st_size && !strcasestr(text, "[include");
	free(text);
	return ok;
}

/* Returns NULL, without *error, if there is no file. *file must stay open as long as the configuration, which reads it again. */
static git_config *open_gitmodules(const char *root, const char *below, int *file, struct git_failure *error)
{
	git_config *config = NULL;
	char path[64];
	int dir = tree_open_folder(root, below), fd = *file = dir < 0 ? -1 : openat(dir, ".gitmodules", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!has_no_includes(fd)) {
		*error = (struct git_failure){GIT_PROBLEM_TREE, "its .gitmodules includes other files, or is too large"};
	} else if (git_config_open_ondisk(&config, path) != 0) {
		config = NULL;
	}
	return config;
}

bool git_mirror_submodules(const char *db, const char *commit, const char *root, const char *below, git_submodule_visitor *visit, void *ctx,
			   struct git_failure *error)
{
	struct submodules s = {.visit = visit, .ctx = ctx};
	git_repository *repo = NULL;
	git_tree *tree = NULL;
	int file;
	*error = (struct git_failure){.problem = GIT_PROBLEM_TREE};
	git_libgit2_init();
	s.gitmodules = open_gitmodules(root, below, &file, error);
	bool ok = !*error->text && git_mirror_open(db, commit, &repo, &tree, error);
	ok = ok && git_tree_walk(tree, GIT_TREEWALK_PRE, visit_entry, &s) == 0;
	if (s.too_long)
		snprintf(error->text, sizeof error->text, "the path of a submodule is too long");
	git_tree_free(tree);
	git_repository_free(repo);
	git_config_free(s.gitmodules);
	if (file >= 0)
		close(file);
	git_libgit2_shutdown();
	return ok;
}

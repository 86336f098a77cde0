#include "builder/checkout.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cache_config.h"
#include "builder/module.h"
#include "builder/options.h"

bool checkouts_open(struct checkouts *c, struct arena *a, struct sources *sources, const struct manifest *m, const struct options *o, struct diags *diags)
{
	struct cache_config config;
	*c = (struct checkouts){.arena = a, .offline = o->offline};
	if (!cache_config_read(a, sources, manifest_find(m, BLOCK_CACHE, NULL), o, &config, diags))
		return false;
	c->folder = path_join(a, config.at[SETTING_DIR].text, "git");
	return true;
}

/* ---- addresses ---- */

/* Of https://host/path, ssh://…, host:path: where the path begins; 0 for one on this machine. */
static size_t path_start(const char *url)
{
	const char *scheme = strstr(url, "://"), *colon = strchr(url, ':'), *slash = strchr(url, '/');
	if (scheme) {
		const char *path = strchr(scheme + 3, '/');
		return path ? (size_t)(path - url) : strlen(url);
	}
	return colon && (!slash || colon < slash) ? (size_t)(colon - url) + 1 : 0;
}

const char *checkout_join(struct arena *a, const char *base, const char *url)
{
	size_t start = path_start(base);
	if (path_start(url) || *url == '/' || !*base)
		return url;
	return arena_printf(a, "%.*s%s", (int)start, base, path_normal(a, arena_printf(a, "%s/%s", base + start, url)));
}

/* What libgit2 is given: a path on this machine becomes absolute. */
static const char *address(struct arena *a, const char *url)
{
	char *here = path_start(url) || *url == '/' ? NULL : getcwd(NULL, 0);
	const char *full = here ? path_normal(a, path_join(a, here, url)) : url;
	free(here);
	return full;
}

/* NAME-HASH below the folder. */
static const char *place(struct checkouts *c, const char *full)
{
	char hex[33];
	hash_hex(hash_bytes(full, strlen(full)), hex);
	const char *name = path_stem(c->arena, path_base(full));
	return path_join(c->arena, c->folder, arena_printf(c->arena, "%s-%.16s", *name ? name : "repository", hex));
}

/* ---- one at a time ---- */

static int lock(struct checkouts *c, const char **error)
{
	const char *path = path_join(c->arena, c->folder, "lock");
	int fd = os_mkdirs(c->folder) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR && !os_interrupted())
		continue;
	if (fd < 0)
		*error = arena_printf(c->arena, "cannot write `%s`: %s", path, strerror(errno));
	return fd;
}

static bool open_git(struct checkouts *c, const char **error)
{
	const char *why;
	if (!c->git)
		c->git = module_open(c->arena, "git", GIT_ENTRY, GIT_ABI, &why);
	if (!c->git)
		*error = why;
	return c->git != NULL;
}

static bool fail(struct checkouts *c, const struct git_failure *f, const char **error)
{
	*error = arena_strdup(c->arena, *f->text ? f->text : "libgit2 gives no reason");
	return false;
}

static bool fetch(struct checkouts *c, const char *db, const char *full, const char **error)
{
	struct git_failure failure;
	struct stat st;
	if (!path_start(full) && stat(full, &st) != 0) { /* libgit2 takes it for a URL without a protocol */
		*error = arena_printf(c->arena, "cannot read `%s`: %s", full, strerror(errno));
		return false;
	}
	if (c->fetching)
		c->fetching(c->ctx, full);
	return c->git->fetch(db, full, os_interrupted, &failure) || fail(c, &failure, error);
}

/* ---- commits ---- */

static bool resolve(struct checkouts *c, const char *full, enum git_ref kind, const char *ref, char commit[41], const char **error)
{
	static const char *const words[] = {"default branch", "revision", "tag", "branch"};
	struct git_failure failure;
	const char *db = arena_printf(c->arena, "%s.git", place(c, full));
	if (!c->offline && !fetch(c, db, full, error))
		return false;
	if (c->git->resolve(db, kind, ref, commit, &failure))
		return true;
	const char *when = c->offline ? ", as it was when it was fetched last," : "";
	*error = kind == GIT_REF_HEAD ? arena_printf(c->arena, "%s%s has no %s", full, when, words[kind])
				      : arena_printf(c->arena, "%s%s has no %s `%s`", full, when, words[kind], ref);
	return false;
}

bool checkout_resolve(struct checkouts *c, const char *url, enum git_ref kind, const char *ref, char commit[41], const char **error)
{
	int fd = open_git(c, error) ? lock(c, error) : -1;
	bool ok = fd >= 0 && resolve(c, address(c->arena, url), kind, ref, commit, error);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Into a folder of another name first: what has the commit's name is whole. */
static bool check_out(struct checkouts *c, const char *db, const char *commit, const char *folder, struct git_failure *failure)
{
	const char *partial = arena_printf(c->arena, "%s.partial", folder);
	bool ok = os_remove_tree(partial) && os_mkdirs(partial);
	if (!ok)
		*failure = (struct git_failure){.problem = GIT_PROBLEM_DISK};
	ok = ok && c->git->check_out(db, commit, partial, failure);
	if (ok && rename(partial, folder) != 0) {
		*failure = (struct git_failure){.problem = GIT_PROBLEM_DISK};
		ok = false;
	}
	if (!ok)
		os_remove_tree(partial);
	return ok;
}

static bool bring(struct checkouts *c, const char *full, const char *commit, const char *folder, const char **error)
{
	struct git_failure failure;
	const char *db = arena_printf(c->arena, "%s.git", place(c, full));
	if (check_out(c, db, commit, folder, &failure))
		return true;
	if (failure.problem == GIT_PROBLEM_DISK) {
		*error = arena_printf(c->arena, "cannot write `%s`: %s", folder, *failure.text ? failure.text : strerror(errno));
		return false;
	}
	if (c->offline) {
		*error = arena_printf(c->arena, "commit %s of %s is not in the cache, and nothing is fetched with --offline", commit, full);
		return false;
	}
	if (!fetch(c, db, full, error))
		return false;
	if (check_out(c, db, commit, folder, &failure))
		return true;
	*error = arena_printf(c->arena, "%s has no commit %s on any branch or tag", full, commit);
	return false;
}

const char *checkout_files(struct checkouts *c, const char *url, const char *commit, const char **error)
{
	const char *full = address(c->arena, url), *folder = path_join(c->arena, place(c, full), commit);
	struct stat st;
	if (stat(folder, &st) == 0)
		return folder;
	int fd = open_git(c, error) ? lock(c, error) : -1;
	bool ok = fd >= 0 && (stat(folder, &st) == 0 || (os_mkdirs(path_dir(c->arena, folder)) && bring(c, full, commit, folder, error)));
	if (fd >= 0)
		close(fd);
	return ok ? folder : NULL;
}

#include "builder/deps/checkout.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cache/config.h"
#include "builder/deps/integrity.h"
#include "builder/manifest/options.h"
#include "builder/module.h"

bool checkouts_open(struct checkouts *c, struct arena *a, struct sources *sources, const struct manifest *m, const struct options *o,
		    struct diags *diags)
{
	struct cache_config config;
	*c = (struct checkouts){.arena = a, .offline = o->offline};
	if (!cache_config_read(a, sources, m, o, &config, diags))
		return false;
	c->folder = path_join(a, config.at[SETTING_DIR].text, "git");
	c->out_outside = config.at[SETTING_OUT_OUTSIDE].number;
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

bool checkout_is_remote(const char *url) { return path_start(url) && strncasecmp(url, "file:", 5) != 0; }

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

static void report(struct checkouts *c, const char *what, const char *of)
{
	if (c->report)
		c->report(c->ctx, what, of);
}

/* Where files cannot be locked nobody waits. */
static bool wait_for(struct checkouts *c, int fd, const char **error)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	report(c, "waiting for another trib that brings dependencies into", c->folder);
	while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
		if (os_interrupted()) {
			*error = "interrupted";
			return false;
		}
	return true;
}

static int lock(struct checkouts *c, const char **error)
{
	const char *path = path_join(c->arena, c->folder, "lock");
	int fd = os_mkdirs(c->folder) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd < 0)
		*error = arena_printf(c->arena, "cannot write `%s`: %s", path, strerror(errno));
	if (fd < 0 || wait_for(c, fd, error))
		return fd;
	close(fd);
	return -1;
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

static const char *remedy(enum git_problem problem)
{
	switch (problem) {
	case GIT_PROBLEM_CERTIFICATE:
		return "if the server's authority is your own, `git config --global http.sslCAInfo FILE` or GIT_SSL_CAINFO=FILE names its certificate; "
		       "those that everybody knows are in the package ca-certificates";
	case GIT_PROBLEM_LOGIN:
		return "trib never asks for a password: `git credential approve` or a `credential.helper` keeps one, GIT_ASKPASS names a program that gives one";
	case GIT_PROBLEM_SSH:
		return "trib runs `ssh` without a terminal: a key has to be in the agent (`ssh-add`) or without a passphrase, and the host known (`ssh HOST` once); "
		       "GIT_SSH_COMMAND names another command";
	case GIT_PROBLEM_OWNER: return "`git config --global --add safe.directory FOLDER` says that the repository there is trusted";
	default: return NULL;
	}
}

static bool fail(struct checkouts *c, const struct git_failure *f, const char **error)
{
	*error = os_interrupted() ? "interrupted" : arena_strdup(c->arena, *f->text ? f->text : "libgit2 gives no reason");
	c->help = remedy(f->problem);
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
	report(c, "fetching", full);
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
	c->help = NULL;
	int fd = open_git(c, error) ? lock(c, error) : -1;
	bool ok = fd >= 0 && resolve(c, address(c->arena, url), kind, ref, commit, error);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- files ---- */

/* A commit whose files are put into a folder that is there. */
struct filling {
	struct checkouts *c;
	const char *full, *root, *below; /* root: the dependency's folder; below: "" or the submodule's path from it */
	int level;                       /* 0: the dependency itself, else a submodule of a submodule … */
	uint32_t *submodules;            /* how many there are so far, at all levels */
	const char **error;
};
enum { MOST_LEVELS = 16, MOST_SUBMODULES = 1000 };

static bool fill(const struct filling *f, const char *commit);

/* What must not be fetched; NULL: it may be. A repository somewhere else does not decide which files of this machine are read. */
static const char *forbidden(const struct filling *f, const char *url)
{
	if (checkout_is_remote(f->full) && !checkout_is_remote(url))
		return arena_printf(
			f->c->arena,
			"its address `%s` is on this machine, and the one that names it, `%s`, is not: trib does not fetch it, as git's setting protocol.file has it",
			url, f->full);
	if (f->level >= MOST_LEVELS)
		return arena_printf(f->c->arena, "submodules are nested more than %d deep", MOST_LEVELS);
	if (++*f->submodules > MOST_SUBMODULES)
		return arena_printf(f->c->arena, "there are more than %d submodules", MOST_SUBMODULES);
	return NULL;
}

static bool fill_submodule(void *filling, const char *path, const char *url, const char *commit)
{
	const struct filling *f = filling;
	struct arena *a = f->c->arena;
	if (!*url)
		return true; /* .gitmodules does not know it: git leaves its folder empty, too */
	const char *joined = checkout_join(a, f->full, url), *why = forbidden(f, joined);
	const struct filling inner = {f->c,         address(a, joined), f->root, path_join(a, f->below, path),
				      f->level + 1, f->submodules,      f->error};
	if (!why && fill(&inner, commit))
		return true;
	*f->error = arena_printf(a, "submodule `%s`: %s", path, why ? why : *f->error);
	return false;
}

/* Is the commit in the mirror, and are its files written? *absent: it is not there. */
static bool write_files(const struct filling *f, const char *db, const char *commit, bool *absent)
{
	struct git_failure failure;
	struct arena *a = f->c->arena;
	if (f->c->git->check_out(db, commit, f->root, f->below, &failure))
		return true;
	*absent = failure.problem == GIT_PROBLEM_REVISION || failure.problem == GIT_PROBLEM_OWNER;
	if (failure.problem == GIT_PROBLEM_TREE)
		*f->error = arena_printf(a, "commit %.12s of %s is refused: %s", commit, f->full, failure.text);
	else if (!*absent)
		*f->error = arena_printf(a, "cannot write `%s`: %s", path_join(a, f->root, f->below),
					 *failure.text ? failure.text : strerror(errno));
	return false;
}

static bool bring(const struct filling *f, const char *db, const char *commit)
{
	struct checkouts *c = f->c;
	bool absent = true;
	if (write_files(f, db, commit, &absent))
		return true;
	if (absent && c->offline)
		*f->error = arena_printf(c->arena, "commit %s of %s is not in the cache, and nothing is fetched with --offline", commit,
					 f->full);
	if (!absent || c->offline || !fetch(c, db, f->full, f->error))
		return false;
	if (write_files(f, db, commit, &absent))
		return true;
	if (absent)
		*f->error = arena_printf(c->arena, "%s has no commit %s on any branch or tag", f->full, commit);
	return false;
}

static bool fill(const struct filling *f, const char *commit)
{
	const char *db = arena_printf(f->c->arena, "%s.git", place(f->c, f->full));
	struct filling mine = *f;
	struct git_failure failure;
	if (!bring(f, db, commit))
		return false;
	*f->error = "the repository in the cache is damaged";
	if (f->c->git->submodules(db, commit, f->root, f->below, fill_submodule, &mine, &failure))
		return true;
	if (*failure.text)
		*f->error = arena_printf(f->c->arena, "commit %.12s of %s: %s", commit, f->full, failure.text);
	return false;
}

/* Into a folder of another name first: what has the commit's name is whole. One that was changed makes place at once, since others may be reading. */
static bool make_folder(struct checkouts *c, const char *full, const char *commit, const char *folder, const char **error)
{
	const char *partial = arena_printf(c->arena, "%s.partial", folder), *record = arena_printf(c->arena, "%s.integrity", folder);
	struct stat st;
	bool ok = os_remove_tree(partial) && os_mkdirs(partial);
	if (ok) {
		uint32_t submodules = 0;
		const struct filling f = {c, full, partial, "", 0, &submodules, error};
		if (!fill(&f, commit)) {
			os_remove_tree(partial);
			return false;
		}
	}
	unsigned exchange = stat(folder, &st) == 0 ? RENAME_EXCHANGE : 0;
	ok = ok && integrity_write(c->arena, partial, record) &&
	     (renameat2(AT_FDCWD, partial, AT_FDCWD, folder, exchange) == 0 || (os_remove_tree(folder) && rename(partial, folder) == 0));
	if (!ok)
		*error = arena_printf(c->arena, "cannot write `%s`: %s", folder, strerror(errno));
	os_remove_tree(partial);
	return ok;
}

/* As the commit has it, as far as sources go. */
static bool is_whole(struct checkouts *c, const char *folder)
{
	struct stat st;
	return stat(folder, &st) == 0 && integrity_holds(c->arena, folder, arena_printf(c->arena, "%s.integrity", folder));
}

const char *checkout_files(struct checkouts *c, const char *url, const char *commit, const char **error)
{
	const char *full = address(c->arena, url), *folder = path_join(c->arena, place(c, full), commit);
	struct stat st;
	c->help = NULL;
	if (is_whole(c, folder))
		return folder;
	int fd = open_git(c, error) ? lock(c, error) : -1;
	bool ok = fd >= 0;
	if (ok && !is_whole(c, folder)) {
		if (stat(folder, &st) == 0)
			report(c, "its files in the cache were changed and are put back:", full);
		ok = make_folder(c, full, commit, folder, error);
	}
	if (fd >= 0)
		close(fd);
	return ok ? folder : NULL;
}

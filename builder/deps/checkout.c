#include "builder/deps/checkout.h"
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
#include "builder/cache/config.h"
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

/* ---- the cache ---- */

/* Returns the path NAME-HASH in the cache of an absolute address. */
static const char *cache_path(struct checkouts *c, const char *address)
{
	char hex[33];
	hash_hex(hash_bytes(address, strlen(address)), hex);
	const char *name = path_stem(c->arena, path_base(address));
	return path_join(c->arena, c->folder, arena_printf(c->arena, "%s-%.16s", *name ? name : "repository", hex));
}

static void checkout_report(struct checkouts *c, const char *what, const char *of)
{
	if (c->report)
		c->report(c->ctx, what, of);
}

/* Does not wait on file systems without locks. */
static bool wait_for_lock(struct checkouts *c, int fd, const char **error)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	checkout_report(c, "waiting for another trib that fetches dependencies into", c->folder);
	while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
		if (os_interrupted()) {
			*error = "interrupted";
			return false;
		}
	return true;
}

static int lock_cache(struct checkouts *c, const char **error)
{
	const char *path = path_join(c->arena, c->folder, "lock");
	int fd = os_mkdirs(c->folder) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd < 0)
		*error = arena_printf(c->arena, "cannot write `%s`: %s", path, strerror(errno));
	if (fd < 0 || wait_for_lock(c, fd, error))
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

static const char *advice_for(enum git_problem problem)
{
	switch (problem) {
	case GIT_PROBLEM_CERTIFICATE:
		return "for a certificate authority of your own, set `git config --global http.sslCAInfo FILE` or GIT_SSL_CAINFO=FILE; "
		       "the public authorities are in the package ca-certificates";
	case GIT_PROBLEM_LOGIN:
		return "trib never asks for a password: store it with `git credential approve` or a `credential.helper`, or set GIT_ASKPASS";
	case GIT_PROBLEM_SSH:
		return "trib runs `ssh` without a terminal: add the key to the agent with `ssh-add`, and accept the host's key with `ssh HOST` once; "
		       "GIT_SSH_COMMAND sets another command";
	case GIT_PROBLEM_OWNER: return "if you trust the repository, run `git config --global --add safe.directory FOLDER`";
	default: return NULL;
	}
}

static bool checkout_fail(struct checkouts *c, const struct git_failure *failure, const char **error)
{
	*error = os_interrupted() ? "interrupted" : arena_strdup(c->arena, *failure->text ? failure->text : "libgit2 gives no reason");
	c->help = advice_for(failure->problem);
	return false;
}

static bool fetch(struct checkouts *c, const char *db, const char *address, const char **error)
{
	struct git_failure failure;
	struct stat st;
	const char *local = address_local_path(address);
	if (local && stat(local, &st) != 0) { /* libgit2 would report a URL without a protocol */
		*error = arena_printf(c->arena, "cannot read `%s`: %s", local, strerror(errno));
		return false;
	}
	checkout_report(c, "fetching", address);
	return c->git->fetch(db, address, os_interrupted, &failure) || checkout_fail(c, &failure, error);
}

/* ---- commits ---- */

static bool deps_checkout_resolve(struct checkouts *c, const char *address, const struct git_source *source, char commit[41],
				  const char **error)
{
	struct git_failure failure;
	const char *db = arena_printf(c->arena, "%s.git", cache_path(c, address));
	if (!c->offline && !fetch(c, db, address, error))
		return false;
	if (c->git->resolve(db, source->kind, source->ref, commit, &failure))
		return true;
	const char *when = c->offline ? ", when it was last fetched," : "";
	const char *kind = source->kind == GIT_REF_REV ? "revision" : git_ref_text(source->kind);
	*error = source->kind == GIT_REF_HEAD ? arena_printf(c->arena, "%s%s has no default branch", address, when)
					      : arena_printf(c->arena, "%s%s has no %s `%s`", address, when, kind, source->ref);
	return false;
}

bool checkout_resolve(struct checkouts *c, const struct git_source *source, char commit[41], const char **error)
{
	c->help = NULL;
	int fd = open_git(c, error) ? lock_cache(c, error) : -1;
	bool ok = fd >= 0 && deps_checkout_resolve(c, address_absolute(c->arena, source->git), source, commit, error);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- files ---- */

/* The files of a commit that are written into an existing folder. */
struct files_job {
	struct checkouts *c;
	const char *address, *root, *below; /* root: the dependency's folder; below: "" or the submodule's path in it */
	int level;                          /* 0: the dependency itself, else a submodule of a submodule … */
	uint32_t *submodules;               /* number so far, at all levels */
	const char **error;
};
enum { MOST_LEVELS = 16, MOST_SUBMODULES = 1000 };

static bool write_all_files(const struct files_job *f, const char *commit);

/* Returns why the submodule must not be fetched, or NULL. A remote repository cannot make trib read local files. */
static const char *why_forbidden(const struct files_job *f, const char *url)
{
	if (address_is_remote(f->address) && !address_is_remote(url))
		return arena_printf(
			f->c->arena,
			"its address `%s` is on this machine, but `%s`, which names it, is remote: trib does not fetch it (see git's setting protocol.file)",
			url, f->address);
	if (f->level >= MOST_LEVELS)
		return arena_printf(f->c->arena, "submodules are nested more than %d levels deep", MOST_LEVELS);
	if (++*f->submodules > MOST_SUBMODULES)
		return arena_printf(f->c->arena, "there are more than %d submodules", MOST_SUBMODULES);
	return NULL;
}

static bool write_submodule(void *job, const char *path, const char *url, const char *commit)
{
	const struct files_job *f = job;
	struct arena *a = f->c->arena;
	if (!*url)
		return true; /* not in .gitmodules: like git, leaves its folder empty */
	const char *joined = address_join(a, f->address, url), *why = why_forbidden(f, joined);
	const struct files_job inner = {
		f->c, address_absolute(a, joined), f->root, path_join(a, f->below, path), f->level + 1, f->submodules, f->error};
	if (!why && write_all_files(&inner, commit))
		return true;
	*f->error = arena_printf(a, "submodule `%s`: %s", path, why ? why : *f->error);
	return false;
}

/* Writes the files of a commit from the mirror. *absent: the mirror lacks the commit. */
static bool write_from_mirror(const struct files_job *f, const char *db, const char *commit, bool *absent)
{
	struct git_failure failure;
	struct arena *a = f->c->arena;
	if (f->c->git->check_out(db, commit, f->root, f->below, &failure))
		return true;
	*absent = failure.problem == GIT_PROBLEM_REVISION || failure.problem == GIT_PROBLEM_OWNER;
	if (failure.problem == GIT_PROBLEM_TREE)
		*f->error = arena_printf(a, "commit %.12s of %s is refused: %s", commit, f->address, failure.text);
	else if (!*absent)
		*f->error = arena_printf(a, "cannot write `%s`: %s", path_join(a, f->root, f->below),
					 *failure.text ? failure.text : strerror(errno));
	return false;
}

static bool fetch_and_write(const struct files_job *f, const char *db, const char *commit)
{
	struct checkouts *c = f->c;
	bool absent = true;
	if (write_from_mirror(f, db, commit, &absent))
		return true;
	if (absent && c->offline)
		*f->error = arena_printf(c->arena, "commit %s of %s is not in the cache, and with --offline nothing is fetched", commit,
					 f->address);
	if (!absent || c->offline || !fetch(c, db, f->address, f->error))
		return false;
	if (write_from_mirror(f, db, commit, &absent))
		return true;
	if (absent)
		*f->error = arena_printf(c->arena, "%s has no commit %s on any branch or tag", f->address, commit);
	return false;
}

static bool write_all_files(const struct files_job *f, const char *commit)
{
	const char *db = arena_printf(f->c->arena, "%s.git", cache_path(f->c, f->address));
	struct files_job job = *f;
	struct git_failure failure;
	if (!fetch_and_write(f, db, commit))
		return false;
	*f->error = "the repository in the cache is damaged";
	if (f->c->git->submodules(db, commit, f->root, f->below, write_submodule, &job, &failure))
		return true;
	if (*failure.text)
		*f->error = arena_printf(f->c->arena, "commit %.12s of %s: %s", commit, f->address, failure.text);
	return false;
}

/* Writes to a temporary folder first, so that the folder with the commit's name is complete. Replaces a changed folder in one step,
 * since other processes may read it. */
static bool checkout_make_folder(struct checkouts *c, const char *address, const char *commit, const char *folder, const char **error)
{
	const char *partial = arena_printf(c->arena, "%s.partial", folder), *record = arena_printf(c->arena, "%s.integrity", folder);
	struct outward_links removed = {0};
	struct stat st;
	bool ok = os_remove_tree(partial) && os_mkdirs(partial);
	if (ok) {
		uint32_t submodules = 0;
		const struct files_job f = {c, address, partial, "", 0, &submodules, error};
		if (!write_all_files(&f, commit)) {
			os_remove_tree(partial);
			return false;
		}
	}
	unsigned exchange = stat(folder, &st) == 0 ? RENAME_EXCHANGE : 0;
	ok = ok && integrity_write(c->arena, partial, record, &removed) &&
	     (renameat2(AT_FDCWD, partial, AT_FDCWD, folder, exchange) == 0 || (os_remove_tree(folder) && rename(partial, folder) == 0));
	if (!ok)
		*error = arena_printf(c->arena, "cannot write `%s`: %s", folder, strerror(errno));
	else if (removed.n)
		checkout_report(c,
				arena_printf(c->arena, "leaving out %u link%s to no file of the repository, `%s`%s, of", removed.n,
					     removed.n == 1 ? "" : "s", removed.first, removed.n == 1 ? "" : " first"),
				address);
	os_remove_tree(partial);
	return ok;
}

/* True if the folder exists and its sources are those of the commit. */
static bool is_intact(struct checkouts *c, const char *folder)
{
	struct stat st;
	return stat(folder, &st) == 0 && integrity_holds(c->arena, folder, arena_printf(c->arena, "%s.integrity", folder));
}

const char *checkout_files(struct checkouts *c, const char *url, const char *commit, const char **error)
{
	const char *address = address_absolute(c->arena, url), *folder = path_join(c->arena, cache_path(c, address), commit);
	struct stat st;
	c->help = NULL;
	if (is_intact(c, folder))
		return folder;
	int fd = open_git(c, error) ? lock_cache(c, error) : -1;
	bool ok = fd >= 0;
	if (ok && !is_intact(c, folder)) {
		if (stat(folder, &st) == 0)
			checkout_report(c, "restoring files that were changed in the cache:", address);
		ok = checkout_make_folder(c, address, commit, folder, error);
	}
	if (fd >= 0)
		close(fd);
	return ok ? folder : NULL;
}

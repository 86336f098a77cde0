/* Mirrors: bare copies of the repositories that a project depends on, and the files of their commits. */
#include "builder/git/http.h"
#include "builder/git/module.h"
#include "builder/git/ssh.h"
#include <errno.h>
#include <git2/sys/repository.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIRROR_HEAD "refs/trib/HEAD"

/* The payload of both callbacks. The login is first, since login_provide reads only that. */
struct fetch_payload {
	struct login login;
	bool (*stopped)(void);
};

static int check_stopped(const git_indexer_progress *stats, void *payload)
{
	(void)stats;
	return ((struct fetch_payload *)payload)->stopped() ? -1 : 0;
}

static bool is_reference_conflict(void)
{
	const git_error *last = git_error_last();
	return last && (last->klass == GIT_ERROR_REFERENCE || last->klass == GIT_ERROR_FILESYSTEM || last->klass == GIT_ERROR_OS);
}

static enum git_problem problem_of(int code)
{
	const git_error *last = git_error_last();
	if (code == GIT_ECERTIFICATE || (last && last->klass == GIT_ERROR_SSL))
		return GIT_PROBLEM_CERTIFICATE;
	if (code == GIT_EAUTH)
		return GIT_PROBLEM_LOGIN;
	return last && last->klass == GIT_ERROR_SSH ? GIT_PROBLEM_SSH : GIT_PROBLEM_FETCH;
}

/* *conflict: a new reference has the name of an old folder of references, or the other way round. */
static bool fetch_into(git_repository *repo, git_config *config, const char *url, bool (*stopped)(void), bool *conflict,
		       struct git_failure *error)
{
	char heads[] = "+refs/heads/*:refs/heads/*", tags[] = "+refs/tags/*:refs/tags/*", head[] = "+HEAD:" MIRROR_HEAD;
	char *specs[] = {heads, tags, head};
	const git_strarray all = {specs, 3};
	git_remote *remote = NULL;
	git_fetch_options o;
	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	int code = git_remote_create_anonymous(&remote, repo, url);
	struct fetch_payload payload = {.login = {.url = code == 0 ? git_remote_url(remote) : url, .stopped = stopped},
					.stopped = stopped}; /* insteadOf may have changed it */
	o.callbacks.transfer_progress = check_stopped;
	o.callbacks.credentials = login_provide;
	o.callbacks.payload = &payload;
	o.proxy_opts.type = GIT_PROXY_AUTO;
	o.prune = GIT_FETCH_PRUNE;
	o.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE; /* `specs` include them */
	if (code == 0 && !http_set_up(config, payload.login.url, &o))
		code = GIT_ECERTIFICATE;
	if (code == 0)
		code = git_remote_fetch(remote, &all, &o, NULL);
	*conflict = code != 0 && is_reference_conflict();
	if (code != 0)
		git_fail(error, problem_of(code));
	login_finish(&payload.login, code == 0);
	http_clean_up(&o);
	git_remote_free(remote);
	return code == 0;
}

static void drop_references(git_repository *repo)
{
	git_strarray names = {0};
	if (git_reference_list(&names, repo) != 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		git_reference_remove(repo, names.strings[i]);
	git_strarray_dispose(&names);
}

bool git_mirror_fetch(const char *db, const char *url, bool (*stopped)(void), struct git_failure *error)
{
	git_repository *repo = NULL;
	git_libgit2_init();
	bool ok =
		git_repository_open_bare(&repo, db) == 0 || git_repository_init(&repo, db, true) == 0 || git_fail(error, GIT_PROBLEM_DISK);
	git_config *config = user_config_open();
	if (ok && config)
		git_repository_set_config(repo, config); /* for insteadOf and proxies */
	struct ssh_setup ssh;
	ssh_register(&ssh, config, stopped);
	bool conflict = false, fetched = ok && fetch_into(repo, config, url, stopped, &conflict, error);
	if (conflict) { /* for example, branch `a` was replaced by `a/b` */
		drop_references(repo);
		fetched = fetch_into(repo, config, url, stopped, &conflict, error);
	}
	ssh_unregister(&ssh);
	git_config_free(config);
	git_repository_free(repo);
	git_libgit2_shutdown();
	return fetched;
}

bool git_mirror_resolve(const char *db, enum git_ref kind, const char *name, char commit[41], struct git_failure *error)
{
	static const char *const folders[] = {
		[GIT_REF_HEAD] = MIRROR_HEAD, [GIT_REF_REV] = "", [GIT_REF_TAG] = "refs/tags/", [GIT_REF_BRANCH] = "refs/heads/"};
	git_repository *repo = NULL;
	git_object *object = NULL, *c = NULL;
	char spec[1024];
	git_libgit2_init();
	snprintf(spec, sizeof spec, "%s%s", folders[kind], kind == GIT_REF_HEAD ? "" : name);
	bool ok = git_repository_open_bare(&repo, db) == 0 && git_revparse_single(&object, repo, spec) == 0 &&
		  git_object_peel(&c, object, GIT_OBJECT_COMMIT) == 0;
	if (ok)
		git_oid_tostr(commit, 41, git_object_id(c));
	else
		git_fail(error, GIT_PROBLEM_REVISION);
	git_object_free(c);
	git_object_free(object);
	git_repository_free(repo);
	git_libgit2_shutdown();
	return ok;
}

bool git_mirror_open(const char *db, const char *commit, git_repository **repo, git_tree **tree, struct git_failure *error)
{
	git_commit *c = NULL;
	git_oid id;
	*repo = NULL;
	*tree = NULL;
	bool ok =
		(git_repository_open_bare(repo, db) == 0 && git_oid_fromstr(&id, commit) == 0 && git_commit_lookup(&c, *repo, &id) == 0) ||
		git_fail(error, GIT_PROBLEM_REVISION);
	ok = ok && (git_commit_tree(tree, c) == 0 || git_fail(error, GIT_PROBLEM_DISK));
	git_commit_free(c);
	return ok;
}

bool git_mirror_check_out(const char *db, const char *commit, const char *root, const char *below, struct git_failure *error)
{
	git_repository *repo;
	git_tree *tree;
	git_libgit2_init();
	bool ok = git_mirror_open(db, commit, &repo, &tree, error) && tree_is_safe(repo, tree, error);
	if (ok) {
		int dir = tree_open_folder(root, below);
		if (dir < 0) {
			*error = (struct git_failure){.problem = GIT_PROBLEM_DISK};
			snprintf(error->text, sizeof error->text, "%.400s: %s", below, strerror(errno));
		}
		ok = dir >= 0 && tree_write(repo, tree, dir, error);
		if (dir >= 0)
			close(dir);
	}
	git_tree_free(tree);
	git_repository_free(repo);
	git_libgit2_shutdown();
	return ok;
}

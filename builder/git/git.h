/* The git module: a shared object linked against libgit2, opened only when a repository has to be asked. */
#ifndef TRIB_BUILDER_GIT_GIT_H
#define TRIB_BUILDER_GIT_GIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIT_ABI 4
#define GIT_ENTRY "trib_git"

enum git_problem {
	GIT_PROBLEM_NO_REPOSITORY,
	GIT_PROBLEM_OWNER, /* the repository is another user's, and safe.directory does not name it */
	GIT_PROBLEM_BARE,
	GIT_PROBLEM_REVISION,
	GIT_PROBLEM_SHALLOW,
	GIT_PROBLEM_FETCH,
	GIT_PROBLEM_CERTIFICATE,
	GIT_PROBLEM_LOGIN,
	GIT_PROBLEM_SSH,
	GIT_PROBLEM_TREE, /* a commit whose files must not be written */
	GIT_PROBLEM_DISK
};
struct git_failure {
	enum git_problem problem;
	char text[512]; /* libgit2's words, or the path that is meant */
};
struct git_view; /* the files of a commit, as a folder of the work tree sees them */
enum git_ref { GIT_REF_HEAD, GIT_REF_REV, GIT_REF_TAG, GIT_REF_BRANCH };
typedef void git_file_visitor(void *ctx, const char *path);
typedef bool git_submodule_visitor(void *ctx, const char *path, const char *url, const char *commit);

struct git_api {
	uint32_t abi;
	/* The commit of the repository that folder `dir` is in, as 40 hex digits, "" before the first one; *dirty: one of the files (relative to `dir`)
	 * is not what that commit holds. Files outside the repository do not count. False: there is no repository, or it cannot be read. */
	bool (*describe)(const char *dir, const char *const *files, uint32_t n, char commit[41], bool *dirty);

	/* What revision `rev` of the repository around folder `dir` holds; `A...` or `A...B` is the commit where B (HEAD) left A. Submodules are followed into their own repositories. NULL: *error. */
	struct git_view *(*view_open)(const char *dir, const char *rev, char commit[41], struct git_failure *error);
	void (*view_close)(struct git_view *v); /* NULL is accepted */
	/* A file by its path from the view's folder, malloc'd and with a NUL behind it. False: the commit has none there. */
	bool (*view_read)(struct git_view *v, const char *path, char **text, size_t *len);
	/* All files below `folder`, with paths that begin with it ("": from the view's folder), in no order. */
	void (*view_files)(struct git_view *v, const char *folder, git_file_visitor *visit, void *ctx);
	bool (*view_has)(struct git_view *v, const char *path);
	/* Does the file on disk hold what the commit's does? */
	bool (*view_matches_disk)(struct git_view *v, const char *path);
	/* A submodule whose commit could not be looked at, so that its files seem absent; NULL: none. */
	const char *(*view_missing_submodule)(const struct git_view *v);

	/* Brings branches, tags and HEAD of `url` into the bare repository `db`, which is made if it is not there. stopped: asked now and then. */
	bool (*fetch)(const char *db, const char *url, bool (*stopped)(void), struct git_failure *error);
	/* The commit that a reference of `db` means; `name` is not used for GIT_REF_HEAD. */
	bool (*resolve)(const char *db, enum git_ref kind, const char *name, char commit[41], struct git_failure *error);
	/* Writes the files of a commit into the empty folder `below` ("" or "libs/sub") of `root`, and follows no link below `root`. */
	bool (*check_out)(const char *db, const char *commit, const char *root, const char *below, struct git_failure *error);
	/* The submodules of a commit that is checked out there, but for those with `update = none`. `url` is as .gitmodules has it, "" where it has none.
	 * False: the visitor returned false, which leaves *error empty, or *error. */
	bool (*submodules)(const char *db, const char *commit, const char *root, const char *below, git_submodule_visitor *visit, void *ctx,
			   struct git_failure *error);
};
#endif

/* The git module: a shared object linked against libgit2, opened only when a repository is needed. */
#ifndef TRIB_BUILDER_GIT_GIT_H
#define TRIB_BUILDER_GIT_GIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIT_ABI 4
#define GIT_ENTRY "trib_git"

enum git_problem {
	GIT_PROBLEM_NO_REPOSITORY,
	GIT_PROBLEM_OWNER, /* the repository belongs to another user and is not in safe.directory */
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
	char text[512]; /* libgit2's message, or a path */
};
struct git_view; /* the files of a commit, with paths relative to a folder of the work tree */
enum git_ref { GIT_REF_HEAD, GIT_REF_REV, GIT_REF_TAG, GIT_REF_BRANCH };
typedef void git_file_visitor(void *ctx, const char *path);
typedef bool git_submodule_visitor(void *ctx, const char *path, const char *url, const char *commit);

struct git_api {
	uint32_t abi;
	/* The commit of the repository around folder `dir`, as 40 hex digits, "" before the first one. *dirty: one of the files
	 * (relative to `dir`) differs from the commit. Files outside the repository are ignored. False: there is no repository, or it
	 * cannot be read. */
	bool (*describe)(const char *dir, const char *const *files, uint32_t n, char commit[41], bool *dirty);

	/* Opens revision `rev` of the repository around folder `dir`. `A...` and `A...B` mean the merge base of A and B (HEAD). Follows
	 * submodules into their repositories. NULL: *error. */
	struct git_view *(*view_open)(const char *dir, const char *rev, char commit[41], struct git_failure *error);
	void (*view_close)(struct git_view *v); /* NULL is accepted */
	/* Reads a file by its path from the view's folder; malloc'd, with a NUL at its end. False: the commit has no such file. */
	bool (*view_read)(struct git_view *v, const char *path, char **text, size_t *len);
	/* Visits all files below `folder`, with paths that begin with it ("": from the view's folder), in no order. */
	void (*view_files)(struct git_view *v, const char *folder, git_file_visitor *visit, void *ctx);
	bool (*view_has)(struct git_view *v, const char *path);
	/* True if the file on disk has the content of the commit's file. */
	bool (*view_matches_disk)(struct git_view *v, const char *path);
	/* Returns a submodule whose commit is missing, so that its files seem absent, or NULL. */
	const char *(*view_missing_submodule)(const struct git_view *v);

	/* Fetches branches, tags and HEAD of `url` into the bare repository `db`, and creates it if it is missing. Polls `stopped`. */
	bool (*fetch)(const char *db, const char *url, bool (*stopped)(void), struct git_failure *error);
	/* Finds the commit of a reference in `db`; `name` is not used for GIT_REF_HEAD. */
	bool (*resolve)(const char *db, enum git_ref kind, const char *name, char commit[41], struct git_failure *error);
	/* Writes the files of a commit into the empty folder `below` ("" or "libs/sub") of `root`. Follows no link below `root`. */
	bool (*check_out)(const char *db, const char *commit, const char *root, const char *below, struct git_failure *error);
	/* Visits the submodules of a commit that is checked out there, without those with `update = none`. `url` is the text in
	 * .gitmodules, or "". False: *error, which is empty if the visitor returned false. */
	bool (*submodules)(const char *db, const char *commit, const char *root, const char *below, git_submodule_visitor *visit, void *ctx,
			   struct git_failure *error);
};
#endif

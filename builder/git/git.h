/* The git module: a shared object linked against libgit2, opened only when a library is linked. */
#ifndef TRIB_BUILDER_GIT_GIT_H
#define TRIB_BUILDER_GIT_GIT_H
#include <stdbool.h>
#include <stdint.h>

#define GIT_ABI 1
#define GIT_ENTRY "trib_git"
struct git_api {
	uint32_t abi;
	/* The commit of the repository that folder `dir` is in, as 40 hex digits, "" before the first one; *dirty: one of the files (relative to `dir`)
	 * is not what that commit holds. Files outside the repository do not count. False: there is no repository, or it cannot be read. */
	bool (*describe)(const char *dir, const char *const *files, uint32_t n, char commit[41], bool *dirty);
};
#endif

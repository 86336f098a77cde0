/* Other repositories in the user's cache: <cache>/git/NAME-HASH.git is a bare copy, <cache>/git/NAME-HASH/COMMIT the files of a commit and
 * of its submodules. Files that are there are never written again, so that several processes can use them; one at a time adds some. A seal
 * (builder/deps/integrity.h) finds out sources that somebody changed, which are put back. */
#ifndef TRIB_BUILDER_DEPS_CHECKOUT_H
#define TRIB_BUILDER_DEPS_CHECKOUT_H
#include <stdbool.h>
#include "builder/git/git.h"

struct arena;
struct diags;
struct manifest;
struct options;
struct sources;

struct checkouts {
	struct arena *arena;
	const char *folder;        /* <cache>/git */
	bool offline, out_outside; /* out_outside: the user allows links out of projects */
	void (*report)(void *ctx, const char *what,
		       const char *of); /* what takes long or is unusual: "fetching", an address; may be NULL */
	void *ctx;
	const char *help;          /* what may mend the last failure; NULL: nothing is known */
	const struct git_api *git; /* NULL until it is needed */
};

/* In the cache that the manifest, the user and the options say. Nothing is opened yet. False: errors were reported. */
bool checkouts_open(struct checkouts *c, struct arena *a, struct sources *sources, const struct manifest *m, const struct options *o,
		    struct diags *diags);
/* The folder with the files of that commit, fetched if it must be. Absolute; in the arena. NULL: *error says why. */
const char *checkout_files(struct checkouts *c, const char *url, const char *commit, const char **error);
/* The commit that a reference means now, as the repository says; offline: as it said when it was fetched last. */
bool checkout_resolve(struct checkouts *c, const char *url, enum git_ref kind, const char *ref, char commit[41], const char **error);
/* A repository given relative to the one that `base` is ("": the current folder), as text. In `a`. */
const char *checkout_join(struct arena *a, const char *base, const char *url);
/* True if the address is neither a path nor file://. */
bool checkout_is_remote(const char *url);
#endif

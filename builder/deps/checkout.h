/* Repositories in the user's cache: <cache>/git/NAME-HASH.git is a bare copy, <cache>/git/NAME-HASH/COMMIT holds the files of a commit
 * and of its submodules. Several processes read them; one at a time adds some. Files are not written again, unless
 * integrity_holds finds changed sources. */
#ifndef TRIB_BUILDER_DEPS_CHECKOUT_H
#define TRIB_BUILDER_DEPS_CHECKOUT_H
#include <stdbool.h>
#include "builder/deps/lockfile.h"
#include "builder/git/git.h"

struct arena;
struct diags;
struct manifest;
struct options;
struct sources;

struct checkouts {
	struct arena *arena;
	const char *folder;                                          /* <cache>/git */
	bool offline, out_outside;                                   /* out_outside: the user allows links out of projects */
	void (*report)(void *ctx, const char *what, const char *of); /* progress: "fetching", an address; may be NULL */
	void *ctx;
	const char *help;          /* advice for the last failure, or NULL */
	const struct git_api *git; /* NULL until it is needed */
};

/* Finds the cache from manifest, user configuration and options. Opens nothing yet. False: errors were reported. */
bool checkouts_open(struct checkouts *c, struct arena *a, struct sources *sources, const struct manifest *m, const struct options *o,
		    struct diags *diags);
/* Returns the folder with the files of that commit, fetched if it is missing. An absolute path in the arena. NULL: *error is the reason. */
const char *checkout_files(struct checkouts *c, const char *url, const char *commit, const char **error);
/* Finds the commit of a reference in the repository; offline: in the mirror. False: *error is the reason. */
bool checkout_resolve(struct checkouts *c, const struct git_source *source, char commit[41], const char **error);

/* integrity.c. A small file beside the folder of a commit, the integrity record, holds a digest of the sources' stamps and one of their
 * contents. */

/* Links that were removed because they lead out of the folder, to nothing or in circles. */
struct outward_links {
	uint32_t n;
	const char *first; /* relative to the folder */
};
/* Makes the sources in `folder` read-only, removes outward links and writes `record`. False: errno. */
bool integrity_write(struct arena *scratch, const char *folder, const char *record, struct outward_links *removed);
/* True if the sources in `folder` are those of `record`. Reads sources only if a stamp changed; then updates the record. */
bool integrity_holds(struct arena *scratch, const char *folder, const char *record);

/* address.c: addresses of repositories are URLs, `host:path`, and local paths. */

/* True if the address is neither a path nor file://. */
bool address_is_remote(const char *url);
/* The address `url` as it is meant in a manifest of the repository `base` ("": the project). In `a`. */
const char *address_join(struct arena *a, const char *base, const char *url);
/* The address with a local path made absolute. In `a`. */
const char *address_absolute(struct arena *a, const char *url);
/* The local path of an address, or NULL if it is a URL or `host:path`. */
const char *address_local_path(const char *url);
#endif

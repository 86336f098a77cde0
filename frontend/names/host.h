/* What the front end gets from its caller, and what it reports of files: part of its public face, frontend/frontend.h. */
#ifndef TRIB_FRONTEND_NAMES_HOST_H
#define TRIB_FRONTEND_NAMES_HOST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"

struct frontend_host {
	/* The source at `path` (relative to the project root, normalised), adding it to the source map on first use; NULL if there is none. */
	const struct source *(*load)(void *ctx, const char *path);
	void *ctx;
};

/* Where the time went, nanoseconds, filled as the calls below are made. */
struct frontend_times {
	int64_t lex, parse, check, elaborate;
	uint64_t lines;
};

/* Files from elsewhere that others import by a name: `import NAME`, or `import "NAME/file.tri"`. A file beside the importing one goes first. */
struct frontend_dependency {
	const char *owner; /* the folder of the dependency whose files may name it; "": those that are of none */
	const char *name;
	const char *root;   /* all files below it are the dependency's */
	const char *folder; /* where the files are that can be named: root, or a folder below */
	const char *main;   /* the file that the bare name means; NULL: it has none */
	bool absent;        /* none of its files are here yet */
};

/* A definition, for incremental decisions and --explain. */
struct frontend_def {
	const char *file, *name; /* name: "DigitsNet", "main" */
	hash128 tokens;          /* over token kinds and texts: no white space, comments, positions */
	span at;
};
#endif

/* What the caller provides and learns about files. Part of the public interface, frontend/frontend.h. */
#ifndef TRIB_FRONTEND_NAMES_HOST_H
#define TRIB_FRONTEND_NAMES_HOST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"

struct frontend_host {
	/* The source at `path` (relative to the project root, normalised), adding it to the source map on first use; NULL if there is
	 * none. */
	const struct source *(*load)(void *ctx, const char *path);
	void *ctx;
};

/* Nanoseconds spent in each step. */
struct frontend_times {
	int64_t lex, parse, check, elaborate;
	uint64_t lines;
};

/* A dependency, whose files others import by its name: `import NAME`, `import "NAME/file.tri"`. A file beside the importing one takes
 * precedence. */
struct frontend_dependency {
	const char *owner; /* root of the dependency whose files may import it; "": the project's own files */
	const char *name;
	const char *root;   /* all files below it are the dependency's */
	const char *folder; /* of the files that can be imported: root, or a folder below */
	const char *main;   /* the file that the name alone imports; NULL: none */
	bool absent;        /* its files were not fetched yet */
};

/* A definition, for incremental builds and --explain. */
struct frontend_def {
	const char *file, *name; /* name: "DigitsNet", "main" */
	hash128 tokens;          /* hash of token kinds and texts, without white space, comments and positions */
	span at;
};
#endif

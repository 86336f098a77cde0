/* `trib check --fix`: applies the safe edits that diagnostics propose. */
#ifndef TRIB_BUILDER_BUILD_FIX_H
#define TRIB_BUILDER_BUILD_FIX_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/vec.h"

struct build_context;

struct fixed_file {
	char *path;
	uint32_t changes;
};
/* The files that were changed in all rounds so far. */
struct fixes {
	VEC(struct fixed_file) files;
};

/* After a check: applies edits to the project's sources and to the named files; never to the standard library, nor above the project's
 * folder. Returns the number of edits, counted in f. A file that cannot be written is reported. With --diff the changes are only
 * printed. */
uint32_t fix_sources(struct build_context *c, struct fixes *f);
/* Prints a line for each file, and frees the list. */
void fixes_print(struct fixes *f, bool json, FILE *out);
#endif

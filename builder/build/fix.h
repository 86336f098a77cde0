/* `trib check --fix`: makes the sure edits of the diagnostics in the files that they are about. */
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
/* What was changed so far, over all rounds. */
struct fixes {
	VEC(struct fixed_file) files;
};

/* After a check: rewrites the project's sources, and those that were named, where edits are sure. Never the standard library's, nor files above the
 * project's folder. How many edits were made, counted in f; a file that cannot be written is reported. With --diff the changes are only printed. */
uint32_t fix_sources(struct build_context *c, struct fixes *f);
/* A line for each file, and frees the list. */
void fixes_print(struct fixes *f, bool json, FILE *out);
#endif

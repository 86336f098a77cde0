/* The files that `trib new` and `trib init` write. */
#ifndef TRIB_BUILDER_CLI_NEW_PROJECT_H
#define TRIB_BUILDER_CLI_NEW_PROJECT_H
#include <stdbool.h>
#include "builder/build/build.h"

struct arena;
struct options;

/* Returns the C identifier of a project's name: my_net for `my-net`. NULL: the name cannot be one; *why is in `a`. */
const char *project_identifier(struct arena *a, const char *name, const char **why);
/* Writes a manifest into the current folder, and a source and a test if there are none. Prints what it wrote, or an error. */
enum status project_write(struct arena *a, const char *name, const char *identifier, const struct options *o);
#endif

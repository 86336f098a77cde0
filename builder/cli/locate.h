/* Where a command works: the manifest's folder is the current one or the nearest above it. */
#ifndef TRIB_BUILDER_CLI_LOCATE_H
#define TRIB_BUILDER_CLI_LOCATE_H
#include <stdbool.h>

struct arena;
struct args;

/* Changes to the folder that --directory names, and from there to that of the nearest manifest above, if the command works on a project. Paths of the
 * command line stay those of the folder that it was given in. False: told on stderr. */
bool locate(struct arena *a, struct args *args);
#endif

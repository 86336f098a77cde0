/* Changes to the folder that a command works in. */
#ifndef TRIB_BUILDER_CLI_LOCATE_H
#define TRIB_BUILDER_CLI_LOCATE_H
#include <stdbool.h>

struct arena;
struct args;

/* Changes to the folder of --directory. If the command works on a project, then changes to the nearest folder above with a manifest.
 * Relative paths of the command line are adjusted. False: an error was printed. */
bool change_to_project(struct arena *a, struct args *args);
#endif

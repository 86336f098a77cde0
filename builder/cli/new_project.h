/* The small project that `trib new` and `trib init` write. */
#ifndef TRIB_BUILDER_CLI_NEW_PROJECT_H
#define TRIB_BUILDER_CLI_NEW_PROJECT_H
#include <stdbool.h>
#include "builder/build/build.h"

struct arena;
struct options;

/* The C identifier that a project's name becomes: `my-net` is my_net. NULL: it cannot be one, *why says why (in `a`). */
const char *project_identifier(struct arena *a, const char *name, const char **why);
/* Writes the project into the current folder: a manifest, and where there are none sources and a test. Reports what it made, or what went wrong. */
enum status project_write(struct arena *a, const char *name, const char *identifier, const struct options *o);
#endif

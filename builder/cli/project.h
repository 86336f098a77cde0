/* Reads the manifest of the current folder, for commands that only read it, and writes a new one. */
#ifndef TRIB_BUILDER_CLI_PROJECT_H
#define TRIB_BUILDER_CLI_PROJECT_H
#include <stdbool.h>
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;
struct cache_config;
struct options;

/* Reads tri.build. If not STATUS_OK, errors were printed on stderr. */
enum status project_read(struct arena *session, const struct options *o, struct build_spec *out);
/* Reads tri.build as far as possible, without errors. Never NULL. */
struct manifest;
const struct manifest *project_manifest(struct arena *session);
/* Reads the settings of the cache and the server, with tri.build or without one. If not STATUS_OK, errors were printed on stderr. */
enum status project_cache_config(struct arena *session, const struct options *o, struct cache_config *out);

/* new_project.c, for `trib new` and `trib init`. Returns the C identifier of a project's name: my_net for `my-net`. NULL: the name cannot be one; *why is in `a`. */
const char *project_identifier(struct arena *a, const char *name, const char **why);
/* Writes a manifest into the current folder, and a source and a test if there are none. Prints what it wrote, or an error. */
enum status project_write(struct arena *a, const char *name, const char *identifier, const struct options *o);
#endif

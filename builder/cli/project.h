/* The manifest of the current folder, for commands that only look at it. */
#ifndef TRIB_BUILDER_CLI_PROJECT_H
#define TRIB_BUILDER_CLI_PROJECT_H
#include <stdbool.h>
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;
struct cache_config;
struct options;

/* Reads tri.build. Not STATUS_OK: errors were printed on stderr. */
enum status project_read(struct arena *session, const struct options *o, struct build_spec *out);
/* What tri.build says, as far as it can be read; nothing is reported. Never NULL. */
struct manifest;
const struct manifest *project_manifest(struct arena *session);
/* How the cache and the server are configured here, with tri.build or without one. Not STATUS_OK: errors were printed on stderr. */
enum status project_cache_config(struct arena *session, const struct options *o, struct cache_config *out);
#endif

/* The settings of the user's cache and of servers, and where each comes from. */
#ifndef TRIB_BUILDER_CACHE_CONFIG_H
#define TRIB_BUILDER_CACHE_CONFIG_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/cache/cache.h"
#include "builder/manifest/manifest.h"

struct arena;
struct diags;
struct options;
struct sources;

enum cache_setting {
#define SETTING(id, ...) SETTING_##id,
#include "builder/cache/settings.def"
	SETTINGS
};
enum setting_origin { ORIGIN_DEFAULT, ORIGIN_USER, ORIGIN_PROJECT, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

struct setting {
	const char *text; /* as written, or the default */
	uint64_t number;  /* as parsed by manifest_value; 0: no limit */
	enum setting_origin origin;
	const char *where; /* "tri.build:12", "TRIB_CACHE_SIZE", "--cache-dir"; "" for a default */
};
struct cache_config {
	struct setting at[SETTINGS];
};

/* Reads all settings from their sources. `project`: its manifest, or NULL. Files that are read are added to `sources`. Memory in `a`.
 * False: errors were reported. */
bool cache_config_read(struct arena *a, struct sources *sources, const struct manifest *project, const struct options *o,
		       struct cache_config *out, struct diags *diags);
/* The options for cache_open. The folder's name is in `a`. */
struct cache_options cache_config_options(struct arena *a, const struct cache_config *c);

/* True if the value is valid in the user's file; otherwise reports why not. */
bool cache_config_check(struct arena *a, struct sources *sources, enum cache_setting s, const char *value, struct diags *diags);
/* The user's file: $XDG_CONFIG_HOME/trib/config or ~/.config/trib/config; NULL if there is no home. */
const char *cache_config_path(struct arena *a);
/* The default root of the cache: $XDG_CACHE_HOME/trib, ~/.cache/trib, or the project's own folder if there is no home. */
const char *cache_default_dir(struct arena *a);
const char *cache_setting_block(enum cache_setting s);    /* "cache" */
const char *cache_setting_key(enum cache_setting s);      /* "max_size" */
const char *cache_setting_variable(enum cache_setting s); /* "TRIB_CACHE_SIZE" */
const char *cache_setting_help(enum cache_setting s);
/* Returns the block of "cache.max_size", of "max_size" that of the cache, and leaves the key in it in *key. */
enum manifest_block_kind cache_setting_split(const char **key);
/* Returns the setting of such a key, or of a foreign word for it; SETTINGS: none. */
enum cache_setting cache_setting_find(const char *key);
const char *setting_origin_text(enum setting_origin o);
#endif

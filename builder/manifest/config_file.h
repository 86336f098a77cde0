/* Changes one value of the user's configuration. Comments and order stay. */
#ifndef TRIB_BUILDER_MANIFEST_CONFIG_FILE_H
#define TRIB_BUILDER_MANIFEST_CONFIG_FILE_H
#include <stdbool.h>

struct buf;

/* Appends `text` with `key = value` in its block `block`; value NULL: without that line. */
void config_set_text(const char *text, const char *block, const char *key, const char *value, struct buf *out);
/* Does the same with the file at `path`; creates it if it is missing, and replaces it atomically. False: errno. */
bool config_set_file(const char *path, const char *block, const char *key, const char *value);
#endif

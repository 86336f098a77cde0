/* Changing one value of the user's configuration: its comments and its order stay. */
#ifndef TRIB_BUILDER_MANIFEST_CONFIG_FILE_H
#define TRIB_BUILDER_MANIFEST_CONFIG_FILE_H
#include <stdbool.h>

struct buf;

/* The text with `key = value` in its block `block`; value NULL: without that line. */
void config_set_text(const char *text, const char *block, const char *key, const char *value, struct buf *out);
/* The same with the file at `path`, which is made if need be and replaced whole. False: errno. */
bool config_set_file(const char *path, const char *block, const char *key, const char *value);
#endif

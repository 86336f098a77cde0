/* Reading JSON of any origin with jansson. Its size, its depth and the number of its values are bounded before jansson allocates memory for them. */
#ifndef TRIB_BUILDER_JSON_READ_H
#define TRIB_BUILDER_JSON_READ_H
#include <jansson.h>
#include <stddef.h>

struct buf;

#define JSON_MOST_BYTES ((size_t)256 << 20)
#define JSON_MOST_VALUES ((size_t)16 << 20) /* jansson needs up to 130 bytes for one */
#define JSON_MOST_DEPTH 100

/* `flags` are those of json_loadb. NULL: *why (NULL: not wanted) gets "line 3, column 7: what is wrong there, or the limit". Released with
 * json_decref. */
json_t *json_read(const char *text, size_t len, size_t flags, struct buf *why);
#endif

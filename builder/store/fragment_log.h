/* What the units of one model compiled to in its last builds: a file in the project, so that an edit finds the fragments of all other units even if
 * the user's cache is off, cleared or full. Fragments are used where they lie in the mapped file. Damage is a miss. One build of a project at a time
 * writes it; a process that is killed while it appends leaves whole records. */
#ifndef TRIB_BUILDER_STORE_FRAGMENT_LOG_H
#define TRIB_BUILDER_STORE_FRAGMENT_LOG_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"

struct buf;
struct fragment_log;

/* Opens the log `id` in the folder. A log that is missing or cannot be read is empty. Never NULL. */
struct fragment_log *fragment_log_open(const char *folder, hash128 id);
/* The fragment, 16-byte aligned, valid until the log is closed; NULL: the log has none, or it is damaged. `l` may be NULL. */
const void *fragment_log_find(struct fragment_log *l, hash128 key, size_t *len);
/* Keeps the fragment. The bytes of a new one must stay until the log is written. */
void fragment_log_keep(struct fragment_log *l, hash128 key, const void *bytes, size_t len);
/* Writes the new fragments. `is_whole`: everything in use was found or kept, so the oldest of the others may be dropped. False: the write failed;
 * `warning` says why. `l` may be NULL. */
bool fragment_log_write(struct fragment_log *l, bool is_whole, struct buf *warning);
void fragment_log_close(struct fragment_log *l); /* NULL is accepted */
#endif

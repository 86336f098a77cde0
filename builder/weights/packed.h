/* Packed weights in the file that will contain them, a library or a .triw. They are written piece by piece from any thread, so memory
 * never holds them all. */
#ifndef TRIB_BUILDER_WEIGHTS_PACKED_H
#define TRIB_BUILDER_WEIGHTS_PACKED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backend/link/model/model.h"
#include "backend/runtime/abi/triw.h"

struct packed;

/* Opens a new file `path` with room for w's blobs from byte `at` on. It has no name before it is published. NULL: errno. */
struct packed *packed_open(const char *path, uint64_t at, unsigned mode, struct model_weights *weights);
/* Blobs with these keys can be copied from an earlier file. NULL entries: a .triw file, which has its own table. Skips invalid entries. */
void packed_reuse(struct packed *p, const char *path, const struct triw_entry *entries, uint32_t n);
/* The same of another file, which has all its blobs and outlives p. */
void packed_share(struct packed *p, struct packed *from);

/* Copies the blob from another file. False: none has it, it is damaged there, or the copy failed. Thread-safe, as packed_write is. */
bool packed_find(struct packed *p, struct model_blob *b);
/* Writes the next n bytes of a blob, from its byte `at` on. One thread at a time writes a blob. False: *error. */
bool packed_write(struct packed *p, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error);
/* True if a write failed. NULL is accepted. */
bool packed_failed(const struct packed *p);

/* Once all blobs are written: gives equal ones the same offset, closes the gaps, and sets w->size. False: errno. */
bool packed_merge(struct packed *p);
/* The blobs' places in the file. In `a`. */
struct triw_entry *packed_table(struct arena *a, const struct packed *p);
/* Maps the weights; valid until p is closed. NULL: errno. */
const char *packed_map(struct packed *p);
/* Adds what surrounds the weights, and gives the file its name unless the file there has the same content: the first `before` bytes of `text`
 * are its start, the others follow `gap` bytes later. False: errno. */
bool packed_publish(struct packed *p, const void *text, size_t len, size_t before, uint64_t gap);
/* Removes a file that was not published. NULL is accepted. */
void packed_close(struct packed *p);

/* Returns the table of a .triw file whose header and offsets are valid; else NULL. */
const struct triw_entry *triw_read_table(const void *bytes, size_t size, uint32_t *n);
#endif

/* Writes a model's weight file (backend/runtime/triw.h) tensor by tensor, from any thread. The name contains a digest of the content. So
 * a build that is killed between two renames leaves the old library with its old file. */
#ifndef TRIB_BUILDER_WEIGHTS_TRIW_H
#define TRIB_BUILDER_WEIGHTS_TRIW_H
#include <stdbool.h>
#include "backend/link/model.h"

struct arena;
struct triw;

/* Gives the blobs their offsets and w->file its name, and opens the file in folder `out` for writing. Equal tensors are copied from
 * `earlier`, an unchanged file of the model (NULL: none), or that file is used as it is. Memory in `a`. NULL: errno says why. */
struct triw *triw_create(struct arena *a, const char *out, const char *model, struct model_weights *w, const char *earlier);
/* The path of the finished file. */
const char *triw_path(const struct triw *t);
/* Functions of struct weight_host; `t` is the struct triw. Thread-safe. */
bool triw_find(void *t, struct model_blob *b);
bool triw_put(void *t, struct model_blob *b, const void *bytes, const char **error);
/* True if a write failed. NULL is accepted. */
bool triw_failed(const struct triw *t);
/* Publishes the file, which has all its tensors. False: errno. */
bool triw_finish(struct triw *t);
/* Frees it, and removes an unfinished file. NULL is accepted. */
void triw_close(struct triw *t);
/* Removes the model's weight files in `out` except the one at path `keep` (NULL: all). */
void triw_sweep(struct arena *a, const char *out, const char *model, const char *keep);
#endif

/* Writing a model's weight file (backend/runtime/triw.h) tensor by tensor, from any thread. Its name tells its content, so a library and the file it
 * was linked with are replaced by renames that no kill can come between: the old library keeps its old file until the new one stands. */
#ifndef TRIB_BUILDER_WEIGHTS_TRIW_H
#define TRIB_BUILDER_WEIGHTS_TRIW_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/model.h"

struct arena;
struct triw;

/* Gives the blobs their offsets and w->file its name, and opens the file in folder `out` for writing. `earlier`: a file of the model that is as it was
 * written; equal tensors are copied from it, or it is this very one. NULL: there is none. Fails with NULL: errno says why. Memory in `a`. */
struct triw *triw_create(struct arena *a, const char *out, const char *model, struct model_weights *w, const char *earlier);
/* The path it will have. */
const char *triw_path(const struct triw *t);
/* For struct weight_host, with the triw as ctx. Thread-safe. */
bool triw_find(void *t, struct model_blob *b);
bool triw_keep(void *t, struct model_blob *b, const void *bytes, const char **error);
/* Could something not be written? That is nobody's source's fault. NULL is accepted. */
bool triw_failed(const struct triw *t);
/* Everything is there: publishes the file. False: errno. */
bool triw_finish(struct triw *t);
/* Frees; what was not finished is removed. NULL is accepted. */
void triw_close(struct triw *t);
/* Removes the model's weight files in `out` but the one at path `keep` (NULL: all). */
void triw_sweep(struct arena *a, const char *out, const char *model, const char *keep);
#endif

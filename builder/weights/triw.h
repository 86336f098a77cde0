/* A model's weight file (backend/runtime/abi/triw.h). Its name contains a digest of the content. So a build that is killed between two renames
 * leaves the old library with its old file. */
#ifndef TRIB_BUILDER_WEIGHTS_TRIW_H
#define TRIB_BUILDER_WEIGHTS_TRIW_H
#include <stdbool.h>
#include "backend/link/model/model.h"

struct arena;
struct packed;
struct triw;

/* Names the file in folder `out` for weights, sets weights->file, and opens it for writing. Blobs are copied from `earlier`, an unchanged file of the
 * model (NULL: none). If that file has all of them, it is used as it is. Memory in `a`. NULL: errno says why. */
struct triw *triw_create(struct arena *a, const char *out, const char *model, struct model_weights *weights, const char *earlier);
/* The path of the finished file. */
const char *triw_path(const struct triw *t);
/* Where the blobs are written. NULL: the earlier file has them all. */
struct packed *triw_packed(const struct triw *t);
/* Publishes the file, which has all its blobs, and sets its size in w->file. False: errno. */
bool triw_finish(struct triw *t);
/* Frees it, and removes an unfinished file. NULL is accepted. */
void triw_close(struct triw *t);
/* Removes the model's weight files in `out` except those at the n paths `keep`, which may be NULL. */
void triw_sweep(struct arena *a, const char *out, const char *model, const char *const *keep, uint32_t n);
#endif

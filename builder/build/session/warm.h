/* Front ends with their sources, which a build leaves to the next one: frontend_refresh makes them current. */
#ifndef TRIB_BUILDER_BUILD_SESSION_WARM_H
#define TRIB_BUILDER_BUILD_SESSION_WARM_H
#include <stddef.h>
#include "base/hash.h"

struct frontend;
struct source;
struct sources;
struct warm;

struct warm *warm_new(void);
void warm_free(struct warm *w); /* NULL is accepted */
/* Before a build: the sources of all builds. The build adds its own. All is dropped here once it has grown too large. */
struct sources *warm_begin(struct warm *w);
/* Like sources_add_owned, but the same text at the same path is the same source as before. */
const struct source *warm_source(struct warm *w, const char *path, char *text, size_t len);
/* The front end of the model, now the caller's, with the digest of the list of its files. NULL: none. */
struct frontend *warm_take(struct warm *w, const char *model, hash128 *files);
/* Takes over the front end of a build without diagnostics. */
void warm_put(struct warm *w, const char *model, hash128 files, struct frontend *f);
#endif

/* The front ends that builds of one process leave to the next ones, with the texts that they were made from: frontend_refresh makes them current. */
#ifndef TRIB_BUILDER_BUILD_WARM_H
#define TRIB_BUILDER_BUILD_WARM_H
#include <stddef.h>
#include "base/hash.h"
#include "base/source.h"

struct frontend;
struct warm;

struct warm *warm_new(void);
void warm_free(struct warm *w); /* NULL is accepted */
/* Before a build: the sources of all builds, to which it adds its own. What has grown out of proportion is dropped here. */
struct sources *warm_begin(struct warm *w);
/* As sources_take, but the same text of the same path is the same source as before. */
const struct source *warm_source(struct warm *w, const char *path, char *text, size_t len);
/* The front end that was put there under the model's name, with the digest of its files, which is the caller's from now on. NULL: none. */
struct frontend *warm_take(struct warm *w, const char *model, hash128 *files);
/* Of a build that reported nothing; the warm state's from now on. */
void warm_put(struct warm *w, const char *model, hash128 files, struct frontend *f);
#endif

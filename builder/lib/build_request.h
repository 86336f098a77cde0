/* The options of a build as a request to its process: the words of a command line. */
#ifndef TRIB_BUILDER_LIB_BUILD_REQUEST_H
#define TRIB_BUILDER_LIB_BUILD_REQUEST_H
#include "builder/lib/tri_build.h"

struct arena;
struct buf;

/* Returns the first error in the options as a sentence, in `a`, or NULL. */
const char *build_request_check(const tri_build_options *o, struct arena *a);
/* Appends the words, a zero byte after each. profile_path NULL: no profile. */
void build_request_put(const tri_build_options *o, const char *profile_path, struct buf *out);
#endif

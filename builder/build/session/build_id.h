/* The id of this build of trib: a digest of the libraries that both the command and libtrib.so are linked from. Each uses the other's
 * fragments only if the ids are equal. */
#ifndef TRIB_BUILDER_BUILD_SESSION_BUILD_ID_H
#define TRIB_BUILDER_BUILD_SESSION_BUILD_ID_H
#include "base/hash.h"

/* Zero in programs without an id, such as unit tests. */
hash128 build_id(void);
#endif

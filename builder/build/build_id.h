/* Which build of trib this is: a digest of the libraries that both the command and libtrib.so are linked from, so that neither takes what the other made for its
 * own unless they are of one build. */
#ifndef TRIB_BUILDER_BUILD_BUILD_ID_H
#define TRIB_BUILDER_BUILD_BUILD_ID_H
#include "base/hash.h"

/* Zero in programs that are not linked with one, such as unit tests. */
hash128 build_id(void);
#endif

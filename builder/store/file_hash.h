/* Content hashes of files that seldom change, remembered by stamp in the project's store. */
#ifndef TRIB_BUILDER_STORE_FILE_HASH_H
#define TRIB_BUILDER_STORE_FILE_HASH_H
#include "base/hash.h"

struct inputs;
struct store;

/* Records the file as an input, too. Zero: it is absent. `project` may be NULL. */
hash128 file_hash(struct store *project, struct inputs *in, const char *path);
#endif

/* Content hashes of files that seldom change. The project's store remembers them with the files' stamps. */
#ifndef TRIB_BUILDER_STORE_FILE_HASH_H
#define TRIB_BUILDER_STORE_FILE_HASH_H
#include "base/hash.h"

struct inputs;
struct store;

/* Returns the hash, zero if the file is absent, and records the file as an input. `project` may be NULL. */
hash128 file_hash(struct store *project, struct inputs *in, const char *path);
#endif

/* Paths as text. Nothing here touches the disk. */
#ifndef TRIB_BASE_PATH_H
#define TRIB_BASE_PATH_H
#include <stdbool.h>

struct arena;
/* a/b; b alone if it is absolute or a is "" or ".". */
char *path_join(struct arena *a, const char *dir, const char *name);
/* Directory part ("." if none); last component; last component without its extension. */
char *path_dir(struct arena *a, const char *path);
const char *path_base(const char *path);
char *path_stem(struct arena *a, const char *path);
/* True if the path ends with `.extension` after at least one character. */
bool path_has_extension(const char *path, const char *extension);
/* Folds "//", "." and "x/..". */
char *path_normal(struct arena *a, const char *path);
#endif

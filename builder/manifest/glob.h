/* File patterns of the manifest: `*`, `?` and `[…]` in one name, `**` for any number of folders. */
#ifndef TRIB_BUILDER_MANIFEST_GLOB_H
#define TRIB_BUILDER_MANIFEST_GLOB_H
#include <stdbool.h>
#include <stdint.h>

struct arena;

bool glob_is_pattern(const char *text);
/* Returns the regular files that match, in byte order of their paths. Hidden names match only a pattern that starts with a dot. Memory
 * in `a`. */
const char *const *glob_expand(struct arena *a, const char *pattern, uint32_t *n);
/* The same for a pattern relative to the folder `dir`. */
const char *const *glob_expand_in(struct arena *a, const char *dir, const char *pattern, uint32_t *n);
/* True if the path matches; the file need not exist. Neither text may have `..` where the other has a pattern. */
bool glob_matches(const char *pattern, const char *path);
/* Calls `visit` for each folder that is searched, with the name or pattern that its entries must match; "**": all folders.
 * `last`: matches are files, not folders to search. Memory in `a`. */
typedef void glob_visitor(void *ctx, const char *folder, const char *part, bool last);
void glob_visit(struct arena *a, const char *pattern, glob_visitor *visit, void *ctx);
/* Returns the folder with all matches, or NULL if they can be in several. */
const char *glob_folder(struct arena *a, const char *pattern);
#endif

/* File patterns of the manifest: `*`, `?` and `[…]` within a folder's names, `**` for any number of folders. */
#ifndef TRIB_BUILDER_MANIFEST_GLOB_H
#define TRIB_BUILDER_MANIFEST_GLOB_H
#include <stdbool.h>
#include <stdint.h>

struct arena;

bool glob_is_pattern(const char *text);
/* The regular files that match, in byte order of their paths; hidden names only by a pattern that starts with a dot. Memory in `a`. */
const char *const *glob_expand(struct arena *a, const char *pattern, uint32_t *n);
/* The same for a pattern that starts at folder `dir`, which is no pattern itself. */
const char *const *glob_expand_in(struct arena *a, const char *dir, const char *pattern, uint32_t *n);
/* Would the file be among them? For files that are not on disk; neither text may hold `..` where the other holds a pattern. */
bool glob_matches(const char *pattern, const char *path);
/* Calls `visit` for each folder that is looked into for matches, with what its entries are matched against: a name or a pattern; "**": all folders.
 * `last`: a match is a file that the pattern means, not a folder on the way to one. Memory in `a`. */
typedef void glob_visitor(void *ctx, const char *folder, const char *part, bool last);
void glob_visit(struct arena *a, const char *pattern, glob_visitor *visit, void *ctx);
/* The one folder whose listing decides the matches, or NULL if several do. */
const char *glob_folder(struct arena *a, const char *pattern);
#endif

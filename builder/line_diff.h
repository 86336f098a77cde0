/* The difference of two texts by lines, as `diff -u` prints it. */
#ifndef TRIB_BUILDER_LINE_DIFF_H
#define TRIB_BUILDER_LINE_DIFF_H
#include <stddef.h>

struct buf;

/* Appends headers for `name` and the hunks; nothing where the texts are equal. Texts that differ much are shown as one replaced hunk. */
void line_diff(const char *name, const char *before, size_t n_before, const char *after, size_t n_after, struct buf *out);
#endif

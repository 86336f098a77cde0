/* The difference of two texts by lines, as `diff -u` prints it. */
#ifndef TRIB_BASE_LINE_DIFF_H
#define TRIB_BASE_LINE_DIFF_H
#include <stddef.h>
#include "base/vec.h"

struct buf;

/* A change: the bytes from … to of the first text become the bytes new_from … new_to of the second. Whole lines. */
struct line_change {
	size_t from, to, new_from, new_to;
};
struct line_changes { /* in order; vec_free(&c.at) */
	VEC(struct line_change) at;
};
struct line_changes line_changes(const char *before, size_t n_before, const char *after, size_t n_after);

/* Appends headers for `name` and the hunks; nothing if the texts are equal. Very different texts become one hunk. */
void line_diff(const char *name, const char *before, size_t n_before, const char *after, size_t n_after, struct buf *out);
#endif

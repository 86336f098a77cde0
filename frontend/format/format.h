/* The canonical layout of a source: 4 spaces, one statement per line, at most FORMAT_WIDTH columns where tokens allow it. Comments, the
 * spelling of literals and single blank lines are preserved. Only optional commas and `;` are added or removed. */
#ifndef TRIB_FRONTEND_FORMAT_FORMAT_H
#define TRIB_FRONTEND_FORMAT_FORMAT_H
#include <stdbool.h>

struct ast;
struct buf;
struct diags;
struct source;

#define FORMAT_WIDTH 100

/* Appends the formatted text to *out. False: syntax errors were reported, and nothing was appended. Formatting is idempotent. */
bool format_source(const struct source *src, struct buf *out, struct diags *d);
/* The same for a tree that was parsed without errors. */
void format_ast(const struct ast *t, struct buf *out);
/* True if two trees have the same nodes and tokens, except for positions, optional commas and `;`. */
bool format_same(const struct ast *a, const struct ast *b);
#endif

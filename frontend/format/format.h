/* The canonical layout of a source: 4 spaces, lines of at most FORMAT_WIDTH columns where tokens allow it, one statement a line. Comments, the
 * spelling of literals and single blank lines stay; only optional commas and `;` come and go. */
#ifndef TRIB_FRONTEND_FORMAT_FORMAT_H
#define TRIB_FRONTEND_FORMAT_FORMAT_H
#include <stdbool.h>

struct ast;
struct buf;
struct diags;
struct source;

#define FORMAT_WIDTH 100

/* Appends the formatted text to *out. False: syntax errors were reported and nothing was appended. Formatting the result changes nothing. */
bool format_source(const struct source *src, struct buf *out, struct diags *d);
/* The same from a tree that was parsed without errors. */
void format_ast(const struct ast *t, struct buf *out);
/* Do two trees mean the same but for positions: the same nodes over the same tokens, optional commas and `;` aside? */
bool format_same(const struct ast *a, const struct ast *b);
#endif

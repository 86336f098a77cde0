/* Tokens and trees as text, for --dump-tokens, --dump-ast and golden tests. */
#ifndef TRIB_FRONTEND_SYNTAX_DUMP_H
#define TRIB_FRONTEND_SYNTAX_DUMP_H

struct ast;
struct buf;
struct tokens;

/* One token a line: "LINE:COL KIND text", with ⏎ before the kind where a newline precedes it. */
void dump_tokens(const struct tokens *t, struct buf *out);
/* S-expressions, a node a line, indented. */
void dump_ast(const struct ast *t, struct buf *out);
#endif

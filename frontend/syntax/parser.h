/* Tokens to syntax tree. */
#ifndef TRIB_FRONTEND_SYNTAX_PARSER_H
#define TRIB_FRONTEND_SYNTAX_PARSER_H
#include <stdbool.h>
#include "frontend/syntax/token.h"

struct ast;
struct diags;

/* Nesting deeper than this is an error (E0120), as are longer chains of operators. */
#define PARSE_MAX_NESTING 1000

/* How tightly a binary operator binds, more for tighter; 0: it is none, or `**`, which binds tighter than the unary ones. */
unsigned operator_level(enum token_kind k);

/* Takes the tokens over and fills *out (ast_free it), also where there are errors. False: errors were reported. */
bool parse(struct tokens *tokens, struct ast *out, struct diags *d);
/* lex and parse. */
bool parse_source(const struct source *src, struct ast *out, struct diags *d);
#endif

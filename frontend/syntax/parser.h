/* Tokens to syntax tree. */
#ifndef TRIB_FRONTEND_SYNTAX_PARSER_H
#define TRIB_FRONTEND_SYNTAX_PARSER_H
#include <stdbool.h>
#include "frontend/syntax/token.h"

struct ast;
struct diags;

/* Nesting deeper than this is an error (E0120), as are longer chains of operators. */
#define PARSE_MAX_NESTING 1000

/* Precedence of a binary operator, higher for tighter. 0: no binary operator, or `**`, which binds tighter than unary operators. */
unsigned operator_level(enum token_kind k);

/* Takes ownership of the tokens and fills *out (free it with ast_free), even after errors. False: errors were reported. */
bool parse(struct tokens *tokens, struct ast *out, struct diags *d);
/* lex, then parse. */
bool parse_source(const struct source *src, struct ast *out, struct diags *d);
#endif

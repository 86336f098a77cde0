/* Source text to tokens. */
#ifndef TRIB_FRONTEND_SYNTAX_LEXER_H
#define TRIB_FRONTEND_SYNTAX_LEXER_H
#include <stdbool.h>

struct diags;
struct source;
struct tokens;

/* Fills *out (tokens_free it); it always ends in TOK_EOF. False: errors were reported; what they cover is a TOK_ERROR or skipped. */
bool lex(const struct source *src, struct tokens *out, struct diags *d);
#endif

/* Source text to tokens. */
#ifndef TRIB_FRONTEND_SYNTAX_LEXER_H
#define TRIB_FRONTEND_SYNTAX_LEXER_H
#include <stdbool.h>

struct diags;
struct source;
struct tokens;

/* Fills *out (free it with tokens_free); the last token is TOK_EOF. False: errors were reported; their text is a TOK_ERROR or skipped. */
bool lex(const struct source *src, struct tokens *out, struct diags *d);
#endif

/* Values of literal tokens. The lexer has checked their form, so only a size can be wrong. */
#ifndef TRIB_FRONTEND_SYNTAX_LITERAL_H
#define TRIB_FRONTEND_SYNTAX_LITERAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/syntax/token.h"

struct arena;

/* The value of a TOK_INT. False: over 2^64 - 1. Its sign is a UNARY node. */
bool literal_int(const struct tokens *t, token_id i, uint64_t *v);
/* The value of a TOK_FLOAT or TOK_INT as a float, correctly rounded; infinity if it is too large. */
double literal_float(const struct tokens *t, token_id i);
/* The text of a TOK_STRING or a TOK_FSTR_*, with escapes (and {{ }}) decoded, NUL-terminated; *n: its length. */
const char *literal_string(const struct tokens *t, token_id i, struct arena *a, size_t *n);
#endif

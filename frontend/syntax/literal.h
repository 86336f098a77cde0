/* Values of literal tokens. The lexer has checked their form, so these fail only on size. */
#ifndef TRIB_FRONTEND_SYNTAX_LITERAL_H
#define TRIB_FRONTEND_SYNTAX_LITERAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/syntax/token.h"

struct arena;

/* TOK_INT. False: over 2^64 - 1. The sign is a UNARY around it. */
bool literal_int(const struct tokens *t, token_id i, uint64_t *v);
/* TOK_FLOAT, or TOK_INT as a float; correctly rounded. Infinity where it is too large. */
double literal_float(const struct tokens *t, token_id i);
/* TOK_STRING, or one text of an f-string (TOK_FSTR_*: {{ and }} undone), escapes decoded, NUL-terminated, its length into *n. */
const char *literal_string(const struct tokens *t, token_id i, struct arena *a, size_t *n);
#endif

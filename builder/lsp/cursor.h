/* The tokens around the cursor, also of text that does not parse. */
#ifndef TRIB_BUILDER_LSP_CURSOR_H
#define TRIB_BUILDER_LSP_CURSOR_H
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "frontend/syntax/token.h"

struct cursor {
	struct sources *sources;
	struct diags *trash;
	struct tokens tokens;
	token_id at; /* the first token that ends behind the offset */
};
void cursor_open(struct cursor *c, const char *text, size_t len, size_t offset);
void cursor_close(struct cursor *c);

/* Puts a name where one may be missing: text that shows to the front end, whose parser recovers from the rest, what could stand at the offset.
 * *asked is where that name is in it. False: no name can stand there (a comment, a string, a number). */
bool cursor_probe(const char *text, size_t len, size_t offset, struct buf *out, size_t *asked);

/* The call whose arguments the cursor is among. */
struct cursor_call {
	token_id callee;   /* the name before the bracket */
	uint32_t argument; /* its number */
	token_id name;     /* of a named argument, or TOKEN_NONE */
	bool fresh;        /* nothing but the cursor's name stands in the argument */
};
bool cursor_call(const struct cursor *c, struct cursor_call *out);
#endif

/* The tokens around the cursor, also in text that does not parse. */
#ifndef TRIB_BUILDER_LSP_CURSOR_H
#define TRIB_BUILDER_LSP_CURSOR_H
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "frontend/syntax/token.h"

struct cursor {
	struct sources *sources;
	struct diags *ignored;
	struct tokens tokens;
	token_id at; /* the first token that ends behind the offset */
};
void cursor_open(struct cursor *c, const char *text, size_t len, size_t offset);
void cursor_close(struct cursor *c);

/* Completes the text with a name at the offset, so that the parser and the checker find a name there. *name_at: where it starts.
 * False: no name can be there, as in a comment, a string or a number. */
bool cursor_insert_name(const char *text, size_t len, size_t offset, struct buf *out, size_t *name_at);

/* The innermost call whose argument list contains the cursor. */
struct cursor_call {
	token_id callee;   /* the name before the bracket */
	uint32_t argument; /* its number */
	token_id name;     /* of a named argument, or TOKEN_NONE */
	bool is_empty;     /* the argument has nothing but the inserted name */
};
bool cursor_call(const struct cursor *c, struct cursor_call *out);
#endif

/* The language server's messages from short lines. */
#ifndef TRIB_TESTS_GROW_LSP_H
#define TRIB_TESTS_GROW_LSP_H
#include <stddef.h>
#include <stdint.h>

struct buf;

/* A method's letter (its row of methods.def, from `a` on), a document's digit, up to four numbers (a range; the first two are the
 * position too), `:` and a text in which `|` is a newline: `k0 8 12` asks about line 8 of the first document. Appends the message as
 * JSON. */
void grow_message(const uint8_t *line, size_t n, uint32_t id, struct buf *out);
/* The message `initialize` of a client that can what the bits say. */
void grow_hello(unsigned bits, struct buf *out);
#endif

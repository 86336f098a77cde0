/* A fuzz target, and programs and messages from lists of choices. */
#ifndef TRIB_TESTS_FUZZ_FUZZ_H
#define TRIB_TESTS_FUZZ_FUZZ_H
#include <stddef.h>
#include <stdint.h>

struct buf;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Appends the program that these choices make: most of its statements check, whatever the choices are. */
void grow_program(const uint8_t *data, size_t size, struct buf *out);
/* Appends the message of a language client in a short form, as JSON: a method's letter (its row of methods.def, from `a` on), a document's
 * digit, up to four numbers (a range; the first two are the position too), `:` and a text in which `|` is a newline. `k0 8 12` asks about
 * line 8 of the first document. */
void grow_message(const uint8_t *line, size_t n, uint32_t id, struct buf *out);
/* Appends the message `initialize` of a client that can what the bits say. */
void grow_hello(unsigned bits, struct buf *out);
#endif

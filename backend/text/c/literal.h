/* Texts as C string literals. */
#ifndef TRIB_BACKEND_TEXT_C_LITERAL_H
#define TRIB_BACKEND_TEXT_C_LITERAL_H
struct arena;
/* Returns the literal of a text that a terminal may show (base/foreign.h). In `a`. */
const char *c_literal(struct arena *a, const char *text);
/* Returns what initializes an array of characters with such a text, which may be longer than literals may be. In `a`. */
const char *c_initializer(struct arena *a, const char *text);
#endif

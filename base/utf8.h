/* UTF-8 and the columns that characters take on a terminal. */
#ifndef TRIB_BASE_UTF8_H
#define TRIB_BASE_UTF8_H
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at s[0] of n >= 1 bytes into *cp and returns its length. Invalid bytes (overlong, surrogate, cut off) give
 * U+FFFD and length 1. */
size_t utf8_decode(const char *s, size_t n, uint32_t *cp);
/* Writes 1 to 4 bytes and returns their number. */
size_t utf8_put(uint32_t cp, char out[4]);
/* Offset of the first byte that is not valid UTF-8, or n. */
size_t utf8_valid_prefix(const char *s, size_t n);
/* Columns: 0 for combining marks, 2 for wide East Asian characters and emoji, else 1. */
unsigned utf8_width(uint32_t cp);
#endif

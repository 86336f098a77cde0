/* Text for people, on stdout, stderr or the streams of a client. The only functions that write to such a stream: each of them escapes what
 * is foreign (base/foreign.h), so that no caller has to. */
#ifndef TRIB_BASE_PRINT_H
#define TRIB_BASE_PRINT_H
#include <stdarg.h>
#include <stdio.h>

struct buf;

/* Like fprintf. The texts of %s and %c are foreign: their later lines begin with a bar. */
void print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vprint(FILE *out, const char *fmt, va_list ap);
/* Prints lines that were put together before: reports, JSON, generated code. */
void print_text(FILE *out, const struct buf *text);
void print_bytes(FILE *out, const char *text, size_t n);
/* Prints control sequences of ours, with text that was escaped: rows of a canvas, a line that is drawn again. */
void print_drawn(FILE *out, const struct buf *text);
/* Prints what the user's program or a conversion of a file gives: as it is, but as text to a terminal. */
void print_data(FILE *out, const char *data, size_t n);
#endif

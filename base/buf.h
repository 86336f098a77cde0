/* A growing byte buffer for text and binary output. Always NUL-terminated once anything was appended. */
#ifndef TRIB_BASE_BUF_H
#define TRIB_BASE_BUF_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *at; /* malloc-backed; NULL while empty */
	size_t len, cap;
};

/* Makes room for `n` more bytes, so that appending them moves nothing. */
void buf_reserve(struct buf *b, size_t n);
void buf_put(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Little-endian integers, for binary formats. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_free(struct buf *b);
#endif

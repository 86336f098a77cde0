#include "base/buf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "base/usage.h"

void buf_reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;

	if (n > SIZE_MAX / 4 - b->len)
		bug_no_memory();
	while (cap < b->len + n + 1)
		cap *= 2;
	if (cap == b->cap)
		return;
	b->at = huge_grow(b->at, b->len, cap);
	b->cap = cap;
	usage_of_thread.allocations++;
}

/* buf_reserve, without a call if there is room. */
static inline void buf_make_room(struct buf *b, size_t n)
{
	if (n >= b->cap - b->len) /* the NUL at the end needs a byte */
		buf_reserve(b, n);
}

void buf_put(struct buf *b, const void *bytes, size_t n)
{
	buf_make_room(b, n);
	if (n)
		memcpy(b->at + b->len, bytes, n);
	b->len += n;
	b->at[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s) { buf_put(b, s, strlen(s)); }

void buf_putc(struct buf *b, char c) { buf_put(b, &c, 1); }

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	BUG_ON(n < 0);
	buf_reserve(b, (size_t)n);
	vsnprintf(b->at + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

static inline void put_le(struct buf *b, uint64_t v, size_t bytes)
{
	unsigned char le[8];
	for (size_t i = 0; i < bytes; i++)
		le[i] = (unsigned char)(v >> (8 * i));
	buf_make_room(b, bytes);
	memcpy(b->at + b->len, le, bytes);
	b->len += bytes;
	b->at[b->len] = '\0';
}

void buf_u8(struct buf *b, uint8_t v) { put_le(b, v, 1); }

void buf_u32(struct buf *b, uint32_t v) { put_le(b, v, 4); }

void buf_u64(struct buf *b, uint64_t v) { put_le(b, v, 8); }

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->at)
		b->at[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->at);
	*b = (struct buf){0};
}

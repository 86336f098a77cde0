/* Variable-length integers (LEB128): seven bits in a byte, the lowest first. Signed integers are zigzag-encoded. */
#ifndef TRIB_BASE_VARINT_H
#define TRIB_BASE_VARINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

void varint_put(struct buf *b, uint64_t v);
void varint_put_signed(struct buf *b, int64_t v);

/* A reader of untrusted bytes. */
struct varint_in {
	const unsigned char *at, *end;
	bool ok; /* false after invalid or missing bytes; values read then are zero */
};
uint64_t varint_take(struct varint_in *in);
int64_t varint_take_signed(struct varint_in *in);
/* A value above `most` is invalid. */
uint32_t varint_take_upto(struct varint_in *in, uint32_t most);
/* A count of elements of at least one byte each: more than the bytes left is invalid. */
uint32_t varint_take_count(struct varint_in *in);
/* The next n bytes; NULL: there are fewer. */
const void *varint_take_bytes(struct varint_in *in, size_t n);
#endif

/* Integers in as few bytes as they need: seven bits a byte, the lowest first (LEB128), signed ones folded so that small magnitudes stay short. */
#ifndef TRIB_BASE_VARINT_H
#define TRIB_BASE_VARINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

void varint_put(struct buf *b, uint64_t v);
void varint_put_signed(struct buf *b, int64_t v);

/* Bytes that come from outside. */
struct varint_in {
	const unsigned char *at, *end;
	bool ok; /* false once anything did not fit; what was taken then is zero */
};
uint64_t varint_take(struct varint_in *in);
int64_t varint_take_signed(struct varint_in *in);
/* At most `most`. */
uint32_t varint_take_upto(struct varint_in *in, uint32_t most);
/* A count of things of at least one byte each: no more than bytes are left. */
uint32_t varint_take_count(struct varint_in *in);
/* The next n bytes; NULL: there are fewer. */
const void *varint_take_bytes(struct varint_in *in, size_t n);
#endif

#include "base/varint.h"
#include "base/buf.h"

void varint_put(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(b, (uint8_t)(v | 0x80));
	buf_u8(b, (uint8_t)v);
}

void varint_put_signed(struct buf *b, int64_t v) { varint_put(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0)); }

uint64_t varint_take(struct varint_in *in)
{
	uint64_t v = 0;
	for (unsigned shift = 0; in->ok && in->at < in->end && shift < 64; shift += 7) {
		unsigned char c = *in->at++;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	in->ok = false;
	return 0;
}

int64_t varint_take_signed(struct varint_in *in)
{
	uint64_t v = varint_take(in);
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

uint32_t varint_take_upto(struct varint_in *in, uint32_t most)
{
	uint64_t v = varint_take(in);
	if (v <= most)
		return (uint32_t)v;
	in->ok = false;
	return 0;
}

uint32_t varint_take_count(struct varint_in *in)
{
	size_t left = (size_t)(in->end - in->at);
	return varint_take_upto(in, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
}

const void *varint_take_bytes(struct varint_in *in, size_t n)
{
	const unsigned char *p = in->at;
	if (!in->ok || n > (size_t)(in->end - in->at)) {
		in->ok = false;
		return NULL;
	}
	in->at += n;
	return p;
}

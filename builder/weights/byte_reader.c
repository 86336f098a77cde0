#include "builder/weights/byte_reader.h"
#include "base/arena.h"

struct byte_reader byte_reader(struct arena *a, const char *of, const void *bytes, size_t len)
{
	return (struct byte_reader){.a = a, .at = bytes, .start = bytes, .end = (const unsigned char *)bytes + len, .of = of};
}

size_t bytes_taken(const struct byte_reader *r) { return (size_t)(r->at - r->start); }
size_t bytes_left(const struct byte_reader *r) { return (size_t)(r->end - r->at); }

const unsigned char *take_bytes(struct byte_reader *r, uint64_t n)
{
	const unsigned char *p = r->at;
	if (r->why)
		return NULL;
	if (n > bytes_left(r)) {
		r->why = arena_printf(r->a, "%s is truncated at byte %zu", r->of, bytes_taken(r));
		return NULL;
	}
	r->at += n;
	return p;
}

uint64_t take_number(struct byte_reader *r, unsigned size)
{
	const unsigned char *p = take_bytes(r, size);
	return p ? little_endian(p, size) : 0;
}

uint64_t little_endian(const unsigned char *p, unsigned size)
{
	uint64_t v = 0;
	while (size-- > 0)
		v = v << 8 | p[size];
	return v;
}

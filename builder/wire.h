/* The encoding of the project store's records: little-endian fields one after the other, strings with their length first and a NUL last, so that they
 * are used in place. Reading checks every size. */
#ifndef TRIB_BUILDER_WIRE_H
#define TRIB_BUILDER_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct buf;

void wire_put_str(struct buf *b, const char *s);
void wire_put_hash(struct buf *b, hash128 h);
void wire_put_stamp(struct buf *b, const struct file_stamp *s);

struct wire {
	const char *at;
	size_t left;
	bool ok; /* false once anything did not fit; what was taken then is zero or "" */
};
uint8_t wire_u8(struct wire *w);
uint32_t wire_u32(struct wire *w);
uint64_t wire_u64(struct wire *w);
hash128 wire_hash(struct wire *w);
struct file_stamp wire_stamp(struct wire *w);
const char *wire_str(struct wire *w);
/* A count of things of at least `each` bytes. */
uint32_t wire_count(struct wire *w, size_t each);
static inline bool wire_end(const struct wire *w) { return w->ok && w->left == 0; }
#endif

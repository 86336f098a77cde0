/* The encoding of the project store's records: little-endian fields one after the other, strings with their length first and a NUL last, so that they
 * are used in place. Reading checks every size. */
#ifndef TRIB_BUILDER_STORE_SERIALIZE_H
#define TRIB_BUILDER_STORE_SERIALIZE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct buf;

void serialize_str(struct buf *b, const char *s);
void serialize_hash(struct buf *b, hash128 h);
void serialize_stamp(struct buf *b, const struct file_stamp *s);

struct deserializer {
	const char *at;
	size_t left;
	bool ok; /* false once anything did not fit; what was taken then is zero or "" */
};
uint8_t deserialize_u8(struct deserializer *w);
uint32_t deserialize_u32(struct deserializer *w);
uint64_t deserialize_u64(struct deserializer *w);
hash128 deserialize_hash(struct deserializer *w);
struct file_stamp deserialize_stamp(struct deserializer *w);
const char *deserialize_str(struct deserializer *w);
/* A count of things of at least `each` bytes. */
uint32_t deserialize_count(struct deserializer *w, size_t each);
static inline bool deserialize_end(const struct deserializer *w) { return w->ok && w->left == 0; }
#endif

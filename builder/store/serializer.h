/* The encoding of records: little-endian fields one after the other. Strings have their length first and a NUL last, so that they are
 * used in place. One function describes a record and writes or reads it, by what its serializer does. Reading checks every size. */
#ifndef TRIB_BUILDER_STORE_SERIALIZER_H
#define TRIB_BUILDER_STORE_SERIALIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct arena;
struct buf;

struct serializer {
	struct buf *out; /* appends to it and leaves the record as it is; NULL: reads into the record */
	const char *at;  /* reads from here */
	size_t left;
	struct arena *arena; /* memory of arrays that are read */
	bool ok;             /* false after bytes that are missing or not valid; fields that are read then are zero or "" */
};
struct serializer serializer_to(struct buf *out);
/* Strings that are read point into `bytes`. `bytes` may be NULL: then not ok. */
struct serializer serializer_from(struct arena *a, const void *bytes, size_t n);
/* True if all bytes were read and valid. */
static inline bool serializer_is_done(const struct serializer *s) { return s->ok && s->left == 0; }

void serialize_u8(struct serializer *s, uint8_t *v);
void serialize_u32(struct serializer *s, uint32_t *v);
void serialize_u64(struct serializer *s, uint64_t *v);
void serialize_bool(struct serializer *s, bool *v);
void serialize_hash(struct serializer *s, hash128 *v);
void serialize_stamp(struct serializer *s, struct file_stamp *stamp);
void serialize_str(struct serializer *s, const char **v);
/* One byte; a value of `count` or more is not valid. */
void serialize_enum(struct serializer *s, unsigned *v, unsigned count);
/* The length of an array of elements of `size` bytes in memory, which the caller then serializes. Reading allocates one element more. */
void serialize_array(struct serializer *s, void *at, uint32_t *n, size_t size);
/* A constant that a record begins with. */
void serialize_magic(struct serializer *s, uint32_t magic);
#endif

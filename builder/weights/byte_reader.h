/* Bytes of a file, taken from the front. Numbers are little-endian. After the first error every take returns NULL or 0. */
#ifndef TRIB_BUILDER_WEIGHTS_BYTE_READER_H
#define TRIB_BUILDER_WEIGHTS_BYTE_READER_H
#include <stddef.h>
#include <stdint.h>

struct arena;

struct byte_reader {
	struct arena *a; /* of error messages */
	const unsigned char *at, *start, *end;
	const char *of;  /* what the bytes are, for messages: "it" */
	const char *why; /* the first error, or NULL */
};

struct byte_reader byte_reader(struct arena *a, const char *of, const void *bytes, size_t len);
size_t bytes_taken(const struct byte_reader *r);
size_t bytes_left(const struct byte_reader *r);
const unsigned char *take_bytes(struct byte_reader *r, uint64_t n);
uint64_t take_number(struct byte_reader *r, unsigned size); /* of at most 8 bytes */
/* The number in `size` bytes at p. */
uint64_t little_endian(const unsigned char *p, unsigned size);
#endif

/* The weight file of a library, NAME-DIGEST.triw: the header, the table, then every packed tensor at a multiple of 64 bytes.
 * Little-endian. */
#ifndef TRI_TRIW_H
#define TRI_TRIW_H
#include <stdint.h>
#include <string.h>

#define TRIW_MAGIC "TRIW\r\n\032\n" /* a transfer as text damages it */
#define TRIW_VERSION 3u
#define TRIW_ALIGN 64u
#define TRIW_CHUNK (1u << 20)

struct triw_header {
	char magic[8];
	uint32_t version, n_entries;
	uint64_t size;      /* of the file */
	uint8_t digest[16]; /* of version and table, whose keys name the content: a library opens only the file that it was linked with */
	uint64_t check;     /* triw_check, compared when the file is opened */
	uint8_t pad[16];
};
struct triw_entry {
	uint8_t key[16]; /* names the content */
	uint64_t offset, size;
	uint8_t digest[16]; /* of the bytes: XXH3-128 of the XXH3-128 of each TRIW_CHUNK of them, so that threads can share the work */
};
_Static_assert(sizeof(struct triw_header) == 64 && sizeof(struct triw_entry) == 48, "written to files as they are");

/* Each step is invertible, so words that differ in one place have different sums. */
static inline uint64_t triw_mix(uint64_t sum, const void *words, uint64_t n)
{
	for (uint64_t i = 0, word; i < n; i++) {
		memcpy(&word, (const char *)words + 8 * i, sizeof word);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	return sum;
}

/* Returns a checksum of the header, without `check`, and of the table of h->n_entries. */
static inline uint64_t triw_check(const struct triw_header *h, const struct triw_entry *table)
{
	struct triw_header head = *h;
	head.check = 0;
	return triw_mix(triw_mix(0, &head, sizeof head / 8), table, h->n_entries * (sizeof *table / 8));
}

/* Returns where the tensors of a file begin. */
static inline uint64_t triw_tensors_at(uint64_t n_entries)
{
	return (sizeof(struct triw_header) + n_entries * sizeof(struct triw_entry) + TRIW_ALIGN - 1) / TRIW_ALIGN * TRIW_ALIGN;
}

static inline uint64_t triw_chunks(uint64_t size) { return size / TRIW_CHUNK + (size % TRIW_CHUNK != 0); }
#endif

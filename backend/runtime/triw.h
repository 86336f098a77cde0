/* The weight file of a library, NAME-DIGEST.triw: the header, the table, then every packed tensor at a multiple of 64 bytes. Little-endian. */
#ifndef TRI_TRIW_H
#define TRI_TRIW_H
#include <stdint.h>

#define TRIW_MAGIC "TRIW\r\n\032\n" /* damaged by transfers that take it for text */
#define TRIW_VERSION 1u
#define TRIW_ALIGN 64u

struct triw_header {
	char magic[8];
	uint32_t version, n_entries;
	uint64_t size;      /* of the file */
	uint8_t digest[16]; /* of version, table and therefore content: a library opens only the file it was linked with */
	uint8_t pad[24];
};
struct triw_entry {
	uint8_t key[16]; /* names the content */
	uint64_t offset, size;
};
_Static_assert(sizeof(struct triw_header) == 64 && sizeof(struct triw_entry) == 32, "written to files as they are");
#endif

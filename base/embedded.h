/* Files that base/embed.cmake embedded in trib. */
#ifndef TRIB_BASE_EMBEDDED_H
#define TRIB_BASE_EMBEDDED_H
#include <stddef.h>

/* An element of a list. */
struct embedded {
	const char *name;           /* of the file, without its extension; NULL: end of the list */
	const unsigned char *bytes; /* followed by a NUL */
	size_t size;
};
#endif

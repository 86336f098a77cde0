/* Files that embed.cmake embedded in trib. */
#ifndef TRIB_GPU_EMBEDDED_H
#define TRIB_GPU_EMBEDDED_H
#include <stddef.h>

struct gpu_embedded {
	const char *name;           /* NULL: end of the list */
	const unsigned char *bytes; /* followed by a NUL */
	size_t size;
};
extern const struct gpu_embedded GPU_TEMPLATES[]; /* templates/x.cl as "x" */
extern const struct gpu_embedded GPU_RUNTIME[];   /* relocatable objects of the host runtime */
#endif

/* Files that embed.cmake made part of trib. */
#ifndef TRIB_GPU_EMBEDDED_H
#define TRIB_GPU_EMBEDDED_H
#include <stddef.h>

struct gpu_embedded {
	const char *name;           /* NULL: past the last */
	const unsigned char *bytes; /* a NUL follows */
	size_t size;
};
extern const struct gpu_embedded GPU_TEMPLATES[]; /* templates/x.cl as "x" */
extern const struct gpu_embedded GPU_RUNTIME[];   /* relocatable objects of the host runtime */
#endif

/* Files of this room that are embedded in trib. */
#ifndef TRIB_GPU_EMBEDDED_H
#define TRIB_GPU_EMBEDDED_H
#include "base/embedded.h"

extern const struct embedded GPU_TEMPLATES[]; /* templates/x.cl as "x": of both variants */
extern const struct embedded GPU_TEMPLATES_GROUPS[], GPU_TEMPLATES_WIDE[];
extern const struct embedded GPU_PARTS[];   /* cuda_host.parts */
extern const struct embedded GPU_RUNTIME[]; /* relocatable objects of the host runtime */
#endif

/* The ceilings of devices: measured, and kept in a file of the user's cache folder. */
#ifndef TRIB_BUILDER_RUN_DEVICE_CEILINGS_H
#define TRIB_BUILDER_RUN_DEVICE_CEILINGS_H
#include <stdbool.h>
#include "builder/run/ceilings.h"

struct arena;
struct buf;

/* Finds the ceilings of "cpu", "opencl" or "opencl:1" in the file; measures them if the file lacks them, or if `again`. *name gets the device's
 * name, in `a`. `threads`: of the CPU. False: *why is a sentence. */
bool device_ceilings(struct arena *a, const char *device, uint32_t threads, bool again, struct ceilings *out, const char **name,
		     struct buf *why);
/* What the vendor says of a device with this name (gpu/devices.def); there are no copy_bytes. False: it is not known. */
bool device_known(const char *name, struct ceilings *out);
#endif

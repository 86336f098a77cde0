/* The ceilings of devices: measured, and kept in a file of the user's cache folder. */
#ifndef TRIB_BUILDER_RUN_DEVICE_CEILINGS_H
#define TRIB_BUILDER_RUN_DEVICE_CEILINGS_H
#include <stdbool.h>
#include "builder/run/ceilings.h"

struct arena;
struct json_writer;
struct buf;

enum ceilings_source {
	CEILINGS_FROM_FILE, /* measured if the file lacks them */
	CEILINGS_MEASURED,  /* replace those of the file */
	CEILINGS_RAISED, /* the larger ones of the file and of another measurement: a neighbour may have taken part of the machine during the first one */
};
/* Finds the ceilings of "cpu", "opencl" or "opencl:1", and keeps them in the file. *name gets the device's name, in `a`. `threads`: of the CPU.
 * False: *why is a sentence. */
bool device_ceilings(struct arena *a, const char *device, uint32_t threads, enum ceilings_source source, struct ceilings *out,
		     const char **name, struct buf *why);
/* Adds the device's name and ceilings to the profile of a run. Statements that are faster prove that the ceilings are too low: they are measured again, then raised to
 * these statements; the facts `ceiling.float_measured` and `ceiling.int8_measured` say what was measured. False: *why is a sentence. */
struct profile;
bool device_ceilings_add(struct profile *p, const char *device, uint32_t threads, struct buf *why);
/* Appends a member for each of them. */
void ceilings_print(struct json_writer *w, const struct ceilings *ceilings);
/* What the vendor says of a device with this name (gpu/devices.def); there are no copy_bytes. False: it is not known. */
bool device_known(const char *name, struct ceilings *out);
#endif

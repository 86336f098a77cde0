/* The machine that a profile was measured on. */
#ifndef TRIB_BUILDER_PROFILE_MACHINE_H
#define TRIB_BUILDER_PROFILE_MACHINE_H
#include "builder/profile/profile.h"

/* Texts are allocated in `a`. The id is a digest of the CPU's model, the number of CPUs that the process may use, and the kernel's
 * machine type: not of the host's name, so that runners of one kind are equal. */
struct profile_machine machine_describe(struct arena *a);
#endif

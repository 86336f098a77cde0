/* A fixed workload. Its time says how fast the machine is at the moment, other load on the same core apart. */
#ifndef TRIB_BUILDER_PROFILE_CALIBRATE_H
#define TRIB_BUILDER_PROFILE_CALIBRATE_H
#include <stdint.h>

/* Returns the processor time of the workload, the least of several runs: some 15 ms in all. Arithmetic, and memory in the L2 cache. */
int64_t calibrate_ns(void);
#endif

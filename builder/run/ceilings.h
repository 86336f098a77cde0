/* The most that this machine's processor does: measured, not looked up. */
#ifndef TRIB_BUILDER_RUN_CEILINGS_H
#define TRIB_BUILDER_RUN_CEILINGS_H
#include "builder/profile/kernel_rows.h"

/* Of some threads together. Takes about half a second. */
struct ceilings ceilings_measure(uint32_t threads);
#endif

/* What a profile says of runs as wholes, and of their model. */
#ifndef TRIB_BUILDER_RUN_MODEL_FACTS_H
#define TRIB_BUILDER_RUN_MODEL_FACTS_H
#include "backend/runtime/abi/tri.h"

struct profile;

/* Adds facts on how busy an OpenCL device was, and on transfers: means of the runs that `sums` has, which may be NULL. Of a processor none. */
void model_facts_add_device(struct profile *p, const tri_profile *sums);
/* Returns what reading the processor's clock costs in ns: the mean of many reads, of the quickest round. */
int64_t model_facts_clock(void);
/* Adds the ternary weights of the library. */
void model_facts_add_weights(struct profile *p, const tri_model_desc *d);
#endif

/* The initial values and the capacities of the states of a model. */
#ifndef TRIB_BUILDER_BUILD_SOURCES_STATES_H
#define TRIB_BUILDER_BUILD_SOURCES_STATES_H
#include <stdbool.h>
#include "builder/weights/weights.h"

struct model_job;

/* Computes the initial values of the states, and takes the capacities of the manifest. False: reported. */
bool states_bind(struct arena *arena, struct diags *diags, struct model_job *m, struct weights_host host);
#endif

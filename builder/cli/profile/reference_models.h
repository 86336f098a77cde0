/* The networks of the classes of targets, as a project: sources of examples/zoo that are in the program. */
#ifndef TRIB_BUILDER_CLI_PROFILE_REFERENCE_MODELS_H
#define TRIB_BUILDER_CLI_PROFILE_REFERENCE_MODELS_H
#include <stdbool.h>

/* Writes the project into an existing folder, with a model for each class of targets. False: errno says why. */
bool reference_models_write(const char *folder);
#endif

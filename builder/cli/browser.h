/* Opens files and addresses in the user's browser. */
#ifndef TRIB_BUILDER_CLI_BROWSER_H
#include "builder/build/build.h"
#define TRIB_BUILDER_CLI_BROWSER_H

/* Starts the first program of $BROWSER that there is, or xdg-open. Prints an error if none could be started. */
enum status browser_open(const char *target);
#endif

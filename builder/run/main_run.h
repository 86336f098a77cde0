/* Runs `main` blocks in the reference interpreter: `trib run --main`. */
#ifndef TRIB_BUILDER_RUN_MAIN_RUN_H
#define TRIB_BUILDER_RUN_MAIN_RUN_H
#include "builder/build/build.h"

/* Runs the main block of the file that the options name, or of the only file that has one. It prints to stdout. */
enum status main_run(const struct options *o);
#endif

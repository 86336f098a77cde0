/* Running `main` blocks in the reference interpreter: `trib run --main`. */
#ifndef TRIB_BUILDER_RUN_MAIN_RUN_H
#define TRIB_BUILDER_RUN_MAIN_RUN_H
#include "builder/build/build.h"

/* Of the file that the options name, or of the only file of the project that has one. What it prints goes to stdout. */
enum status main_run(const struct options *o);
#endif

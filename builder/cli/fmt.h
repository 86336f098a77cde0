/* `trib fmt`: sources in their canonical layout, in place. */
#ifndef TRIB_BUILDER_CLI_FMT_H
#define TRIB_BUILDER_CLI_FMT_H
#include <stdio.h>
#include "builder/build/build.h"

/* The files and folders of options->models, `-` for the standard input, or else all sources of the project. A file with syntax errors is left as
 * it is and fails the command. With options->check nothing is written: names of files that would change go to `out`, and fail it. With
 * options->diff neither: the changes go to `out`. */
enum status fmt_run(const struct options *o, FILE *out, FILE *err);
#endif

/* What `trib devices --kernels` prints. */
#ifndef TRIB_BUILDER_CLI_BENCH_KERNELS_H
#define TRIB_BUILDER_CLI_BENCH_KERNELS_H
#include "builder/build/build.h"

struct options;

/* Builds the model of the project in the current folder for a device ("opencl:1"), runs it a few times with random inputs, and prints how its kernels are
 * launched. Errors were printed. */
enum status bench_kernels(const struct options *o, const char *model, const char *device);
#endif

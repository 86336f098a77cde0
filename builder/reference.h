/* Running a model in the reference interpreter, without compiling anything: `trib run --device reference`. */
#ifndef TRIB_BUILDER_REFERENCE_H
#define TRIB_BUILDER_REFERENCE_H
#include "builder/build.h"

enum status reference_run(const struct options *o);
#endif

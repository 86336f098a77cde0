/* Models in the reference interpreter: `--device reference`. */
#ifndef TRIB_BUILDER_REFERENCE_H
#define TRIB_BUILDER_REFERENCE_H
#include "builder/run.h"

/* Elaborates the one model that the options name, or the first, and visits it. What is wrong is reported on stderr. */
enum status reference_visit(const struct options *o, run_visitor *visit, void *ctx);
#endif

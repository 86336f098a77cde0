/* Models in the reference interpreter: `--device reference`. */
#ifndef TRIB_BUILDER_RUN_REFERENCE_H
#define TRIB_BUILDER_RUN_REFERENCE_H
#include "builder/run/run.h"

/* Elaborates the one model that the options name, or the first, and visits it. Errors go to stderr. */
enum status reference_visit(const struct options *o, run_visitor *visit, void *ctx);
#endif

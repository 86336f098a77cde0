/* Prints what quantizers did to the parameters of a model. False: reported. */
#ifndef TRIB_BUILDER_BUILD_LINK_QUANTIZED_H
#define TRIB_BUILDER_BUILD_LINK_QUANTIZED_H
#include <stdbool.h>

struct build_context;
struct model_job;

bool pack_print_quantized(struct build_context *c, struct model_job *m);
#endif

/* Prints what quantizers did to the parameters of a model. False: reported. */
#ifndef TRIB_BUILDER_BUILD_LINK_QUANTIZED_H
#define TRIB_BUILDER_BUILD_LINK_QUANTIZED_H
#include <stdbool.h>

struct build_request;
struct diags;
struct model_job;
struct stores;

bool pack_print_quantized(const struct stores *stores, struct diags *diags, const struct build_request *request, struct model_job *m);
#endif

/* Describes the packed trits of a finished variant, in pack.trits. False: reported. */
#ifndef TRIB_BUILDER_BUILD_LINK_TRITS_H
#define TRIB_BUILDER_BUILD_LINK_TRITS_H
#include <stdbool.h>
#include "builder/build/session/context.h"

struct model_input;
struct project;
struct variant;

bool pack_list_trits(struct variant *v, const struct model_input *in);
/* Step: prints how the ternary weights of linked models were packed, with --explain. */
enum step weights_explain(const struct build_request *request, const struct project *p);
#endif

#include "builder/build/request.h"
#include "builder/manifest/options.h"

bool request_is_chatty(const struct build_request *r) { return r->options->json <= 0 && !r->options->quiet; }

bool options_print_stage(const struct options *o) { return o->stop != STOP_NONE || o->dumps; }

/* Warnings about names that weights files and models do not share. */
#ifndef TRIB_BUILDER_BUILD_SOURCES_PARAM_NAMES_H
#define TRIB_BUILDER_BUILD_SOURCES_PARAM_NAMES_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct build_context;
struct diags;
struct elab_input;
struct model_job;
struct project;

/* Before elaboration: warns about arguments of functions whose value the file seems to have under a prefix. */
void params_warn_prefixes(struct arena *arena, struct diags *diags, struct model_job *m, const struct elab_input *in_file, uint32_t n_file);
/* Step after elaboration: warns about arguments that are inputs because the file has no tensor of their name, and about tensors that
 * nothing takes. */
bool params_warn_names(struct build_context *c, const struct project *p);
#endif

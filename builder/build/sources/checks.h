/* The checks of definitions that earlier builds left in the project's store. */
#ifndef TRIB_BUILDER_BUILD_SOURCES_CHECKS_H
#define TRIB_BUILDER_BUILD_SOURCES_CHECKS_H

struct build_context;
struct diags;
struct model_job;
struct project;
struct stores;

void checks_load(struct build_context *c, struct model_job *m);
/* Nothing is saved of a build with diagnostics: its warnings must be reported again. */
void checks_save(struct diags *diags, const struct stores *stores, const struct project *p);
#endif

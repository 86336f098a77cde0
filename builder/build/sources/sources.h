/* Steps of the front end: read and parse the files of all models, check them, elaborate their entries. */
#ifndef TRIB_BUILDER_BUILD_SOURCES_SOURCES_H
#define TRIB_BUILDER_BUILD_SOURCES_SOURCES_H
#include <stdbool.h>
#include <stdio.h>

struct build_context;
struct diags;
struct project;

bool sources_load(struct build_context *c, struct project *p);
/* The files of `trib check FILE…`, as one model without a manifest. */
bool sources_load_files(struct build_context *c, struct project *p);
bool sources_check(struct build_context *c, struct project *p);
/* Makes guesses of certain edits that would make the sources worse. Call it before edits are shown or made. */
void sources_verify_edits(struct diags *diags, const struct project *p);
bool sources_elaborate(struct build_context *c, struct project *p);
/* The main blocks, for their errors. */
bool sources_elaborate_mains(struct build_context *c, struct project *p);
#endif

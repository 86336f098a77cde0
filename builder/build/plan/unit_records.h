/* The records of a model's units: why a unit is compiled, and what the next build compares with. */
#ifndef TRIB_BUILDER_BUILD_PLAN_UNIT_RECORDS_H
#define TRIB_BUILDER_BUILD_PLAN_UNIT_RECORDS_H

struct arena;
struct build_context;
struct project;
struct store;
struct unit_job;
struct why;

/* Why the unit is compiled; the text is in the build's memory. The cache counts the reason, except in a dry run. */
struct why unit_explain(struct build_context *c, struct unit_job *j);
/* Writes the records of all linked units into the project's store. */
void unit_records_save(struct arena *arena, struct store *store, const struct project *p);
#endif

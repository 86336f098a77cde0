/* Reports inputs, parameters and states of each entry, once. */
#ifndef TRIB_BUILDER_BUILD_MODEL_INTERFACE_H
#define TRIB_BUILDER_BUILD_MODEL_INTERFACE_H
#include "builder/store/interface_record.h"

struct arena;
struct build_context;
struct build_request;
struct hir_program;
struct model_job;
struct project;

/* Notes what the entries take, and in model_job.interface whether that was reported. */
void interfaces_note(const struct build_context *c, struct project *p);
/* The same for a model of which a record is known. */
void interface_note(struct arena *arena, struct store *store, const struct build_request *request, struct model_job *m,
		    const struct interface_record *now);
struct interface_record interface_of(struct arena *a, const struct hir_program *p);
/* Prints the interfaces that changed since the last report. */
void interfaces_print(const struct build_request *request, const struct project *p);
#endif

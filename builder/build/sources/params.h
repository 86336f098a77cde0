/* Steps that give every parameter a value: from the weights file, else from its initializer. */
#ifndef TRIB_BUILDER_BUILD_SOURCES_PARAMS_H
#define TRIB_BUILDER_BUILD_SOURCES_PARAMS_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct build_context;
struct diags;
struct model_job;
struct project;
struct stores;
struct tensor;
struct weights_reader;

bool params_open_files(struct build_context *c, struct project *p);
/* The same, but an absent file is no error: model_params.file_absent and .unknown. */
bool params_open_files_if_there(struct build_context *c, struct project *p);
bool params_bind(struct build_context *c, struct project *p);
bool params_bind_model(struct arena *arena, const struct stores *stores, struct diags *diags, struct model_job *m);
/* Opens a parameter to read it in parts; see weights_open_param. */
struct weights_reader *params_open(const struct stores *stores, struct model_job *m, struct arena *a, uint32_t param);
/* A parameter with its elements, in `a` if they are not in memory yet. False: *error says why. */
bool params_load(const struct stores *stores, struct model_job *m, struct arena *a, uint32_t param, struct tensor *out, const char **error);
#endif

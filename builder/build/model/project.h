/* The models that a build makes, as the manifest describes them. */
#ifndef TRIB_BUILDER_BUILD_MODEL_PROJECT_H
#define TRIB_BUILDER_BUILD_MODEL_PROJECT_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/model/model.h"
#include "builder/deps/dependency.h"
#include "builder/manifest/build_spec.h"

struct build_context;

struct project {
	struct build_spec spec;
	struct dependencies dependencies;
	struct model_job *models;
	uint32_t n_models;
};

#define MANIFEST_FILE "tri.build"

/* Step: reads the manifest and its dependencies, and sets up a job for each model. */
bool project_read_manifest(struct build_context *c, struct project *p);
/* The dependencies of a manifest that is read already. */
bool project_find_dependencies(struct build_context *c, const struct manifest *m, enum dependency_mode mode, struct dependencies *out);
/* Step of `trib update`: resolves the dependencies again; options->operands names those to update. */
bool project_update_dependencies(struct build_context *c, struct dependencies *out);
/* A front end without files. */
struct frontend *project_new_frontend(struct build_context *c, const struct project *p);
void project_free(struct build_context *c, struct project *p);

/* After a step: true if a model is left to go on with. */
bool project_may_go_on(const struct build_context *c, const struct project *p);
/* Removes temporary files that killed builds left beside the outputs. */
void project_sweep(const struct project *p);
#endif

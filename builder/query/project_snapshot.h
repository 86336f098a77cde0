/* A project at one moment, on disk or in a commit: its manifest, its models, and which definitions name which. Nothing is built, and what is wrong with
 * the sources only shows as definitions that are not there. */
#ifndef TRIB_BUILDER_QUERY_PROJECT_SNAPSHOT_H
#define TRIB_BUILDER_QUERY_PROJECT_SNAPSHOT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/manifest/build_spec.h"

struct arena;
struct diags;
struct git_api;
struct git_view;
struct options;
struct sources;

#define SNAPSHOT_NO_DEF UINT32_MAX

struct snapshot_def {
	const char *file, *name;
	uint32_t nth; /* of that name in its file: main blocks, and what is defined twice */
	uint32_t line;
	bool std;             /* of the standard library: the same in every world */
	bool broken;          /* its file has syntax errors */
	hash128 tokens, deep; /* as def_graph's */
	const uint32_t *uses; /* ascending */
	uint32_t n_uses;
};
struct snapshot_model {
	const struct model_spec *spec;
	const uint32_t *entries; /* definitions, one for each of the model's entries; SNAPSHOT_NO_DEF: not found */
};
struct project_snapshot {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;                                 /* errors of the manifest and of syntax; others may be missing */
	bool has_manifest, sound_manifest, has_dependencies; /* has_dependencies: all of them, as its lock file says */
	struct build_spec spec;
	struct snapshot_model *models; /* as spec.models */
	uint32_t n_models;
	struct snapshot_def *defs;
	uint32_t n_defs;
	const char *const *broken; /* files with syntax errors */
	uint32_t n_broken;
};

/* The models that the options name, all if they name none. view NULL: from disk. */
struct project_snapshot *snapshot_new(const struct options *o, const struct git_api *git, struct git_view *view);
void snapshot_free(struct project_snapshot *w); /* NULL is accepted */
#endif

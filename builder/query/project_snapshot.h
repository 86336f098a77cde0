/* A project at one moment, on disk or in a commit: manifest, models, definitions and their uses. Nothing is built. Errors in the sources
 * only show as missing definitions. */
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
	uint32_t nth; /* among equal names in its file: main blocks, duplicates */
	uint32_t line;
	bool std;             /* of the standard library: equal in every snapshot */
	bool broken;          /* its file has syntax errors */
	hash128 tokens, deep; /* the hashes of def_graph */
	const uint32_t *uses; /* ascending */
	uint32_t n_uses;
};
struct snapshot_model {
	const struct model_spec *spec;
	const uint32_t *entries; /* the definition of each entry; SNAPSHOT_NO_DEF: not found */
};
struct project_snapshot {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;                                 /* errors of the manifest and of syntax; not all others */
	bool has_manifest, sound_manifest, has_dependencies; /* has_dependencies: all of tri.lock */
	struct build_spec spec;
	struct snapshot_model *models; /* as spec.models */
	uint32_t n_models;
	struct snapshot_def *defs;
	uint32_t n_defs;
	const char *const *broken; /* files with syntax errors */
	uint32_t n_broken;
};

/* Loads the models that the options name, or all. `view` NULL: from disk. */
struct project_snapshot *snapshot_new(const struct options *o, const struct git_api *git, struct git_view *view);
void snapshot_free(struct project_snapshot *s); /* NULL is accepted */
#endif

/* The settings of a build and of each model, from manifest, profile and flags. */
#ifndef TRIB_BUILDER_MANIFEST_BUILD_SPEC_H
#define TRIB_BUILDER_MANIFEST_BUILD_SPEC_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/source.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/weights_options.h"
#include "frontend/frontend.h"

struct arena;
struct diags;
struct options;

/* `state.T = 4096` */
struct capacity_spec {
	const char *name;
	int64_t most;
	span at; /* the key */
};
/* `weights.packing` */
enum weights_packing { PACKING_AUTO, PACKING_2, PACKING_1_6 };

struct model_spec {
	const char *name;
	span at;                                        /* the model's block */
	const struct manifest_value *sources, *weights; /* weights: NULL if it has none */
	struct weights_options weights_options;
	span entry_at;
	const char *const *entries;
	uint32_t n_entries;
	const struct elab_input *inputs;
	uint32_t n_inputs;
	const struct capacity_spec *capacities;
	uint32_t n_capacities;
	const char *const *weight_names; /* of the manifest */
	uint32_t n_weight_names;
	uint64_t weights_inside; /* bytes: larger packed weights go into a file beside the library */
	enum weights_packing packing;
	uint64_t emit;     /* bit set of enum emit */
	bool has_fallback; /* libraries for devices have code for the CPU, too */
	struct plan_options plan;
	const char *cpu, *target, *out;
	span out_at;        /* of the key, or the block where there is none */
	bool out_named;     /* on the command line */
	const char *linker; /* "internal", or the command to run */
	span target_at;
	const char *version; /* of the project */
};

/* Settings of the build as a whole. */
struct build_spec {
	struct model_spec *models;
	uint32_t n_models;
	uint32_t jobs;
	const struct manifest *manifest; /* the source of these settings */
	uint32_t most_failures;          /* no new task starts after so many; 0: no limit */
	bool verbose, explain, timing, no_cache, low_memory;
};

/* Combines manifest and options. False: errors were reported. Memory in `session`. */
bool build_spec_make(struct arena *session, const struct manifest *m, const struct options *o, struct build_spec *out, struct diags *diags);
#endif

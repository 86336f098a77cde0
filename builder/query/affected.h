/* Compares two snapshots: which definitions and models a change affects. */
#ifndef TRIB_BUILDER_QUERY_AFFECTED_H
#define TRIB_BUILDER_QUERY_AFFECTED_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/hash.h"
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;
struct diags;
struct git_api;
struct git_view;
struct options;
struct sources;

/* ---- project_snapshot.c: a project at one moment, on disk or in a commit. Nothing is built. Errors in the sources only show as missing
 * definitions. ---- */
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

enum def_change {
	DEF_SAME,
	DEF_AFFECTED, /* only something that it uses, directly or indirectly */
	DEF_CHANGED,  /* itself */
	DEF_ADDED,
	DEF_REMOVED,
	DEF_CHANGES
};
struct affected_def {
	const struct snapshot_def *def; /* in the new snapshot; DEF_REMOVED: in the old one */
	const struct snapshot_def *old; /* NULL if there was none */
	enum def_change change;
	bool moved;    /* from another file; it may be unchanged otherwise */
	uint32_t next; /* the used definition in affected.defs on the path to the nearest change, or SNAPSHOT_NO_DEF */
};

enum model_reason { MODEL_NEW, MODEL_SETTING, MODEL_ENTRY, MODEL_WEIGHTS, MODEL_WEIGHTS_UNKNOWN, MODEL_REASONS };
struct affected_model {
	const char *name;
	struct model_why {
		enum model_reason reason;
		const char *text; /* the setting, the entry, the weights file */
		uint32_t def;     /* MODEL_ENTRY: its definition in affected.defs, or SNAPSHOT_NO_DEF */
	} *why;
	uint32_t n_why; /* 0: not affected */
};
struct affected {
	struct affected_def *defs; /* those of the new snapshot in its order, then removed ones */
	uint32_t n_defs;
	struct affected_model *models; /* of the new snapshot */
	uint32_t n_models;
	const char *const *removed; /* removed models */
	uint32_t n_removed;
};

/* git, view: the commit of the old snapshot; its weights files are compared, too. Memory in `a`. Both snapshots must outlive the result. */
struct affected *affected_new(struct arena *a, const struct project_snapshot *old, const struct project_snapshot *new,
			      const struct git_api *git, struct git_view *view);
const char *def_change_text(enum def_change c);     /* "changed" */
const char *model_reason_text(enum model_reason r); /* "setting" */

/* ---- since.c: Compares the working tree with a revision: `--since`. ---- */
struct since {
	struct arena *arena;
	char commit[41];
	const struct git_api *git;
	struct git_view *view;
	struct project_snapshot *old, *new;
	struct affected *affected;
	const bool *reached;      /* definitions of the models that the options name; NULL if they name none */
	const char *const *notes; /* what could not be compared and counts as changed */
	uint32_t n_notes;
};

/* Compares all models with options->since. Not STATUS_OK: errors were printed on `err`. Close it in any case. */
enum status since_open(struct since *s, const struct options *o, FILE *err);
void since_close(struct since *s);
/* True if the options name the model, or name none. */
bool since_wants(const struct options *o, const char *model);
/* Prints the record of `trib affected --format=json` in one line. */
void since_print_json(const struct since *s, const struct options *o, FILE *out);
/* The names on the path from a definition to the change: " → Block → gain"; "" if it is the change itself. In the arena. */
const char *since_path(const struct since *s, uint32_t def);
/* True if the definition is reported: it changed, is not in the standard library, and belongs to a model that the options name. */
bool since_shows(const struct since *s, uint32_t def);
/* Why a model is affected, as text. */
const char *since_reason(const struct since *s, const struct model_why *why);
#endif

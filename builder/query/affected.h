/* Compares two snapshots: which definitions and models a change affects. */
#ifndef TRIB_BUILDER_QUERY_AFFECTED_H
#define TRIB_BUILDER_QUERY_AFFECTED_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/query/project_snapshot.h"

struct arena;
struct git_api;
struct git_view;

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
#endif

/* The working tree against a revision of its repository: what `--since` means. */
#ifndef TRIB_BUILDER_QUERY_SINCE_H
#define TRIB_BUILDER_QUERY_SINCE_H
#include <stdio.h>
#include "builder/build/build.h"
#include "builder/query/affected.h"

struct options;

struct since {
	struct arena *arena;
	char commit[41];
	const struct git_api *git;
	struct git_view *view;
	struct project_snapshot *old, *now;
	struct affected *affected;
	const bool *reached;      /* definitions of the models that the options name; NULL: they name none */
	const char *const *notes; /* what could not be compared, and so counts as changed */
	uint32_t n_notes;
};

/* Compares with options->since, all models. Not STATUS_OK: errors are on `err`. To be closed in any case. */
enum status since_open(struct since *s, const struct options *o, FILE *err);
void since_close(struct since *s);
/* Is the model one of those that the options name (all, if they name none)? */
bool since_wants(const struct options *o, const char *model);
/* The record of `trib affected --format=json` in one line. */
void since_print_json(const struct since *s, const struct options *o, FILE *out);
/* The names that lead from a definition to the change below it: " → Block → gain"; "" where it is the change. In the arena. */
const char *since_path(const struct since *s, uint32_t def);
/* Has the definition to be told of: is it another, part of a model that the options name, and not of the standard library? */
bool since_shows(const struct since *s, uint32_t def);
/* Why a model is affected, in words. */
const char *since_reason(const struct since *s, const struct model_why *w);
#endif

/* Compares the working tree with a revision: `--since`. */
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
const char *since_reason(const struct since *s, const struct model_why *w);
#endif

/* The diagnostic for parameters that have no tensor in the weights file. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_MISSING_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_MISSING_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"

struct arena;
struct hir_program;
struct diags;

struct weights_missing {
	const struct hir_program *program;
	const uint32_t *params; /* indexes of the missing ones */
	uint32_t n;
	bool initialized;         /* they take initial values: a warning */
	uint32_t n_without;       /* missing ones without an initial value */
	const char *path;         /* the file; NULL: the model names none */
	const char *const *names; /* of the file's tensors, sorted */
	uint32_t n_names;
	span at;
};
/* Adds one diagnostic that lists all of them, with the nearest names in the file and a likely fix. */
void weights_report_missing(struct arena *a, const struct weights_missing *m, struct diags *diags);
#endif

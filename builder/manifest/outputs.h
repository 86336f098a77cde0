/* The output files of models, from emits.def, and their checks: each is written by one model, and inside the project unless the user allows more. */
#ifndef TRIB_BUILDER_MANIFEST_OUTPUTS_H
#define TRIB_BUILDER_MANIFEST_OUTPUTS_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/manifest/manifest.h"

struct arena;
struct diags;
struct model_spec;

enum { EMIT_FILES = 3 }; /* the most of one emit */

/* Returns how many files the emit has. */
uint32_t emit_files(enum emit e);
/* Returns the path of file k of what the model emits, in its output folder. The path of weights is not listed: their names contain a digest. */
const char *emit_path(struct arena *a, enum emit e, uint32_t k, const struct model_spec *s);
/* Returns the kind of output, with an article: "a C header". */
const char *emit_what(enum emit e);
/* True if all models in an output folder share file k. */
bool emit_is_shared(enum emit e, uint32_t k);

/* True if no two models write the same file. False: reported. */
bool outputs_check_distinct(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags);
/* True if the back ends of each model's outputs allow its name. False: reported. */
bool outputs_check_names(const struct model_spec *models, uint32_t n, struct diags *diags);
/* True if the folder is inside the current one, with links followed. It need not exist. */
bool outputs_is_inside(struct arena *a, const char *folder);
/* True if every output folder of the manifest is inside the project. False: reported. */
bool outputs_check_inside(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags);
/* Removes a link at `path` to a file outside the project, so that the output replaces it. `named`: the folder is from the command line;
 * then a link to a device or a pipe stays. False: errno. */
bool outputs_remove_link(struct arena *a, const char *path, bool named);
#endif

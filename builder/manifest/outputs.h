/* Where a build writes: files that no two models share, in the project unless the user says otherwise. */
#ifndef TRIB_BUILDER_MANIFEST_OUTPUTS_H
#define TRIB_BUILDER_MANIFEST_OUTPUTS_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct diags;
struct model_spec;

/* True if no two models write the same file. False: reported. */
bool outputs_check_distinct(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags);
/* True if the folder lies in the current one, links followed; it need not exist. */
bool outputs_is_inside(struct arena *a, const char *folder);
/* True if every model's folder that the manifest names lies in the project. False: reported. */
bool outputs_check_inside(struct arena *a, const struct model_spec *models, uint32_t n, struct diags *diags);
/* Removes a link at `path` that leads to a file outside the project: it is replaced, not followed. With `named` the user gave the folder on the command line:
 * then a link to a device or a pipe stays. False: errno. */
bool outputs_remove_link(struct arena *a, const char *path, bool named);
#endif

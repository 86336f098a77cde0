/* A compiled model that is loaded into this process. */
#ifndef TRIB_BUILDER_RUN_LIBRARY_H
#define TRIB_BUILDER_RUN_LIBRARY_H
#include <stdbool.h>
#include "backend/runtime/abi/tri.h"

struct arena;

struct library {
	void *handle;
	const tri_model_desc *desc;
	const char *outer_code; /* whose code ran when it was opened (crash_guard_set_foreign) */
};
/* `path`: a file libNAME.so, which is named if its code crashes until it is closed. `a` must live as long. False: *error (in `a`) says why. */
bool library_open(struct arena *a, const char *path, struct library *out, const char **error);
/* Opens the model. An interrupt meanwhile ends the process at once, since a driver may compile for long. NULL: *e says why. */
struct tri_model *library_open_model(const struct library *l, const tri_options *options, tri_error *e);
/* Returns the device that the model runs on. `wanted` is the device of run_options. If the model runs on its fallback and that is not the wanted device,
 * a warning goes to standard error. */
const tri_device *library_device(const struct library *l, struct tri_model *model, const char *wanted);
void library_close(struct library *l);
#endif

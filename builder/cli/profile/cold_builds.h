/* Cold builds of models whose sizes are known, for `trib profile scaling` and `trib profile targets`. */
#ifndef TRIB_BUILDER_CLI_PROFILE_COLD_BUILDS_H
#define TRIB_BUILDER_CLI_PROFILE_COLD_BUILDS_H
#include "builder/build/build.h"
#include "builder/profile/scaling.h"

struct options;

struct cold_builds {
	const struct options *options; /* --samples, --max-time */
	struct arena *arena;
	char *program;
	double max_time_ns;
	int64_t began;
	uint32_t most_samples; /* of one figure so far */
};

/* The time runs from now on. Anything but STATUS_OK: an error was printed. Close it all the same. */
enum status cold_builds_open(struct cold_builds *c, const struct options *o, struct arena *a);
void cold_builds_close(struct cold_builds *c);
/* Appends the models of the project in the current folder: those that the options name, or all. Large ones are measured only if they are named. */
enum status cold_builds_find_models(struct cold_builds *c, const struct options *o, scaling_models *out);
/* Measures builds of `models` in the current folder; both lists are NULL-terminated. As the time runs out, fewer samples are taken. False: an error was
 * printed, or an interrupt arrived. */
bool cold_builds_measure(struct cold_builds *c, const char *const *models, const char *const *flags, const char *label,
			 struct scaling_cost *out);
#endif

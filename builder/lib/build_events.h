/* What the process of a builder says, one JSON object a line: passes it on to callbacks, and collects the summary. */
#ifndef TRIB_BUILDER_LIB_BUILD_EVENTS_H
#define TRIB_BUILDER_LIB_BUILD_EVENTS_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/lib/tri_build.h"

struct arena;

struct build_events {
	struct arena *arena; /* of the summary */
	const tri_build_options *options;
	tri_build_summary *summary;
	const char *first_error; /* NULL: none */
	uint32_t done, total;
};

/* EVENT_READY: the process has started. EVENT_ENDED: the build has ended, with *status. */
enum build_event { EVENT_OTHER, EVENT_READY, EVENT_ENDED };
enum build_event build_events_take(struct build_events *e, const char *line, size_t len, int32_t *status);
#endif

/* The warm process of a project: `trib server run`. It serves one build after the other, and ends by itself. */
#ifndef TRIB_BUILDER_SERVE_SERVER_H
#define TRIB_BUILDER_SERVE_SERVER_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"

struct arena;
struct options;

struct server_options {
	const struct options *prepare; /* what the first build will probably be asked for */
	int64_t idle_ns;               /* after which it ends */
	/* A command line to options, in `a`. False: it asks for no build. */
	bool (*parse)(struct arena *a, int argc, char **argv, struct options *out);
};
/* In the current folder. STATUS_OK: it ended, or another serves there; STATUS_ENVIRONMENT: it cannot serve (errno). */
enum status server_run(const struct server_options *o);
#endif

/* The build server of a project: `trib server run`. It does one build after the other, and ends by itself when idle. */
#ifndef TRIB_BUILDER_SERVE_SERVER_H
#define TRIB_BUILDER_SERVE_SERVER_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"

struct arena;
struct options;

/* Parses a command line, in `a`. False: it is no build. */
typedef bool parse_build_fn(struct arena *a, int argc, char **argv, struct options *out);

struct server_options {
	const struct options *prepare; /* options that the first build will probably have */
	int64_t idle_ns;               /* idle time after which it ends */
	parse_build_fn *parse;
};
/* Serves the current folder. STATUS_OK: it ended, or another server is there. STATUS_ENVIRONMENT: it cannot serve (errno). */
enum status server_run(const struct server_options *o);
#endif

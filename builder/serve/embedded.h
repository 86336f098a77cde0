/* `trib server embed`: the process that builds for a program with libtrib. The program talks to it (builder/lib/helper.h). */
#ifndef TRIB_BUILDER_SERVE_EMBEDDED_H
#define TRIB_BUILDER_SERVE_EMBEDDED_H
#include "builder/serve/server.h"

/* Serves the current folder until the program closes the connection. */
enum status embedded_run(parse_build_fn *parse);
#endif

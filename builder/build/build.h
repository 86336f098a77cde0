/* Building the models of a project: the command `trib build`. */
#ifndef TRIB_BUILDER_BUILD_BUILD_H
#define TRIB_BUILDER_BUILD_BUILD_H
#include <stdio.h>
#include "builder/build/session/status.h"

struct buf;
struct options;
struct session;

/* Builds in the current folder. Text goes to `out` and errors to `err`; with --message-format=json everything is JSON on `out`. */
enum status build_run(const struct options *o, FILE *out, FILE *err);
/* The same in a session that may be used before and after. */
enum status build_run_in(struct session *s, const struct options *o, FILE *out, FILE *err);
/* Whether the libraries of these options are current; *why gets what changed. */
enum build_age { BUILD_UNKNOWN, BUILD_CURRENT, BUILD_STALE }; /* unknown: no build with these options is recorded */
enum build_age build_age(const struct options *o, struct buf *why);
/* `trib check`: the front end alone, on the files in options->operands or else on the whole project. */
enum status check_run(const struct options *o, FILE *out, FILE *err);
#endif

/* Building the models of a project: the command `trib build`. */
#ifndef TRIB_BUILDER_BUILD_BUILD_H
#define TRIB_BUILDER_BUILD_BUILD_H
#include <stdio.h>

struct buf;
struct options;
struct session;

/* Exit codes of every command. */
enum status { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_ENVIRONMENT = 3, STATUS_INTERRUPTED = 130 };

/* What a project remembers between builds. */
#define PROJECT_FOLDER ".trib"
#define PROJECT_STORE PROJECT_FOLDER "/store"
#define PROJECT_FRAGMENTS PROJECT_FOLDER "/fragments"
/* The folder of libraries that are made to be run at once, without code (`trib run --lazy`, tri_open_lazy). */
#define LAZY_FOLDER ".trib/lazy"
/* The folder of libraries with the profile hook, of `trib bench`. */
#define BENCH_FOLDER ".trib/bench"
#define BENCH_UNITS_FOLDER ".trib/bench-units" /* libraries whose entries are units */

/* The exit code of a command after these errors: STATUS_FAILED, STATUS_USAGE or STATUS_ENVIRONMENT. */
struct diags;
enum status build_diags_status(const struct diags *diags, const struct options *o);

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

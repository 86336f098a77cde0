/* What every step of one build uses: memory, files read, diagnostics, stores, and whether the build goes on. For the main thread;
 * workers use only the session's members that say so, `timing`, `stores.project`, `stores.cache`, and the atomic flags. */
#ifndef TRIB_BUILDER_BUILD_SESSION_CONTEXT_H
#define TRIB_BUILDER_BUILD_SESSION_CONTEXT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "builder/build/session/status.h"
#include "builder/build/session/stores.h"
#include "builder/store/lookups.h"
#include "frontend/names/host.h"

struct arena;
struct build_context;
struct build_spec;
struct cache;
struct diags;
struct disk;
struct inputs;
struct options;
struct session;
struct source;
struct sources;
struct store;
struct timing;

/* What one build is asked to do. Read only while it runs. */
struct build_request {
	const struct options *options;
	FILE *out, *err;
	const struct disk *disk; /* NULL: the real one */
	bool single;             /* `trib build FILE.tri`: no manifest, and no store beside the file */
	bool check;              /* `trib check`: the front end alone */
	bool caller_reports;     /* the caller prints the summary (build_start) */
};

/* How far a build came, and why no further. */
struct build_outcome {
	bool done;                /* every step has run, or none is needed */
	bool interrupted;         /* by a signal, or `superseded` */
	_Atomic bool superseded;  /* a file read so far has changed: the session starts another build */
	_Atomic bool environment; /* an error is not in the sources */
};

struct build_context {
	struct build_request request;
	struct session *session; /* outlives the build */
	struct arena *arena;
	struct sources *sources; /* the session's if its front ends stay warm */
	const struct disk *disk; /* where inputs are read */
	struct map loaded;       /* path → source id + 1; absent: errno, shifted by 32 */
	struct inputs *inputs;   /* every file and pattern that was read */
	uint32_t own_inputs;     /* the first inputs are trib's own files */
	struct diags *diags;
	struct timing *timing; /* NULL: nothing is measured */
	struct stores stores;
	struct lookups lookups[LOOKUP_LEVELS]; /* those of the cache once the steps have ended */
	struct build_outcome outcome;
};

/* How a step ends. A step that cannot be the last returns bool: true is STEP_NEXT. */
enum step { STEP_FAILED, STEP_NEXT, STEP_DONE };

/* True if lines that are neither errors nor warnings are printed. */
bool request_is_chatty(const struct build_request *r);
/* True if the text of a stage is printed in place of building libraries: --dump-…, --stop-after=…. */
bool options_print_stage(const struct options *o);

struct build_context context_new(struct session *s, struct build_request request);
void context_free(struct build_context *c);
/* Measures the build from now on. */
void context_measure(struct build_context *c);

/* The source of a file, read at the first call. NULL: errno says why. */
const struct source *context_load(struct build_context *c, const char *path);
/* The source of a file that was read; else NULL. */
const struct source *context_find_source(const struct build_context *c, const char *path);
/* context_load as an interface of the front end. */
struct frontend_host context_host(struct build_context *c);
/* True if the user or the session has stopped the build. On the main thread. */
bool context_is_stopped(struct build_context *c);
/* After a step: true if the next step may run. */
bool context_next(struct build_context *c, enum step end);
/* The exit code, by how far the build came and by its diagnostics. */
enum status context_status(const struct build_context *c);
#endif

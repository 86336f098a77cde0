/* C interface of libtrib.so: builds the models of a project, as `trib build` does. Link with -ltrib.
 *
 * A builder is one project folder with a process of its own, which stays between builds: so the code generator and the front end stay
 * in memory, and no fault or signal of a build reaches the program. The library prints nothing, changes no signal handler and keeps the
 * current folder. A project can name programs that a build runs: build only projects that you trust.
 *
 * Threads: different builders are independent, also on one project. One builder does one build at a time. Callbacks are called on the
 * thread that called tri_builder_run. Structs begin with `size`: set it to sizeof, because later versions add members.
 * Paths: relative ones belong to the project's folder. A child made by fork() must not use the builders of its parent. */
#ifndef TRI_BUILD_H
#define TRI_BUILD_H
#include <stddef.h>
#include "tri.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct tri_builder tri_builder;

/* How a build ended. */
enum tri_build_code {
	TRI_BUILD_OK,
	TRI_BUILD_FAILED,      /* the sources have errors */
	TRI_BUILD_USAGE,       /* wrong options, or no such model */
	TRI_BUILD_ENVIRONMENT, /* a file, a dependency, or the process that builds */
	TRI_BUILD_CANCELLED,
	TRI_BUILD_BUSY /* this builder is building already; nothing was done */
};

enum tri_build_event {
	TRI_BUILD_PHASE,      /* a phase has started: "load", "typecheck", "elaborate", "opt", "cache", "codegen", "publish" */
	TRI_BUILD_REASON,     /* with TRI_BUILD_EXPLAIN: a unit must be compiled, and why */
	TRI_BUILD_TASK_START, /* a worker has started a task, such as compiling a unit */
	TRI_BUILD_TASK_END
};

/* What a build does now. Texts are valid during the callback, and never NULL. */
typedef struct tri_build_progress {
	uint32_t size;        /* set by the library */
	int32_t event;        /* enum tri_build_event */
	const char *name;     /* of the phase, the unit or the task: "compile conv2d [8, 3, 3]" */
	const char *kind;     /* of a task: "unit", "weights", "link", "repository"; else "" */
	const char *reason;   /* TRI_BUILD_REASON; else "" */
	uint32_t worker;      /* of a task */
	uint32_t done, total; /* tasks that have ended, and all; 0 before the first task */
	int32_t ok;           /* TRI_BUILD_TASK_END: the task succeeded */
	int64_t wall_ns;      /* TRI_BUILD_TASK_END */
} tri_build_progress;

enum tri_build_severity { TRI_BUILD_ERROR, TRI_BUILD_WARNING };

/* An error or a warning. Texts are valid during the callback, and never NULL. */
typedef struct tri_build_diagnostic {
	uint32_t size;                               /* set by the library */
	int32_t severity;                            /* enum tri_build_severity */
	const char *code;                            /* "E0401", which `trib explain` knows */
	const char *message;                         /* one line */
	const char *label;                           /* about the place; may be "" */
	const char *help;                            /* what to do; may be "" */
	const char *file;                            /* "": it has no place, and the numbers are 0 */
	uint32_t line, column, end_line, end_column; /* from 1, columns in bytes; the end is exclusive */
} tri_build_diagnostic;

enum tri_build_messages {
	TRI_BUILD_WARNINGS, /* diagnostics are errors and warnings */
	TRI_BUILD_ERRORS,   /* only errors */
	TRI_BUILD_EXPLAIN   /* errors, warnings, and progress events with the reasons why units are compiled */
};

/* Zero or NULL: as the manifest says. Read only during the call. */
typedef struct tri_build_options {
	uint32_t size;
	uint32_t jobs;             /* workers; 0: of the manifest, else one for each CPU */
	const char *const *models; /* names; NULL: all */
	uint32_t n_models;
	int32_t level;                     /* '0', '1', '2', '3', 's'; 0: of the manifest */
	const char *target, *cpu, *out;    /* as `trib build --target`, --cpu, --out */
	const char *cache_dir;             /* folder of the user's cache; NULL: as set */
	const char *manifest_profile;      /* settings of a `profile` block of the manifest */
	int32_t messages;                  /* enum tri_build_messages */
	int32_t no_cache, locked, offline; /* not 0: as --no-cache, --locked, --offline */
	int32_t deny_warnings;             /* not 0: warnings fail the build */
	int32_t profile;                   /* not 0: tri_build_summary has the profile */
	const char *profile_file;          /* writes the profile to this file, too; NULL: none */
	/* They may call tri_builder_cancel, but no other function of this builder. The build waits for slow ones. NULL: none. */
	void (*on_progress)(void *user, const tri_build_progress *p);
	void (*on_diagnostic)(void *user, const tri_build_diagnostic *d);
	void *user;
} tri_build_options;

typedef struct tri_build_phase {
	const char *name;
	int64_t ns; /* of all workers together */
} tri_build_phase;

/* The result of a build. Texts and lists are valid until the builder's next run or its end. */
typedef struct tri_build_summary {
	uint32_t size;
	int32_t code;        /* enum tri_build_code */
	const char *message; /* why the build did not succeed: the first error, with its place; "" if it did */
	uint32_t errors, warnings;
	uint32_t units, compiled, reused, failed; /* units: all of them */
	uint32_t cache_hits, cache_misses;
	uint32_t jobs; /* workers */
	uint32_t n_phases, n_outputs;
	const tri_build_phase *phases;
	const char *const *outputs; /* paths of the files that are now current */
	int64_t wall_ns;
	uint64_t peak_bytes; /* of the memory of the process that built */
	double efficiency;   /* share of the workers' time that was busy, 0 to 1 */
	const char
		*profile; /* JSON as builder/profile/PROFILE.md describes it, for `trib profile report`; NULL: not asked for, or not made */
	size_t profile_bytes; /* without the zero byte at its end */
} tri_build_summary;

/* Opens the project in `folder`, which has a tri.build, and starts its process, with the environment of that moment. The caller closes the
 * result. NULL: *err says why; err may be NULL. */
tri_builder *tri_builder_open(const char *folder, tri_error *err);
/* Builds, and returns an enum tri_build_code. opt NULL: all defaults. `out` may be NULL. A cancelled or failed build leaves the last
 * good outputs; the next build continues with the units that are done. */
int32_t tri_builder_run(tri_builder *b, const tri_build_options *opt, tri_build_summary *out);
/* Ends the running build between two tasks; tri_builder_run then returns TRI_BUILD_CANCELLED, unless the build had ended before. Any
 * thread may call it, and callbacks. Without a running build, or a builder, it does nothing. */
void tri_builder_cancel(tri_builder *b);
/* Ends the process and waits for it. No call of another thread may be running. NULL is accepted. */
void tri_builder_close(tri_builder *b);

#ifdef __cplusplus
}
#endif
#endif

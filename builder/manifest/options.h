/* The options of the command line. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/terminal.h"
#include "builder/manifest/bench_options.h"
#include "builder/manifest/cache_command_options.h"
#include "builder/manifest/recording_options.h"
#include "builder/manifest/run_options.h"
#include "builder/manifest/watch_options.h"

enum stop_stage {
	STOP_NONE,
	STOP_LEX,
	STOP_PARSE,
	STOP_TYPECHECK,
	STOP_ELABORATE,
	STOP_IR,
	STOP_OPT,
	STOP_CODEGEN,
	STOP_PASS /* and more: the program passes, the tensor passes, then the loop passes */
};
enum dump {
	DUMP_NONE,
#define DUMP(id, text) DUMP_##id,
#include "builder/manifest/dumps.def"
};

/* Of the variable TRIB_PARAM_CODE. */
enum param_code_when { PARAM_CODE_AUTO, PARAM_CODE_ALWAYS, PARAM_CODE_NEVER };

/* The value of --format. PRINT_TEXT is the default; for `trib graph` it is dot. */
enum print_format { PRINT_TEXT, PRINT_JSON, PRINT_HTML, PRINT_MARKDOWN };

/* The value of --annotations: the CI service. */
enum annotations { ANNOTATE_NONE, ANNOTATE_GITHUB, ANNOTATE_GITLAB };

struct options {
	const char *command_name;    /* "build", "watch" */
	char **argv;                 /* the whole command line, NULL-terminated */
	const char *const *operands; /* models to build, files to check, … */
	uint32_t n_operands;
	uint32_t action; /* trib cache, config, server, pch: an enum action */
	const char *cache_dir;
	enum print_format format;
	bool locked, offline; /* tri.lock is not written; nothing is fetched */
	const char *since;    /* trib affected, trib build: a revision */
	const char *directory, *profile, *trace_file, *cpu, *target, *emit, *out, *linker, *weights;
	int opt;                                                  /* 0 … 3, MANIFEST_OPT_SIZE for -Os; -1: of the manifest */
	int jobs;                                                 /* 0: of the manifest */
	int most_failures;                                        /* of --keep-going; 0: no limit; -1: of the manifest */
	double load;                                              /* 0: no limit */
	int verbose, explain, timing, no_cache, low_memory, json; /* 1, 0, or -1 */
	enum annotations annotations;
	bool force; /* trib ci init */
	bool moved; /* paths of the command line were changed to be relative to a parent folder */
	enum color_when color;
	enum param_code_when param_code; /* when functions of parameters are compiled, and not interpreted */
	bool quiet;                      /* only errors and warnings */
	bool unread;                     /* of a build inside another command: what it prints is not shown unless it fails */
	bool no_server;                  /* builds in this process and starts no server */
	bool dry_run, lazy, help, version;
	bool open; /* trib graph, profile serve: in a browser */
	enum stop_stage stop;
	uint32_t dumps;                                     /* a bit for each enum dump */
	const char *program_after, *ir_after, *loops_after; /* of --dump-program, …: a stage or pass; NULL: all stages */
	bool check, diff;                                   /* trib fmt; diff: trib check, too */
	bool fix, deny_warnings;                            /* trib check */
	const char *const *inputs;                          /* trib run, bench, build of a file: "x=x.npy" */
	uint32_t n_inputs;
	const char *entry, *model_path;
	bool list;                  /* trib explain */
	bool stdlib;                /* trib pch create */
	bool measure;               /* trib devices */
	const char *kernels;        /* of trib devices: a model; NULL: none */
	int profile_hook;           /* 1: of trib bench; -1: of the manifest */
	uint32_t unit_entries;      /* trib bench: the calls of entry number unit_entries - 1 become the entries */
	double slower_than_ns;      /* trib build: writes profile_out only if it took longer */
	const char *profile_out;    /* trib bench: the file of the profile */
	int top;                    /* rows of a list; 0: the default */
	const char *max_time;       /* of measuring */
	const char *const *command; /* trib watch, profile record: the arguments after `--`, NULL-terminated */
	uint32_t n_command;
	struct run_options run;
	struct bench_options bench;
	struct recording_options recording;
	struct watch_options watch;
	struct cache_command_options cache;
};
#endif

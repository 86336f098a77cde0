/* The steps of a build, and what they make. A step gets what it reads and what it makes. A line above each group names its file. */
#ifndef TRIB_BUILDER_BUILD_BUILD_STEPS_H
#define TRIB_BUILDER_BUILD_BUILD_STEPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/build.h"
#include "builder/build/context.h"
#include "builder/build/project.h"
#include "builder/store/build_record.h"
#include "builder/store/history.h"

struct build_spec;
struct elab_input;
struct progress;
struct tensor;
struct timing;

/* What a build has made, counted and measured. */
struct build_result {
	VEC(const char *) outputs;                /* paths */
	uint32_t units, compiled, reused, failed; /* units: all of them */
	uint32_t later;                           /* units of lazy libraries that are compiled when they are called */
	uint32_t hits, misses;                    /* look-ups of fragments in the cache */
	uint32_t packed, packed_before;           /* weights that were packed now, and that were found packed */
	uint32_t linked;                          /* models */
	uint64_t saved_ns;                        /* what compiling the units of a build in the cache took */
	const char *slowest;                      /* the task that took longest; NULL: there was none */
	int64_t slowest_ns;
	const struct build_record_source *sources; /* of a build that was found in the cache; else NULL */
	uint32_t n_sources;
	double efficiency;          /* share of the workers' time that was busy; 0: not measured */
	int64_t started, published; /* published: when the last output was written; 0: none was */
};

/* The JSON object that ends every build and check with --message-format=json. */
struct build_summary {
	const char *type; /* "build" or "check" */
	bool ok;
	int64_t wall_ns;
	uint32_t jobs;
	const struct build_result *result;
	const struct lookups *lookups; /* of each level */
};
/* report.c: appends the object as one line. `t` may be NULL: all times are zero. */
void build_summary_print(const struct build_summary *s, const struct timing *t, struct buf *out);

/* ---- repository.c: The git repository around a project: the commit that libraries name. ---- */
struct repository {
	bool found;
	hash128 head; /* digest of the files that name the commit */
	bool is_described;
	char commit[41]; /* "": unknown */
	bool dirty;      /* an input differs from the commit */
};

/* Step: finds the repository, and records the files that name the commit as inputs. */
void repository_find(struct repository *r, struct arena *a, struct inputs *in);
/* Asks the git module for commit and dirty. On a worker. */
void repository_describe(struct repository *r, const struct inputs *in);

/* ---- last_build.c: The last build with the same flags: its record, and what has changed since. ---- */
struct last_build {
	hash128 key;                 /* of the record, by the flags */
	hash128 rest;                /* all that decides a build but flags and files */
	struct build_record *record; /* NULL: none */
	enum build_record_state state;
	const char *why_stale;
};

/* The key alone: no record is read. */
struct last_build last_build_key(const struct build_context *c);
/* Reads the record and compares it with the files. RECORD_FRESH: there is nothing to do, and `r` gets the outputs. */
struct last_build last_build_find(struct build_context *c, struct build_result *r);
/* Step: ends the build if only comments or white space of the sources changed. */
enum step last_build_compare_tokens(struct build_context *c, const struct project *p, struct last_build *last, struct repository *repo,
				    struct build_result *r);
/* Writes the record of this build. A build with warnings leaves none: the next one reports them again. */
void last_build_save(struct build_context *c, const struct project *p, const struct last_build *last, const struct repository *repo,
		     const struct build_result *r);
/* All files of all front ends, in the build's memory. */
struct build_record_source *project_list_sources(const struct build_context *c, const struct project *p, uint32_t *n);

/* ---- compile_set.c: Which units must be compiled, and why. ---- */

/* One fragment to link. Units of several models may share it. */
struct compile {
	hash128 key;
	struct unit_job *job; /* the first unit that needs it */
	const char *label;
	struct why why;     /* text NULL: it is not compiled */
	bool is_object;     /* it is an object; otherwise serialized loops */
	const void *object; /* NULL: to be made */
	size_t len;
	bool is_made, has_failed; /* in this build */
	struct buf uncached;      /* the object, if no cache holds it */
	struct buf error;
};
struct compile_set {
	VEC(struct compile *) list;
	struct map by_key; /* → list index */
};

/* Step: finds the fragments of all models that are to be linked, in memory and in the cache. */
bool compile_set_find(struct build_context *c, struct project *p, const struct repository *repo, struct compile_set *set,
		      struct build_result *r);
/* Step: prints why units are compiled, with --explain; --dry-run ends here. */
enum step compile_set_explain(const struct build_context *c, const struct project *p, const struct compile_set *set);
/* Step: prints how the ternary weights of linked models were packed, with --explain. */
enum step weights_explain(const struct build_context *c, const struct project *p);
/* Leaves the fragments to the next build, in the session's memory and in the project. */
void compile_set_retain(struct build_context *c, struct project *p, const struct compile_set *set, bool published);
void compile_set_free(struct compile_set *set);

/* ---- compile.c: Makes the fragment of one unit, on a worker. ---- */

/* False: f->error says why. */
bool compile_unit(struct build_context *c, struct compile *f, uint32_t worker);

/* ---- build.c: All that the steps have made. Only build.c and callers of build_start see all of it. ---- */
struct build {
	struct build_context context;
	struct last_build last;
	struct project project;
	struct progress *progress;
	struct repository repository;
	struct compile_set compiles;
	struct build_result result;
	enum status status;      /* when it has ended */
	struct profile *profile; /* of build_start; NULL: nothing was measured */
};

/* A build whose caller prints the summary. When it returns, the outputs are written and the diagnostics printed. build_end must follow. */
struct build *build_start(struct session *s, const struct options *o);
/* Writes the stores and frees the build. Not part of build_start, so that a watch reports an edit before the stores are written. */
void build_end(struct build *b);

/* ---- workers.c: Step: starts the workers, and the display of progress. ---- */

/* spec->jobs is set to 1 if make's jobserver cannot be joined. *progress is the caller's to free. */
bool workers_start(struct build_context *c, struct build_spec *spec, struct progress **progress);

/* ---- direct.c: Direct mode: the outputs of an equal build, copied from the user's cache. ---- */

/* Step: ends the build if the cache has its outputs. */
enum step direct_find(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		      struct build_result *r);
/* Puts the outputs of this build into the cache. */
void direct_save(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		 const struct build_result *r);

/* ---- sources.c: Steps of the front end: read and parse the files of all models, check them, elaborate their entries. ---- */
bool sources_load(struct build_context *c, struct project *p);
/* The files of `trib check FILE…`, as one model without a manifest. */
bool sources_load_files(struct build_context *c, struct project *p);
bool sources_check(struct build_context *c, struct project *p);
/* Makes guesses of certain edits that would make the sources worse. Call it before edits are shown or made. */
void sources_verify_edits(struct build_context *c, const struct project *p);
bool sources_elaborate(struct build_context *c, struct project *p);
/* The main blocks, for their errors. */
bool sources_elaborate_mains(struct build_context *c, struct project *p);

/* ---- checks.c: The checks of definitions that earlier builds left in the project's store. ---- */
void checks_load(struct build_context *c, struct model_job *m);
/* Nothing is saved of a build with diagnostics: its warnings must be reported again. */
void checks_save(struct build_context *c, const struct project *p);

/* ---- dump.c: Steps of --dump-… and --stop-after=…: they print the text of a stage in place of building a library. ---- */
enum step dump_files(const struct build_context *c, const struct project *p);
enum step dump_after_check(const struct build_context *c);
enum step dump_units(struct build_context *c, const struct project *p);
enum step dump_after_plan(struct build_context *c, struct project *p);

/* ---- params.c: Steps that give every parameter a value: from the weights file, else from its initializer. ---- */
bool params_open_files(struct build_context *c, struct project *p);
/* The same, but an absent file is no error: model_params.file_absent and .unknown. */
bool params_open_files_if_there(struct build_context *c, struct project *p);
/* Decides which parameters are stored as 16-bit floats, as in their files. Without this step none is. */
bool params_decide_storage(struct build_context *c, struct project *p);
bool params_bind(struct build_context *c, struct project *p);
bool params_bind_model(struct model_job *m);
/* Opens a parameter to read it in parts; see weights_open_param. */
struct weights_reader *params_open(void *model_job, struct arena *a, uint32_t param);
/* Computes the initial values of the states, and takes the capacities of the manifest. False: reported. */
bool states_bind(struct model_job *m, struct weights_host host);
/* A parameter with its elements, in `a` if they are not in memory yet. False: *error says why. `model_job`: a struct model_job. */
bool params_load(void *model_job, struct arena *a, uint32_t param, struct tensor *out, const char **error);

/* ---- param_names.c: Warnings about names that weights files and models do not share. ---- */

/* Before elaboration: warns about arguments of functions whose value the file seems to have under a prefix. */
void params_warn_prefixes(struct model_job *m, const struct elab_input *in_file, uint32_t n_file);
/* Step after elaboration: warns about arguments that are inputs because the file has no tensor of their name, and about tensors that
 * nothing takes. */
bool params_warn_names(struct build_context *c, const struct project *p);

/* ---- plan.c: Step: plans every unit that is needed. A plan whose record still holds is not made again. ---- */
bool units_plan(struct build_context *c, struct project *p, struct build_result *r);

/* ---- unit_records.c: The records of a model's units: why a unit is compiled, and what the next build compares with. ---- */

/* Why the unit is compiled; the text is in the build's memory. The cache counts the reason, except in a dry run. */
struct why unit_explain(struct unit_job *j);
/* Writes the records of all linked units into the project's store. */
void unit_records_save(struct build_context *c, const struct project *p);

/* ---- interface.c: Reports inputs, parameters and states of each entry, once. ---- */

/* Notes what the entries take, and in model_job.interface whether that was reported. */
void interfaces_note(const struct build_context *c, struct project *p);
/* The same for a model of which a record is known. */
void interface_note(struct model_job *m, const struct interface_record *now);
struct interface_record interface_of(struct arena *a, const struct hir_program *p);
/* Prints the interfaces that changed since the last report. */
void interfaces_print(const struct build_context *c, const struct project *p);

/* ---- tasks.c: Step: compiles, packs and links on the workers. ---- */
bool tasks_run(struct build_context *c, struct project *p, struct compile_set *set, struct repository *repo, struct progress *progress,
	       struct build_result *r);
/* Opens the code generator; false: reported. */
bool tasks_open_generators(struct build_context *c);

/* ---- report.c: Prints what a build reports at its end: diagnostics, the summary or the JSON record, and what was measured. ---- */

/* Makes the profile, sets r->efficiency, and writes the files of --trace and --profile-out. NULL: nothing was measured. `set` may be NULL. */
struct profile *report_profile_of(struct build_context *c, const struct project *p, struct build_result *r);
/* Prints all but the summary that a caller prints (request.caller_reports). */
enum status report_print(struct build_context *c, const struct project *p, const struct build_result *r);
/* Prints the tables of --timing. `profile` may be NULL. */
void report_timing(const struct build_context *c, const struct build_spec *spec, const struct profile *profile);

/* ---- annotate.c: Writes the annotations of --annotations. ---- */
void report_annotations(struct build_context *c);

/* ---- profile.c: Makes the profile of a build from what was measured. ---- */
struct profile *build_profile(const struct build_context *c, const struct project *p, const struct build_result *r, int64_t wall_ns);
/* Sets place, reason and callees of the units that were compiled. */
void profile_describe_units(struct profile *p, const struct build_context *c, const struct project *project);
#endif

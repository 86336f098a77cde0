/* One build: what its steps have made so far. Only build.c and callers of build_start see all of it; a step gets what it reads and what
 * it makes. */
#ifndef TRIB_BUILDER_BUILD_BUILD_STEPS_H
#define TRIB_BUILDER_BUILD_BUILD_STEPS_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"
#include "builder/build/compile_set.h"
#include "builder/build/context.h"
#include "builder/build/last_build.h"
#include "builder/build/project.h"
#include "builder/build/repository.h"
#include "builder/build/result.h"

struct build_spec;
struct elab_input;
struct progress;
struct tensor;

struct build {
	struct build_context context;
	struct last_build last;
	struct project project;
	struct progress *progress;
	struct repository repository;
	struct compile_set compiles;
	struct build_result result;
	enum status status; /* when it has ended */
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
enum step dump_after_plan(const struct build_context *c);

/* ---- params.c: Steps that give every parameter a value: from the weights file, else from its initializer. ---- */
bool params_open_files(struct build_context *c, struct project *p);
/* The same, but an absent file is no error: model_params.file_absent and .unknown. */
bool params_open_files_if_there(struct build_context *c, struct project *p);
/* Warns about inputs whose value the file seems to have under a prefix. */
void params_warn_prefixes(struct model_job *m, const struct elab_input *in_file, uint32_t n_file);
bool params_bind(struct build_context *c, struct project *p);
bool params_bind_model(struct model_job *m);
/* A parameter with its elements, in `a` if they are not in memory yet. False: *error says why. `model_job`: a struct model_job. */
bool params_load(void *model_job, struct arena *a, uint32_t param, struct tensor *out, const char **error);

/* ---- plan.c: Step: plans every unit that is needed. A plan whose record still holds is not made again. ---- */
bool units_plan(struct build_context *c, struct project *p, struct build_result *r);

/* ---- unit_records.c: The records of a model's units: why a unit is compiled, and what the next build compares with. ---- */

/* Why the unit is compiled, one line in the build's memory. The cache counts the reason, except in a dry run. */
const char *unit_explain(struct unit_job *j);
/* Writes the records of all linked units into the project's store. */
void unit_records_save(struct build_context *c, const struct project *p);

/* ---- tasks.c: Step: compiles, packs and links on the workers. ---- */
bool tasks_run(struct build_context *c, struct project *p, struct compile_set *set, struct repository *repo, struct progress *progress,
	       struct build_result *r);
/* Opens the code generator; false: reported. */
bool tasks_open_generators(struct build_context *c);

/* ---- report.c: Prints what a build reports at its end: diagnostics, and the summary or the JSON record. ---- */

/* Writes the timeline of --trace, and prints all but the summary that a caller prints (request.caller_reports). */
enum status report_print(struct build_context *c, const struct project *p, const struct build_result *r);
/* Prints the table of --timing. */
void report_timing(const struct build_context *c, const struct build_spec *spec, const struct build_result *r);
#endif

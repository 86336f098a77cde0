/* One running build. Private to build*.c; each step reads what the steps before it filled. */
#ifndef TRIB_BUILDER_BUILD_STATE_H
#define TRIB_BUILDER_BUILD_STATE_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "backend/plan/plan.h"
#include "backend/target/codegen.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/build.h"
#include "builder/deps/dependency.h"
#include "builder/manifest/platform.h"
#include "builder/manifest/build_spec.h"
#include "builder/store/build_record.h"
#include "builder/store/history.h"
#include "builder/weights/weights.h"
#include "scheduler/cancel.h"

struct compile;
struct generators;
struct piece;
struct session;
struct triw;

/* One unit of one model. */
struct unit_job {
	const struct hir_unit *unit;
	struct model_job *model;
	struct plan_options options;
	bool needed;  /* something calls it */
	bool planned; /* its plan was made in this build */
	bool has_code;
	hash128 code;                   /* hir_unit_hash */
	const struct unit_record *then; /* of the last build; NULL: none */
	const struct plan_record *made; /* the plan's: of the last build, from the cache, or of this build */
	struct arena *arena;            /* of the plan's code; NULL: it has none now */
	struct diags *diags;            /* NULL: nothing was said */
	struct plan *plan;              /* NULL: not needed, or failed */
	struct unit_record *now;        /* NULL: nobody asked for it yet */
	hash128 key;
	struct compile *fragment;
};

/* One fragment; units of several models may share it. */
struct compile {
	hash128 key;
	struct unit_job *job; /* the first that wanted it */
	const char *label, *why;
	const void *object; /* of a lazy library: its loops. NULL: not there (yet) */
	size_t len;
	bool made, failed; /* in this build */
	struct buf kept;   /* the object, if no cache has it */
	struct buf error;
};

struct model_job {
	struct build *build;
	const struct model_spec *spec;
	uint32_t index;
	struct platform platform;
	struct frontend *frontend;
	hash128 files;         /* digest of the list of its files */
	bool kept;             /* the front end is one that an earlier build left */
	struct index *symbols; /* NULL: nobody asks for them */
	struct hir_program *program;
	struct weights *weights;
	struct weights_bound bound;
	struct unit_job *units; /* per program->units */
	const struct plan **plans;
	hash128 *unit_keys;
	struct map unit_index; /* hir_unit.identity → index; never iterated */
	struct history *history;
	bool no_weights;     /* the weights file is not there, and the command does without it */
	bool unknown_params; /* and only it says which arguments are parameters: not elaborated */
	bool failed;         /* some step reported an error: later steps pass it over */
	bool written;        /* by this build, its outputs */
	bool current;        /* its outputs are up to date: nothing to link */
	hash128 link_digest;
	struct arena *arena; /* of weighing and linking */
	struct diags *diags; /* of its tasks */
	struct model_weights *weighed;
	struct triw *triw; /* NULL: the weights go into the library */
	_Atomic uint32_t next_part;
	const char *library, *header, *live, *opencl; /* paths, NULL when not emitted */
	const char *weights_file;                     /* path, NULL: none */
};

struct build {
	const struct options *options;
	FILE *out, *err;
	struct arena *session;
	struct sources *sources;
	struct map loaded; /* path → source id + 1; 0: absent */
	struct diags *diags;
	struct inputs *inputs;
	struct store *project;
	struct cache *cache;
	struct buf warnings;
	struct build_spec spec;
	struct dependencies dependencies;
	struct model_job *models;
	uint32_t n_models;
	hash128 trace_key, rest, compiler;
	hash128 generator; /* digest of the code generator's file */
	struct build_record *trace;
	enum build_record_state state;
	uint32_t own_inputs;                              /* the first inputs are trib's own files */
	const struct build_record_source *direct_sources; /* of a build that was found in the cache; else NULL */
	uint32_t n_direct_sources;
	const char *why_stale;
	bool done; /* nothing is left to do */
	bool in_repository;
	hash128 head; /* digest of what names the repository's commit */
	char commit[41];
	bool dirty, asked_git; /* asked_git: commit and dirty are known */
	struct timing *timing;
	struct progress *progress;
	struct session *lasting;       /* outlives the build */
	struct warm *warm;             /* the lasting session's; NULL: front ends end with the build */
	struct pool *pool;             /* the lasting session's */
	struct generators *generators; /* the lasting session's; NULL: nothing to compile */
	VEC(struct compile *) compiles;
	struct map compile_index;  /* key → compiles index */
	pthread_mutex_t plan_lock; /* of the arenas of plans that came from records, while their code is made */
	VEC(struct piece *) packers;
	uint32_t n_pieces;    /* of work for the pool */
	int64_t expected_ns;  /* of all of them, by earlier builds */
	struct cancel cancel; /* by an interrupt, or too many failures */
	VEC(const char *) outputs;
	uint32_t units, compiled, reused, failed_units, hits, misses, linked;
	uint32_t later;                       /* units of lazy libraries whose code is not in the cache: compiled when they are called */
	_Atomic uint32_t packed, kept_packed; /* weights: packed in this build, and found */
	bool single;                          /* `trib build FILE.tri`: no manifest, and no store beside it */
	bool check;                           /* `trib check`: no code, no stores */
	bool elsewhere;                       /* another process has done it */
	enum status elsewhere_status;
	bool interrupted, environment; /* environment: an error that is nobody's source's fault */
	_Atomic bool superseded;       /* what was read has changed again: this build is not worth ending */
	int lock;
	int64_t started, published; /* published: when the last output was in place; 0: none was written */
	void (*told)(const struct build *b, enum status s, void *ctx); /* NULL: a summary is printed */
	void *told_ctx;
};

/* build.c: a build in a session that outlives it. `told` is called once the outputs are published and errors printed, in place of the summary; what
 * is not needed for the outputs, such as writing the stores, comes after it. */
typedef void build_told(const struct build *b, enum status s, void *ctx);
enum status build_in_session(struct session *lasting, const struct options *o, build_told *told, void *ctx);

/* build.c: what a build with these options will find in the session: its workers; its front ends. Nothing is told. */
bool build_start_pool(struct session *lasting, const struct options *o);
bool build_start_frontends(struct session *lasting, const struct options *o);
/* build.c: the manifest alone, and then `visit`. */
typedef enum status build_visitor(struct build *b, void *ctx);
enum status build_visit_manifest(const struct options *o, build_visitor *visit, void *ctx);
/* build.c: the front end and the parameters of the models that the options name, and then `visit`; no stores, no code. */
enum status build_visit(const struct options *o, build_visitor *visit, void *ctx);

/* The same without the values of the parameters. */
enum status build_visit_elaborated(const struct options *o, build_visitor *visit, void *ctx);
/* The same, and weights files need not be there: the models' no_weights and unknown_params tell. */
enum status build_visit_params(const struct options *o, build_visitor *visit, void *ctx);
/* The same, with what the front ends know of names, and with the records of the last build if there is one. */
enum status build_visit_indexed(const struct options *o, build_visitor *visit, void *ctx);
/* The front end alone, of the project or of the files that the options name. */
enum status build_visit_checked(const struct options *o, bool files, build_visitor *visit, void *ctx);
/* The manifest and its dependencies, asked for anew as `trib update` does; options->models are their names. */
enum status build_visit_dependencies(const struct options *o, build_visitor *visit, void *ctx);

/* record.c: the record of the last build. */
void build_record_key(struct build *b);
bool build_nothing_to_do(struct build *b); /* true: b->done */
void build_save_record(struct build *b);
struct build_record_source *build_list_sources(struct build *b, uint32_t *n); /* all files of all models' front ends */
/* direct.c: whole builds from the user's cache. */
bool build_find_direct(struct build *b); /* b->done if it was there */
void build_record_direct(struct build *b);
/* dependencies.c: what the sources may import from other repositories. */
bool build_update_dependencies(struct build *b);
bool build_find_dependencies(struct build *b, const struct manifest *m, enum dependency_mode mode);
/* sources.c: manifest, models, front ends. */
bool build_read_manifest(struct build *b);
bool build_load_sources(struct build *b);
bool build_load_files(struct build *b); /* of `trib check FILE…`, as one model without a manifest */
bool build_compare_tokens(struct build *b);
bool build_check(struct build *b);
bool build_elaborate(struct build *b);
bool build_elaborate_mains(struct build *b); /* for their errors */
const struct source *build_load(void *build, const char *path);
/* checks.c: what the store knows of the checks of a model's files, and what it is to know. */
void build_load_checks(struct build *b, struct model_job *m);
void build_save_checks(struct build *b);
/* params.c */
bool build_open_weights(struct build *b);
bool build_open_weights_if_there(struct build *b); /* a file that is not there is no error */
bool build_elaborate_known(struct build *b);       /* the models whose parameters are known without it */
/* Warns of arguments of functional entries that are inputs because their tensors' names have a prefix. */
void build_warn_prefixes(struct model_job *m, const struct elab_input *in_file, uint32_t n_file);
bool build_bind_weights(struct build *b);
bool build_bind_model(struct build *b, struct model_job *m); /* m->program's parameters */
bool build_load_param(void *model_job, struct arena *a, uint32_t param, struct tensor *out,
		      const char **error); /* with its elements, in `a` if it is not kept */
/* plan.c: the plans of all units that are needed, from the last build's records where nothing that they depend on changed. */
bool build_plan(struct build *b);
/* build_load_plans.c: records of plans. The first two on the main thread only. */
bool build_load_plans(struct unit_job *j); /* fills `then`; true: and the plan */
void build_record_plan(
	struct unit_job *j); /* fills `made`, and moves the plan itself into the build's memory; its code stays in its arena */
void build_share_plan(struct unit_job *j); /* into the user's cache */
/* The plan with its code, made now if it is not there. */
const struct plan *build_plan_code(struct unit_job *j);
/* Nothing more is compiled from it: frees the code, unless values are still to be computed from its build_fn or kernels to be made. */
void build_drop_code(struct unit_job *j);
uint8_t build_unit_opt(const struct unit_job *j);                        /* MANIFEST_OPT_SIZE for -Os */
struct unit_job *build_find_unit(struct model_job *m, hash128 identity); /* NULL: not of the model */
hash128 build_unit_code(struct unit_job *j);                             /* hir_unit_hash */
/* units.c: keys, what must be compiled and why. */
bool build_find_fragments(struct build *b);
void build_explain(struct build *b);
void build_save_history(struct build *b);
/* workers.c: the pool and what limits it. */
bool build_start_workers(struct build *b);
/* tasks.c: compiling, packing and linking on the pool. */
bool build_run_tasks(struct build *b);
bool build_open_generators(struct build *b); /* false: reported */
void build_free_packers(struct build *b);
/* report.c */
bool build_tells(const struct build *b); /* what is neither error nor warning */
void build_report(struct build *b, enum status s);
bool build_asks_text(const struct options *o); /* of a stage, instead of a library */
/* link.c: one model's objects to its outputs; on a worker. */
void build_link_digest(struct model_job *m);
void build_layout_weights(struct model_job *m, uint32_t worker);
/* Packs parts until none is left; several workers may do so at once, each with its own `a`. NULL, or what went wrong. */
const char *build_pack(struct model_job *m, struct arena *a, uint32_t worker);
void build_link(struct model_job *m, uint32_t worker);
/* objects.c: what it is linked from. On a worker; false: told. */
enum { BUILD_MOST_OPENCL_OBJECTS = 16 };
struct gathered {
	struct object **at; /* the model's own first; room for all */
	uint32_t n;
};
bool build_gather(struct model_job *m, struct gathered *g); /* the units in the program's order, then the runtime */
bool build_gather_opencl(struct model_job *m, struct gathered *g);
bool build_link_fails(struct model_job *m, const char *error); /* tells it: false */
void build_keep_objects(struct build *b);                      /* for the next build of the session */
/* dump.c */
bool build_dump_files(struct build *b);
bool build_stop_after_check(struct build *b);
bool build_dump(struct build *b);
bool build_stop_after_plan(struct build *b);
/* git.c: provenance. */
bool build_note_repository(struct build *b);
void build_describe_commit(struct build *b); /* into commit and dirty; on a worker */

/* Has somebody asked the build to end, or have its inputs changed again? On the main thread. */
bool build_stopped(struct build *b);
/* Removes the temporaries that killed builds left beside the outputs. */
void build_sweep(const struct build *b);
/* After a step: may the build go on? Marks what failed. */
bool build_may_go_on(struct build *b);
#endif

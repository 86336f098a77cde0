/* One model of a build: its front end, its parameters, and a variant for each back end, with units and weights. */
#ifndef TRIB_BUILDER_BUILD_MODEL_MODEL_H
#define TRIB_BUILDER_BUILD_MODEL_MODEL_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/program.h"
#include "backend/link/backend.h"
#include "backend/plan/plan.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/outputs.h"
#include "builder/manifest/platform.h"
#include "builder/store/interface_record.h"
#include "builder/weights/weights.h"

struct build_context;
struct build_outcome;
struct compile;
struct fragment_log;
struct model_job;
struct options;
struct plan;
struct variant;

/* One unit of one variant. */
struct unit_job {
	const struct hir_unit *unit;
	struct variant *variant;
	struct plan_options options;
	bool is_needed;    /* an entry, or called by a needed unit */
	uint32_t in_chain; /* of the plans; plan.c */
	hash128 code_hash; /* hir_unit_hash; zero: not computed */

	const struct unit_record *old_record;  /* of the last build; NULL: none */
	const struct plan_record *plan_record; /* of the last build, from the cache, or of this build */
	bool is_planned;                       /* the plan was made in this build */
	struct plan *plan;                     /* NULL: not needed, or failed */
	struct arena *arena;                   /* of the plan's code; NULL: it has none now */
	struct diags *diags;                   /* of planning; NULL: none */

	struct unit_lines *lines; /* NULL: without a plan */
	hash128 key;
	struct compile *compile;        /* NULL: not linked in this build */
	struct unit_record *new_record; /* NULL: not made yet */
};

/* Paths; NULL when not emitted. */
enum { MOST_OUTPUTS = EMIT_COUNT * (EMIT_FILES + 1) };
struct model_outputs {
	const char *emitted[EMIT_COUNT][EMIT_FILES];
	const char *weights[EMIT_COUNT];
};

struct model_params {
	struct weights *file; /* NULL: none */
	dtype *file_types;    /* for each parameter that of its tensor in the file; NULL: not looked up */
	dtype *types;         /* in which the library holds it; NULL: all as declared */
	struct weights_bound bound;
	struct tensor *initial_states; /* for each state of the program; data NULL: zeros */
	int64_t *capacities;           /* for each capacity of the program; 0: the manifest has none */
	bool file_absent;              /* the weights file is absent, and the command works without it */
	bool unknown;                  /* only the absent file says which arguments are parameters: not elaborated */
};

/* Arrays with an element for each unit of the program. */
struct model_units {
	struct unit_job *jobs;
	const struct plan **plans;
	hash128 *keys;
	struct map by_identity;    /* hir_unit.identity → index; never iterated */
	pthread_mutex_t plan_lock; /* while code is made for plans that came from records: their arenas */
};

/* The weights of a variant. */
struct model_pack {
	struct arena *arena;
	struct model_weights *layout;
	struct triw *triw;         /* NULL: the weights go into the library */
	struct packed *packed;     /* the library that is being written; NULL: not begun, or the weights go into a file */
	struct model_trits *trits; /* once they are packed */
	uint32_t n_trits;
	bool is_finished;           /* a library that was linked before has them, too */
	_Atomic uint32_t next_part; /* to be packed */
	_Atomic uint32_t n_packed, packed_before;
};

/* A model for one back end. Plans depend on the back end's target, and all else on plans. */
struct variant {
	struct model_job *model;
	const struct backend *backend;
	enum emit emit; /* its files, which may not be asked for */
	const struct target *target;
	hash128 target_id;          /* of target and back end: what decides its fragments */
	bool is_lazy;               /* units are compiled when they are called */
	bool is_fallback;           /* a part of the libraries for devices, too */
	const char *needs;          /* a feature that the library needs and some devices lack; NULL: none, or it was not linked */
	struct ir_program *program; /* the decisions of program passes; NULL before programs_decide */
	struct model_units units;
	struct model_pack pack;
	struct fragment_log *log; /* NULL: not open */
};

struct model_link {
	hash128 digest;
	bool is_current;                         /* the outputs are up to date */
	bool written;                            /* this build wrote the outputs */
	struct backend_output texts[EMIT_COUNT]; /* of the back ends that read the HIR */
	struct arena *arena;
};

/* What the entries take, and what an earlier build reported of them (interface.c). */
struct model_interface {
	struct interface_record now, before;
	bool has_changed;
};

struct model_job {
	const struct model_spec *spec;
	uint32_t index;
	struct platform platform;
	struct model_outputs outputs;
	bool failed;         /* a step reported an error: later steps skip the model */
	struct diags *diags; /* of its tasks */

	struct frontend *frontend;
	bool is_warm;                 /* an earlier build left the front end */
	hash128 files;                /* digest of the list of its files */
	struct index *index_of_names; /* NULL: not asked for */
	struct hir_program *program;
	const struct unit_summary **summaries; /* of its units; NULL: not made */
	hash128 *code_hashes;                  /* the same: hir_unit_hash; zero: not computed */

	struct model_params params;
	struct model_interface interface;
	struct history *history; /* of the last build; NULL: not loaded */
	struct variant variants[EMIT_COUNT];
	uint32_t n_variants;
	struct model_link link;
};

void model_init(struct model_job *m);
/* Adds a variant for each back end that the model emits and that reads plans. Adds one for the CPU if there is none, so that plans are checked, or if
 * it is the fallback of another.
 * False: a back end cannot make code for the platform; reported. */
bool model_add_variants(struct arena *arena, struct diags *diags, const struct options *options, struct model_job *m);
/* The front end goes to the session if it stays warm. */
void model_free(struct build_context *c, struct model_job *m);
/* The files of an emit, without text, in the memory of the model's link. */
struct backend_output model_new_output(struct model_job *m, enum emit e);
/* Frees the texts. */
void model_free_output(struct backend_output *output);
/* Those that are emitted, the weight files last. Returns their number. */
uint32_t model_list_outputs(const struct model_outputs *o, const char *paths[MOST_OUTPUTS]);
/* The unit with this identity; NULL: the model has none. */
struct unit_job *variant_find_unit(struct variant *v, hash128 identity);
/* The path of the variant's first file; NULL: it is not asked for. */
const char *variant_output(const struct variant *v);
/* The model's fallback; NULL: it has none. */
struct variant *model_fallback(struct model_job *m);
/* True if it becomes a part of any file. */
bool variant_is_linked(const struct variant *v);
/* The path of the first file of the model's first variant; NULL: none. */
const char *model_output(const struct model_job *m);
/* True if units become objects; otherwise serialized loops. */
bool variant_makes_objects(const struct variant *v);
/* True if this is the name of the variant's back end, as in records of units. */
bool variant_is_for(const struct variant *v, const char *backend);
/* What earlier builds of the variant compiled, opened at the first call. NULL: the build has no project's store. */
struct fragment_log *variant_log(struct store *store, struct variant *v);
/* The name of a unit or model for messages, with the variant's back end if the model has several. In `a`. */
const char *variant_label(struct arena *a, const struct variant *v, const char *name);
/* Reports why the model cannot be linked. Returns false. */
bool model_link_failed(struct model_job *m, const char *error);
/* Reports an output that cannot be written: errno says why. */
void model_write_failed(struct build_outcome *outcome, struct model_job *m, const char *path);
#endif

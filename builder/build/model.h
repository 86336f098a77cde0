/* One model of a build: its front end, parameters, units and link. */
#ifndef TRIB_BUILDER_BUILD_MODEL_H
#define TRIB_BUILDER_BUILD_MODEL_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/hash.h"
#include "base/map.h"
#include "builder/manifest/platform.h"
#include "builder/weights/weights.h"

struct build_context;
struct compile;
struct model_job;
struct plan;

/* One unit of one model. */
struct unit_job {
	const struct hir_unit *unit;
	struct model_job *model;
	struct plan_options options;
	bool is_needed; /* an entry, or called by a needed unit */
	bool has_code_hash;
	hash128 code_hash; /* hir_unit_hash */

	const struct unit_record *old_record;  /* of the last build; NULL: none */
	const struct plan_record *plan_record; /* of the last build, from the cache, or of this build */
	bool is_planned;                       /* the plan was made in this build */
	struct plan *plan;                     /* NULL: not needed, or failed */
	struct arena *arena;                   /* of the plan's code; NULL: it has none now */
	struct diags *diags;                   /* of planning; NULL: none */

	hash128 key;
	struct compile *compile;        /* NULL: not linked in this build */
	struct unit_record *new_record; /* NULL: not made yet */
};

/* Paths; NULL when not emitted. */
enum { MOST_OUTPUTS = 5 };
struct model_outputs {
	const char *library, *header, *live, *opencl;
	const char *weights;
};

struct model_params {
	struct weights *file; /* NULL: none */
	struct weights_bound bound;
	bool file_absent; /* the weights file is absent, and the command works without it */
	bool unknown;     /* only the absent file says which arguments are parameters: not elaborated */
};

/* Arrays with an element for each unit of the program. */
struct model_units {
	struct unit_job *jobs;
	const struct plan **plans;
	hash128 *keys;
	struct map by_identity;    /* hir_unit.identity → index; never iterated */
	struct history *history;   /* of the last build */
	pthread_mutex_t plan_lock; /* while code is made for plans that came from records: their arenas */
};

struct model_link {
	hash128 digest;
	bool is_current; /* the outputs are up to date */
	bool written;    /* this build wrote the outputs */
	struct arena *arena;
	struct model_weights *layout;
	struct triw *triw;          /* NULL: the weights go into the library */
	_Atomic uint32_t next_part; /* of the weights, to be packed */
	_Atomic uint32_t packed, packed_before;
};

struct model_job {
	struct build_context *context;
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

	struct model_params params;
	struct model_units units;
	struct model_link link;
};

void model_init(struct model_job *m, struct build_context *c);
/* The front end goes to the session if it stays warm. */
void model_free(struct model_job *m);
/* Those that are emitted, the weight file last. Returns their number. */
uint32_t model_list_outputs(const struct model_outputs *o, const char *paths[MOST_OUTPUTS]);
/* The unit with this identity; NULL: the model has none. */
struct unit_job *model_find_unit(struct model_job *m, hash128 identity);
/* Reports why the model cannot be linked. Returns false. */
bool model_link_failed(struct model_job *m, const char *error);
/* Reports an output that cannot be written: errno says why. */
void model_write_failed(struct model_job *m, const char *path);

/* ---- plan_cache.c: Records of plans, in the last build's history and in the user's cache, and the code of plans. ---- */

/* Gives the unit its plan from a record. False: no record is valid. Sets old_record in both cases. On the main thread. */
bool plan_cache_find(struct unit_job *j);
/* Makes the record of the unit's new plan, in the build's memory. The plan's code stays in its arena. On the main thread. */
void plan_cache_record(struct unit_job *j);
/* Puts the record into the user's cache. */
void plan_cache_share(struct unit_job *j);
/* Returns the plan with its code. Makes the code if the plan came from a record. */
const struct plan *plan_cache_code(struct unit_job *j);
/* Frees the code when nothing more is compiled from it. It stays if values are still to be computed by its build_fn, or kernels to be
 * made. */
void plan_cache_drop_code(struct unit_job *j);
/* Returns the unit's level of optimisation; MANIFEST_OPT_SIZE for -Os. */
uint8_t unit_opt(const struct unit_job *j);
#endif

/* What the last build recorded of each unit of a model, for each back end: what it was compiled from, and the record of its plan. It is in the project's
 * store, in shards of about a hundred units. An edit rewrites one or two shards. */
#ifndef TRIB_BUILDER_STORE_HISTORY_H
#define TRIB_BUILDER_STORE_HISTORY_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/program.h"
#include "base/hash.h"
#include "base/map.h"
#include "builder/store/compile_reason.h"
#include "builder/store/plan_record.h"

struct arena;
struct serializer;
struct store;

struct unit_record {
	const char *name, *file, *definition; /* "Block(64) [N, 8]", "src/net.tri", "Block" */
	const char *backend;                  /* its name */
	hash128 tokens, key, target;
	const char *cpu;
	struct plan_record made;
	struct unit_summary summary; /* of the code that `made` names, by that compiler */
};
struct history {
	struct unit_record *units;
	uint32_t n;
	struct map by_identity, by_definition; /* to index + 1 */
};

/* The units of the last build, none if there was no build. Memory is in `a` but for the maps, which history_free frees. */
struct history *history_load(struct arena *a, struct store *project, const char *model);
void history_free(struct history *h); /* NULL is accepted */
/* Saves the units of this build. Those that did not change point into `old`. */
void history_save(struct store *project, const char *model, const struct history *old, const struct unit_record *const *units, uint32_t n);
/* Writes or reads all units as one value. */
void history_serialize(struct serializer *s, struct history *h);
/* NULL: unknown. */
const struct unit_record *history_find(const struct history *h, hash128 identity, const char *backend);
/* One of the records of the definition for the back end; NULL: there is none. */
const struct unit_record *history_of_definition(const struct history *h, const char *file, const char *definition, const char *backend);
/* Why `now` has to be compiled, in one line in `a`. `old`: the last record of the unit; `kin`: a record of the same definition; both may
 * be NULL. `line`: of the definition (history_explain.c). */
struct why {
	enum compile_reason reason;
	const char *text;
};
struct why history_explain(struct arena *a, const struct unit_record *old, const struct unit_record *kin, const struct unit_record *now,
			   uint32_t line);
#endif

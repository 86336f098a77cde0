/* What the last build knew of each unit of a model: why it would have to be compiled now, and the record of its plan. Kept in the project's store, in shards of some hundred units, of which
 * an edit rewrites one or two. */
#ifndef TRIB_BUILDER_STORE_HISTORY_H
#define TRIB_BUILDER_STORE_HISTORY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/map.h"
#include "builder/store/compile_reason.h"
#include "builder/store/plan_record.h"

struct arena;
struct buf;
struct store;
struct deserializer;

struct unit_record {
	const char *name, *file, *definition; /* "Block(64) [N, 8]", "src/net.tri", "Block" */
	hash128 tokens, key, target;
	const char *cpu;
	struct plan_record made;
};
struct history {
	const struct unit_record *units;
	uint32_t n;
	struct map by_identity, by_definition; /* to index + 1 */
};

/* Never NULL: empty when there is none. Memory in `a` but for the maps, which history_free frees. */
struct history *history_load(struct arena *a, struct store *project, const char *model);
void history_free(struct history *h); /* NULL is accepted */
/* `units` are the model's units now; those that did not change point into `then`. */
void history_save(struct store *project, const char *model, const struct history *then, const struct unit_record *const *units, uint32_t n);
/* All of a model as one value, which history_decode takes from w, and says in w whether it was one. */
void history_encode(struct buf *out, const struct history *h);
struct history *history_decode(struct arena *a, struct deserializer *w);
/* NULL: not known. */
const struct unit_record *history_find(const struct history *h, hash128 identity);
/* Some record of the definition. */
const struct unit_record *history_of_definition(const struct history *h, const char *file, const char *definition);
/* Why `now` has to be compiled, one line in `a`. `then`: the record of the same unit, `kin`: one of the same definition; NULL where there is none. `line`: of
 * the definition (history_explain.c). */
struct why {
	enum compile_reason reason;
	const char *text;
};
struct why history_explain(struct arena *a, const struct unit_record *then, const struct unit_record *kin, const struct unit_record *now,
			   uint32_t line);
#endif

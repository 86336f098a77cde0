/* What the last build knew of each unit: to say why one is compiled now, and how long it will take. One record a model in the project's store. */
#ifndef TRIB_BUILDER_HISTORY_H
#define TRIB_BUILDER_HISTORY_H
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct store;

struct unit_part { /* a callee that was taken in */
	const char *name;
	hash128 identity, code;
};
struct unit_record {
	const char *name, *file, *definition; /* "Block(64) [N, 8]", "src/net.tri", "Block" */
	hash128 identity, tokens, code, key, compiler, target;
	const char *cpu;
	uint8_t opt; /* MANIFEST_OPT_SIZE for -Os */
	int64_t compile_ns;
	struct unit_part *parts;
	uint32_t n_parts;
};
struct history {
	struct unit_record *units;
	uint32_t n;
};

/* Never NULL: empty when there is none. Memory in `a`. */
const struct history *history_load(struct arena *a, struct store *project, const char *model);
void history_save(struct store *project, const char *model, const struct history *h);
const struct unit_record *history_find(const struct history *h, hash128 identity);
/* Why `now` has to be compiled, one line in `a`. `line`: of its definition. */
const char *history_explain(struct arena *a, const struct history *h, const struct unit_record *now, uint32_t line);
#endif

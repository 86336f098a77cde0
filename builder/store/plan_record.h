/* A plan's record: what it was made from, and what it looks like from outside. If the former is as it was, the latter stands for the plan, and the unit is not
 * lowered and optimised again. Part of the records of units (builder/store/history.h), and in the user's cache on its own. It names no paths. */
#ifndef TRIB_BUILDER_STORE_PLAN_RECORD_H
#define TRIB_BUILDER_STORE_PLAN_RECORD_H
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/hash.h"

struct arena;
struct buf;
struct deserializer;

/* Another unit that a plan looked at. */
enum part_kind {
	PART_CALLED,    /* code: zero */
	PART_TAKEN_IN,  /* code: hir_unit_hash */
	PART_EVALUATED, /* in the build_fn. code: hir_unit_hash_all */
	PART_KIND_COUNT
};
struct unit_part {
	enum part_kind kind;
	const char *name; /* of one that was taken in; else "" */
	hash128 identity, code;
	uint64_t facts; /* inline_callee_facts */
};
struct plan_record {
	hash128 identity, code, compiler;
	uint8_t opt; /* MANIFEST_OPT_SIZE for -Os */
	struct unit_part *parts;
	uint32_t n_parts;
	struct plan plan; /* slots, face and hashes only, and in slots no callees: … */
	hash128 *callees; /* … those by identity, per slot; zero: data */
};

enum { PLAN_RECORD_LEAST = 5 * 16 + 1 + 5 * 4 }; /* bytes of one without parts, slots and weights */
void plan_record_put(struct buf *b, const struct plan_record *r);
/* Memory in `a`, strings in what w reads; says in w whether it was one. */
void plan_record_take(struct arena *a, struct deserializer *w, struct plan_record *r);
/* Under which the user's cache keeps the last plan of a unit with this code; what else it was made from decides whether it holds. */
hash128 plan_record_key(hash128 compiler, uint8_t opt, hash128 identity, hash128 code);
#endif

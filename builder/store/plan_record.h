/* What a plan was made from, and its interface: slots, types and hashes. While its sources are unchanged the record replaces the plan,
 * and the unit is not lowered and optimised again. It is part of a unit's record (builder/store/history.h), and is in the user's cache
 * on its own. It names no paths. */
#ifndef TRIB_BUILDER_STORE_PLAN_RECORD_H
#define TRIB_BUILDER_STORE_PLAN_RECORD_H
#include <stdint.h>
#include "backend/plan/plan.h"
#include "base/hash.h"

struct serializer;

/* Another unit that a plan depends on. */
enum part_kind {
	PART_CALLED,    /* code: zero */
	PART_INLINED,   /* code: hir_unit_hash */
	PART_EVALUATED, /* in the build_fn. code: hir_unit_hash_all */
	PART_KIND_COUNT
};
struct unit_part {
	enum part_kind kind;
	const char *name; /* of an inlined unit; else "" */
	hash128 identity, code;
	uint64_t facts;   /* inline_callee_facts */
	uint64_t decided; /* ir_program_code */
};
struct plan_record {
	hash128 identity, code, compiler, target; /* target: target_hash */
	uint8_t opt;                              /* MANIFEST_OPT_SIZE for -Os */
	uint64_t decided;                         /* ir_program_code of the unit */
	struct unit_part *parts;
	uint32_t n_parts;
	struct plan plan;      /* only slots, without callees, interface, origins, without units, and hashes */
	hash128 *origin_units; /* the identity of each unit of plan.origins.table */
	hash128 *callees;      /* for each slot the identity of its callee; zero: data */
};

/* Writes or reads a record. */
void plan_record_serialize(struct serializer *s, struct plan_record *r);
/* The key of the last plan of a unit with this code, for this target, in the user's cache. Its record says what else it was made from.
 * `unit`: of its identity and what was decided for it. */
hash128 plan_record_key(hash128 compiler, hash128 target, uint8_t opt, hash128 unit, hash128 code);
#endif

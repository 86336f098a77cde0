/* The program of core units made by hand, summarised and decided. */
#ifndef TRIB_TESTS_PROGRAM_FIXTURE_H
#define TRIB_TESTS_PROGRAM_FIXTURE_H
#include "backend/lower/summary.h"
#include "backend/passes/program/program_passes.h"
#include "backend/target/target.h"
#include "tests/unit/backend/hir_fixture.h"
#include "tests/unit/unit.h"

/* Of up to four units, callees first, NULL after the last. `entry`: one of them; NULL: there is none. */
static inline struct ir_program *program_decided(struct arena *a, struct hir_unit *const units[4], enum target_id target,
						 const struct hir_unit *entry)
{
	static const uint32_t no_params[HIR_CAP] = {IR_NONE, IR_NONE, IR_NONE, IR_NONE, IR_NONE, IR_NONE, IR_NONE, IR_NONE};
	struct hir_program from = {.units = (struct hir_unit **)(uintptr_t)units}; /* only read */
	while (from.n_units < 4 && units[from.n_units])
		from.n_units++;
	struct ir_program *p = lower_program(a, &from, lower_summaries(a, &from, NULL), NULL);
	if (entry)
		ir_program_add_entry(p, (uint32_t)(ir_program_find(p, entry) - p->units), no_params);
	program_decide(p, target_get(target), true, NULL);
	return p;
}
#endif

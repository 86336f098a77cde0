/* What program passes see of a unit. */
#ifndef TRIB_BACKEND_LOWER_SUMMARY_H
#define TRIB_BACKEND_LOWER_SUMMARY_H
#include "backend/ir/program.h"

/* Lowers u and summarises the function. The summary is in `a`, but for the unit's symbol. A unit that cannot be lowered has one without a body: planning
 * reports the error. Thread-safe. */
struct unit_summary *lower_summary(struct arena *a, const struct hir_unit *u);
/* Makes the program in `a`, with nothing decided. `summaries`: of its units; NULL: made here. `types`: for each parameter that of its tensor in the file;
 * NULL: as declared. */
struct ir_program *lower_program(struct arena *a, const struct hir_program *p, const struct unit_summary *const *summaries,
				 const dtype *types);
#endif

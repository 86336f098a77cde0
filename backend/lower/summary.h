/* What program passes see of a unit. */
#ifndef TRIB_BACKEND_LOWER_SUMMARY_H
#define TRIB_BACKEND_LOWER_SUMMARY_H
#include "backend/ir/program.h"

/* Lowers the units and summarises their functions, but for those whose summary is in `known`, which may be NULL. The new summaries are in `a`, but for symbols. A
 * unit that cannot be lowered has one without a body: planning reports the error. */
const struct unit_summary **lower_summaries(struct arena *a, const struct hir_program *p, const struct unit_summary *const *known);
/* Makes the program in `a`, with nothing decided. `types`: for each parameter that of its tensor in the file; NULL: as declared. Returns NULL if a summary calls
 * what is no unit of the program before it, as a damaged one may. */
struct ir_program *lower_program(struct arena *a, const struct hir_program *p, const struct unit_summary *const *summaries,
				 const dtype *types);
#endif

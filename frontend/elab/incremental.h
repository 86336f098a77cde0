/* Elaborates a program of which little has changed since the last time. */
#ifndef TRIB_FRONTEND_ELAB_INCREMENTAL_H
#define TRIB_FRONTEND_ELAB_INCREMENTAL_H

#include <stdint.h>
#include "frontend/unit/reads.h"

struct hir_program;
struct elab_request;
struct frontend;

/* Updates the last program: makes the units that read a change again, in place. NULL: there is no last program, or more than bodies of
 * functions changed, so that the whole program must be elaborated. Reports nothing. */
struct hir_program *elab_incremental(struct frontend *f, const struct elab_request *req);
/* Saves a program after a whole elaboration, which starts with elab_discard_saved. `reads`: those that belong to no unit. */
void elab_save(struct frontend *f, const struct elab_request *req, struct hir_program *p, struct item_reads reads, uint64_t steps);
void elab_discard_saved(struct frontend *f);
#endif

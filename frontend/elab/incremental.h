/* Elaborating a program again, of which little has changed. */
#ifndef TRIB_FRONTEND_ELAB_INCREMENTAL_H
#define TRIB_FRONTEND_ELAB_INCREMENTAL_H

#include <stdint.h>
#include "frontend/unit/reads.h"

struct hir_program;
struct elab_request;
struct frontend;

/* The program of the last time, in which the units were made again that depend on what changed since; units in it stay where they are. NULL: there is none, or
 * more than bodies of functions changed: elaborate all. Reports nothing. */
struct hir_program *elab_incremental(struct frontend *f, const struct elab_request *req);
/* After a whole elaboration, which begins with elab_discard_saved. `reads`: what belongs to no unit. */
void elab_save(struct frontend *f, const struct elab_request *req, struct hir_program *p, struct item_reads reads, uint64_t steps);
void elab_discard_saved(struct frontend *f);
#endif

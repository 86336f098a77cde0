/* Elaborating a program again, of which little has changed. */
#ifndef TRIB_FRONTEND_ELAB_AGAIN_H
#define TRIB_FRONTEND_ELAB_AGAIN_H

#include <stdint.h>
#include "frontend/unit/reads.h"

struct hir_program;
struct elab_request;
struct frontend;

/* The program of the last time, in which the units were made again that depend on what changed since; units in it stay where they are. NULL: there is none, or
 * more than bodies of functions changed: elaborate all. Reports nothing. */
struct hir_program *elab_again(struct frontend *f, const struct elab_request *req);
/* After a whole elaboration, which begins with elab_forget. `reads`: what belongs to no unit. */
void elab_keep(struct frontend *f, const struct elab_request *req, struct hir_program *p, struct item_reads reads, uint64_t steps);
void elab_forget(struct frontend *f);
#endif

/* Elaborates and checks: what the front end calls. */
#ifndef TRIB_FRONTEND_ELAB_ELABORATE_H
#define TRIB_FRONTEND_ELAB_ELABORATE_H
#include "frontend/elab/elab.h"
#include "frontend/unit/request.h"

/* The program of a request; NULL: errors were reported. */
struct hir_program *elab_program(struct elab *e, const struct elab_request *req);

/* ---- a program of which little has changed since the last time (incremental.c) ---- */
/* Updates the last program: makes the units that read a change again, in place. NULL: there is no last program, or more than bodies of
 * functions changed, so that the whole program must be elaborated. Reports nothing. */
struct hir_program *elab_incremental(struct frontend *f, const struct elab_request *req);
/* Saves a program after a whole elaboration, which starts with elab_discard_saved. `reads`: those that belong to no unit. */
void elab_save(struct frontend *f, const struct elab_request *req, struct hir_program *p, struct item_reads reads, uint64_t steps);
void elab_discard_saved(struct frontend *f);

/* ---- each definition on its own, with symbols as generic sizes and arguments (check.c) ---- */
/* Checks the definitions of a module that have no syntax error. If `discarded` is not NULL: those that have one, reported there.
 * `again`: only those whose last check is out of date. */
void check_module(struct frontend *f, struct module *m, struct diags *discarded, bool again);
/* Checks a function of a block. */
void check_local_fn(struct elab *e, struct func *fn, const struct value *captured);
/* Checks a layer as it is if a caller gives only the arguments that have no default. */
void check_with_defaults(struct frontend *f, struct item *it);
#endif

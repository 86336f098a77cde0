/* Elaborates a program. */
#ifndef TRIB_FRONTEND_ELAB_ELABORATE_H
#define TRIB_FRONTEND_ELAB_ELABORATE_H
#include "frontend/elab/elab.h"
#include "frontend/unit/request.h"

/* The program of a request; NULL: errors were reported. */
struct hir_program *elab_program(struct elab *e, const struct elab_request *req);
#endif

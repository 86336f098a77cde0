/* Entries of a model. */
#ifndef TRIB_FRONTEND_ELAB_ENTRY_H
#define TRIB_FRONTEND_ELAB_ENTRY_H
#include "frontend/elab/program.h"

/* Elaborates the entry "Net" or "Net.prefill" and adds it to the program, unless errors were reported. */
void elab_entry(struct program *p, const char *name);
#endif

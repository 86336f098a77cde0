/* Types and shapes of definitions on their own: generic sizes and arguments are symbols, what depends on them passes. */
#ifndef TRIB_FRONTEND_ELAB_CHECK_H
#define TRIB_FRONTEND_ELAB_CHECK_H

#include <stdbool.h>

struct frontend;
struct module;
struct diags;
/* Checks those definitions of a module in which no syntax error lies; with `trash` those in which one does, reporting there. `again`: of those, only the
 * ones whose last check no longer says anything. */
void check_module(struct frontend *f, struct module *m, struct diags *trash, bool again);
#endif

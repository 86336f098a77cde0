/* Checks each definition on its own, with symbols as generic sizes and arguments. */
#ifndef TRIB_FRONTEND_ELAB_CHECK_H
#define TRIB_FRONTEND_ELAB_CHECK_H

#include <stdbool.h>

struct frontend;
struct module;
struct diags;
/* Checks the definitions of a module that have no syntax error. If `discarded` is not NULL: those that have one, reported there.
 * `again`: only those whose last check is out of date. */
void check_module(struct frontend *f, struct module *m, struct diags *discarded, bool again);
#endif

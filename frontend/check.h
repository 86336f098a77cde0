/* Types and shapes of definitions on their own: generic sizes and arguments are symbols, what depends on them passes. */
#ifndef TRIB_FRONTEND_CHECK_H
#define TRIB_FRONTEND_CHECK_H
#include <stdbool.h>

struct frontend;
struct module;
/* Checks those definitions of a module in which no syntax error lies, or `broken`: those in which one does. */
void check_module(struct frontend *f, struct module *m, bool broken);
#endif

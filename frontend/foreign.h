/* Names of other languages and libraries where ours has none of the name: what to write instead. */
#ifndef TRIB_FRONTEND_FOREIGN_H
#define TRIB_FRONTEND_FOREIGN_H
#include <stdbool.h>
#include <stddef.h>
#include "base/source.h"
#include "frontend/token.h"

struct diag;
struct diags;

enum foreign_use {
	FOREIGN_VALUE = 1,
	FOREIGN_TYPE = 2,
	FOREIGN_TENSOR = 4, /* a member of one */
	FOREIGN_LIST = 8,
	FOREIGN_TEXT = 16,
	FOREIGN_ATTRIBUTE = 32,
	FOREIGN_NN = 64,
	FOREIGN_INSTANCE = 128 /* a member of a layer */
};

/* Adds help, and an edit where there is one, to the report on the name at `tok`. False: the name is not a known one for that use. */
bool foreign_name_help(struct diags *d, struct diag *g, const struct tokens *t, token_id tok, unsigned use);
/* The name of ours that one of another library surely stands for, as `concat` for `cat`; NULL: none. */
const char *foreign_name_instead(const char *name, unsigned use);
/* Is it the usual name of another library's module: torch, np, F? */
bool foreign_module(const char *name);
/* Is it surely one that has no use here, whatever files there are? */
bool foreign_package(const char *name);
/* argument.c. Adds to the report on a name at `at` that is none of a function's n arguments which of them is meant, if one is. */
void argument_help(struct diags *d, struct diag *g, span at, const char *name, const char *const *names, uint32_t n);
/* Is it the name of a builtin function? */
bool foreign_is_builtin(const char *text, size_t len);
/* For the import of such a module: what to do without it. NULL: it is not a known one. */
const char *foreign_module_help(const char *name);
#endif

/* Names of Python, PyTorch and other libraries that the language does not have: what to write instead. */
#ifndef TRIB_FRONTEND_HABITS_HABITS_H
#define TRIB_FRONTEND_HABITS_HABITS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/source.h"
#include "frontend/syntax/token.h"

struct diag;
struct diags;

enum habit_use {
	HABIT_VALUE = 1,
	HABIT_TYPE = 2,
	HABIT_TENSOR = 4, /* a member of a tensor; and so on */
	HABIT_LIST = 8,
	HABIT_TEXT = 16,
	HABIT_ATTRIBUTE = 32,
	HABIT_NN = 64,
	HABIT_INSTANCE = 128 /* a member of a layer */
};

/* Adds help, and an edit if there is one, to the report on the name at `tok`. False: names.def has no such name for that use. */
bool habit_name_help(struct diags *d, struct diag *g, const struct tokens *t, token_id tok, unsigned use);
/* The name that certainly replaces that of another library, as `concat` replaces `cat`; NULL: none. */
const char *habit_name_instead(const char *name, unsigned use);
/* Help for the import of another library's module (torch, np, F). NULL: the name is not known. */
const char *habit_module_help(const char *name);
/* True if a module of that name is never needed, whatever files exist. */
bool habit_package(const char *name);
/* rules/argument_names.c. Adds to the report on an unknown argument `name` at `at` which of a function's n arguments is probably meant. */
void argument_help(struct diags *d, struct diag *g, span at, const char *name, const char *const *names, uint32_t n);
#endif

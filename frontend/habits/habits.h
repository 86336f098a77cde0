/* Names of other languages and libraries where ours has none of the name: what to write instead. */
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
	HABIT_TENSOR = 4, /* a member of one */
	HABIT_LIST = 8,
	HABIT_TEXT = 16,
	HABIT_ATTRIBUTE = 32,
	HABIT_NN = 64,
	HABIT_INSTANCE = 128 /* a member of a layer */
};

/* Adds help, and an edit where there is one, to the report on the name at `tok`. False: the name is not a known one for that use. */
bool habit_name_help(struct diags *d, struct diag *g, const struct tokens *t, token_id tok, unsigned use);
/* The name of ours that one of another library surely stands for, as `concat` for `cat`; NULL: none. */
const char *habit_name_instead(const char *name, unsigned use);
/* For the import of another library's module (torch, np, F): what to do without it. NULL: the name is not known. */
const char *habit_module_help(const char *name);
/* True if a module of that name is of no use, whatever files there are. */
bool habit_package(const char *name);
/* rules/argument_names.c. Adds to the report on a name at `at` that is none of a function's n arguments which of them is meant, if one is. */
void argument_help(struct diags *d, struct diag *g, span at, const char *name, const char *const *names, uint32_t n);
#endif

/* The parsed modules of the standard library. std_precompile.c makes them when trib is built, so an import costs no lexing and no parsing. */
#ifndef TRIB_FRONTEND_NAMES_STD_TREE_H
#define TRIB_FRONTEND_NAMES_STD_TREE_H
#include "frontend/syntax/ast.h"

struct std_tree {
	const char *module; /* "nn"; NULL ends the table */
	hash128 text;       /* of the module's source */
	struct ast ast;     /* borrowed; tokens.src is NULL */
};
extern const struct std_tree std_trees[];

/* NULL: no such module. */
const struct std_tree *std_tree_find(const char *module);
#endif

/* The standard library's modules as the parser leaves them, made when trib is built (std/precompile.c): importing one costs no lexing and no parsing. */
#ifndef TRIB_FRONTEND_NAMES_STD_TREE_H
#define TRIB_FRONTEND_NAMES_STD_TREE_H
#include "frontend/syntax/ast.h"

struct std_tree {
	const char *module; /* "nn"; NULL ends the table */
	hash128 text;       /* of the module's source */
	struct ast ast;     /* borrowed; tokens.src is NULL */
};
extern const struct std_tree std_trees[];

/* NULL: there is none. */
const struct std_tree *std_tree_find(const char *module);
#endif

/* Habits from other languages: what the parser asks of habits/, which defines all of these. Each recognises one habit where the parser stands, reports what
 * to write instead, goes on behind it and is true; false if there is none. */
#ifndef TRIB_FRONTEND_SYNTAX_HABIT_HOOKS_H
#define TRIB_FRONTEND_SYNTAX_HABIT_HOOKS_H
#include <stdbool.h>
#include "frontend/syntax/ast.h"

struct parser;

bool habit_array(struct parser *p);              /* [3, 4]float, [float32; 4] */
bool habit_type(struct parser *p);               /* pointers, functions, structures, quotes */
bool habit_dim(struct parser *p);                /* _, *, :, "batch"; the dimension is `?` then */
bool habit_suffix(struct parser *p, bool tuple); /* (int) -> int, int? */
bool value_as_type(struct parser *p);            /* in_features: 784 in a signature, which is taken as the default */
bool habit_generic(struct parser *p);            /* <const N: int> */

/* habits/parse_habits.c: words that start something; parse_sign.c: operators, signs; parse_loop.c: heads of loops.
 * Is the current token, which cannot continue an expression, another language's operator? Then says so, and p->k is ours. */
bool habit_operator(struct parser *p);
/* Is the current name `not` before an operand? Then says so, and p->k is `!`. */
bool habit_not(struct parser *p);
/* At a name that starts something: is that a word of another language, or a misspelt keyword? Says so; then either p->k is the keyword that is
 * meant (or the word was dropped), or all of the statement was skipped. */
enum habit { HABIT_NONE, HABIT_GO_ON, HABIT_SKIPPED };
enum habit_place { HABIT_ITEM = 1, HABIT_MEMBER = 2, HABIT_STATEMENT = 4, HABIT_EXPR = 8 };
enum habit habit_start(struct parser *p, unsigned where);
/* Before a report that something else is expected here: is it a habit from another language? Then says so. */
bool habit_expected(struct parser *p);
/* At the `<` of type arguments in a call, f<int>(x): says that there are none, and goes on behind them. */
bool habit_type_arguments(struct parser *p, node_id callee);
/* At the `[` of f[T, N](x), `[` and its `]` standing for `< >`: says so, and they are read as those. */
bool habit_generics(struct parser *p);
/* At what follows the arguments: `raises`, `throws`. Says that it is left out, and goes on behind it. */
void habit_effect(struct parser *p);
/* At a `?` that ends an expression, f(x)?: says that it is left out, and goes on behind it. */
bool habit_question(struct parser *p);
/* At a `(`: is it a lambda, (x: int) => x? Then says so; panic stays until the next statement. */
bool habit_lambda(struct parser *p);
/* At `(`, `=` or what ends the range of a loop's head: C's and other forms of it. Says so and goes on before the body. */
bool habit_loop_head(struct parser *p, token_id keyword);
/* At `//` or `--` where a definition is expected: says how a comment starts, and skips the line. */
bool habit_comment(struct parser *p);
void habit_declaration(struct parser *p); /* `let mut x`, `let int x`: says so, and the current token is `x` */
bool habit_else_if(struct parser *p);     /* `elif`: says so, and the current token is `if` */
/* Constructors, such as Python's `__init__`, among the members of a layer, whose arguments begin at token `open`: says so. */
void habit_constructors(struct parser *p, node_id body, token_id open);
/* Is this what other languages start a definition with, or a `let`? */
bool habit_definition(struct parser *p);

/* ---- imports ---- */
/* Is it surely one that has no use here, whatever files there are? */
bool habit_package(const char *name);
/* For the import of such a module: what to do without it. NULL: it is not a known one. */
const char *habit_module_help(const char *name);
#endif

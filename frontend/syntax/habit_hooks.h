/* The only way from the grammar to habits/: what Python and PyTorch users write where the language has another form. The parser asks at
 * the places listed here. Without an answer each of them ends in the ordinary error. */
#ifndef TRIB_FRONTEND_SYNTAX_HABIT_HOOKS_H
#define TRIB_FRONTEND_SYNTAX_HABIT_HOOKS_H
#include <stdbool.h>
#include "frontend/syntax/ast.h"

struct parser;

enum habit_place {
	HABIT_AT_ITEM,      /* a name where a definition is expected: def, class, net = … */
	HABIT_AT_MEMBER,    /* a name that starts a line of a layer's body: def, fc: nn.Linear(4, 4) */
	HABIT_AT_STATEMENT, /* a name that starts a statement: pass, with, raise */
	HABIT_AT_ELSE,      /* a name behind the block of an `if`: elif; read as the `if` of `else if` */
	HABIT_AT_OPERAND,   /* a name before an operand: not */
	HABIT_AT_OPERATOR,  /* a name or `if` behind the operand *node: and, or, is, a if c else b */
	HABIT_AT_LESS,      /* `<` behind the operand *node: zeros<float32>([3]), Tensor<float32, [3]> as a value */
	HABIT_AT_PATTERN,   /* `*` in a list pattern: *rest */
	HABIT_AT_ATTRIBUTE, /* `.` in the attribute at `first`: @torch.jit.script */
	HABIT_AT_IMPORT,    /* `.` behind the module at `first`: import torch.nn; READ: the module's name is the previous token */
	HABIT_AT_LAYER,     /* behind the body *node of a layer whose arguments begin at `first`: __init__ among its members */
	HABIT_AT_ARGUMENT,  /* behind the name `first` of a declared argument: self, nn.Module */
	HABIT_AT_GENERICS,  /* `[` behind the name of a definition: def f[T](x) */
	HABIT_AT_ASSIGN,    /* behind the assignment *node among the members of a layer: self.fc = nn.Linear(4, 4) */
	HABIT_AT_TYPE,      /* where a type is expected: "Tensor", -> None */
	HABIT_AT_UNION,     /* `|` behind the type at `first`: int | float */
	HABIT_AT_DIM,       /* where a dimension is expected: None, -1, "batch"; READ: it is `?` */
	HABIT_AT_EXPECTED,  /* before a report that something else is expected: lambda, x in xs, f(*xs), //= */
	HABIT_AT_LET,       /* a name behind `let` or `const`, before another one: let mut x */
	HABIT_AT_FOR,       /* `(` behind `for`: for (int i = 0; i < n; i++); READ: its `)` is the previous token, *node the pattern */
	HABIT_PLACES
};
/* NONE: no habit. READ: reported, and parsing goes on with the current token, whose kind may have been corrected. SKIPPED: reported, and
 * skipped. */
enum habit { HABIT_NONE, HABIT_READ, HABIT_SKIPPED };

/* Recognises a habit where the parser is. `first` and `node` are what the place says, else 0 and NULL. */
enum habit habit_at(struct parser *p, enum habit_place place, token_id first, node_id *node);
/* True if the current token starts a definition for a Python user: `def`, `class`. Reports nothing. */
bool habit_starts_item(struct parser *p);
#endif

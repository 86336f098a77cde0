/* The state that the files of name resolution share. */
#ifndef TRIB_FRONTEND_NAMES_RESOLVE_STATE_H
#define TRIB_FRONTEND_NAMES_RESOLVE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/index/index.h"
#include "frontend/names/module.h"

struct scope_entry {
	name_id name;
	uint32_t symbol;
	token_id tok;     /* of its definition */
	uint32_t hidden;  /* index in the scope plus 1 of the definition that it hides, or 0 */
	uint8_t kind;     /* enum symbol_kind */
	bool used, plain; /* plain: a `let` of one name */
};
struct resolver {
	struct frontend *f;
	struct module *m;
	const struct ast *t;
	struct diags *out; /* the front end's, or `trash` where a syntax error may have hidden definitions */
	struct diags *trash;
	struct diags *warnings; /* the front end's, or `trash` */
	VEC(struct scope_entry) scope;
	VEC(name_id) reported; /* unknown names, of this item */
	uint32_t blocks;       /* nesting of the current statement */
	uint32_t parent;       /* symbol of the enclosing definition */
	node_id layer;         /* the enclosing layer with members, or AST_NONE */
};
enum { MAX_SUGGESTED = 100 }; /* errors with a suggestion: each compares the name with all names */

static inline name_id name_at(struct resolver *r, token_id t) { return token_name(r->f, r->m, t); }

/* resolve_name.c. Adds a definition to the scope; it hides an earlier one of the same name. */
void scope_push(struct resolver *r, token_id name, enum symbol_kind kind, node_id whole, bool typed);
struct scope_entry *scope_find(struct resolver *r, name_id n); /* NULL: not in scope */
void scope_cut(struct resolver *r, uint32_t mark);             /* removes the names from `mark` on */
/* Notes the use of the name at a token. False: nothing of that name is defined. `use_defined_name` leaves out the prelude. */
bool use_defined_name(struct resolver *r, token_id tok);
bool use_name(struct resolver *r, token_id tok);
void use_item(struct resolver *r, struct item *it, token_id tok); /* notes that the name at the token means the item */
/* Completions for an editor at a token: the names in scope, or the items of module `m` after its name and a `.`. */
void offer_names(struct resolver *r, token_id tok, enum ask_context context);
void offer_members(struct resolver *r, struct module *m, token_id tok);

/* resolve_type.c. An unknown dimension is a new name in a signature, and an error elsewhere. */
enum dim_names { DIMS_INTRODUCE, DIMS_KNOWN };
void resolve_type(struct resolver *r, node_id n, enum dim_names dims);

/* resolve_body.c: resolves a statement or expression with everything in it. */
void resolve_node(struct resolver *r, node_id n);
void resolve_const(struct resolver *r, node_id n);     /* type and value of a constant or parameter */
void resolve_let_value(struct resolver *r, node_id n); /* without its names */
/* Adds the names of a pattern to the scope; `whole`: the statement. */
void resolve_pattern(struct resolver *r, node_id p, enum symbol_kind kind, node_id whole, bool typed);

enum attribute_place { BEFORE_DEFINITION, BEFORE_LOOP };
void check_attributes(struct resolver *r, struct ast_nodes attrs, enum attribute_place place); /* resolve_attribute.c */
/* resolve.c: a function or an alias of a block. Its name is visible after it. */
void resolve_local_fn(struct resolver *r, node_id n);
void resolve_local_alias(struct resolver *r, node_id n);

/* resolve_report.c: the errors. `use` is what the name is used as: HABIT_VALUE, HABIT_TYPE, or 0 for a dimension. */
void report_unknown(struct resolver *r, enum diag_code code, token_id tok, const char *what, unsigned use);
/* Reports torch.relu, where `root` is the usual name of another library's module and `member` is the last name. False: `root` is none. */
bool report_library_module(struct resolver *r, token_id root, token_id member, unsigned use);
void report_module_member(struct resolver *r, const struct item *it, token_id tok); /* import `it` has no member of that name */
/* Tensor[3, 4], Tensor<float32, 3, 4>, float32[3, 4]: reports the right spelling. */
void report_tensor_type(struct resolver *r, node_id n, struct ast_nodes args);
void report_undeclared(struct resolver *r, node_id assign); /* x = e without a `let` */

/* resolve_warn.c: warnings about what is valid but certainly not meant. */
void scope_leave(struct resolver *r, uint32_t mark);              /* scope_cut, with a warning for each unused name */
void warn_statements(struct resolver *r, struct ast_nodes items); /* of a block */
void warn_norm_order(struct resolver *r, node_id call);
/* resolve_text.c: warns if a printed text, with the values `args` after it, is a format or lacks the `f` of an f-string. */
void warn_plain_text(struct resolver *r, node_id text, struct ast_nodes args);
#endif

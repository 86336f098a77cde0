/* What the files of name resolution share. */
#ifndef TRIB_FRONTEND_NAMES_RESOLVE_STATE_H
#define TRIB_FRONTEND_NAMES_RESOLVE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/index/index.h"
#include "frontend/names/module.h"

struct scoped {
	name_id name;
	uint32_t symbol;
	token_id tok;     /* of its definition */
	uint32_t hidden;  /* the definition of that name that it hides: index in the scope plus 1, or 0 */
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
	VEC(struct scoped) scope;
	VEC(name_id) told; /* unknown names that were reported in this item */
	uint32_t blocks;   /* around the current statement */
	uint32_t parent;   /* symbol of the definition around */
	node_id layer;     /* the layer with members around, or AST_NONE */
};
enum { MAX_SUGGESTED = 100 }; /* looking for a name walks all there are: not for ever more errors */

static inline name_id text_of(struct resolver *r, token_id t) { return token_name(r->f, r->m, t); }

/* resolve_name.c. A definition comes into scope; one with a name that is there already hides it. */
void scope_push(struct resolver *r, token_id name, enum symbol_kind kind, node_id whole, bool typed);
struct scoped *scope_find(struct resolver *r, name_id n); /* NULL: not in scope */
void scope_cut(struct resolver *r, uint32_t mark);        /* names from `mark` on go out of scope */
/* Does the name at a token stand for something? Notes the use. `name_defined`: for a local or an item, not for what the prelude has. */
bool name_defined(struct resolver *r, token_id tok);
bool name_known(struct resolver *r, token_id tok);
void item_use(struct resolver *r, struct item *it, token_id tok); /* an item is used at a token */
/* Candidates for an editor that asks what may stand at a token: what is in scope, or the items of module `m` after its name and a `.`. */
void name_offer(struct resolver *r, token_id tok, enum ask_context context);
void member_offer(struct resolver *r, struct module *m, token_id tok);

/* resolve_type.c. Where a type stands decides what an unknown dimension is: a new name or an error. */
enum dim_names { DIMS_INTRODUCE, DIMS_KNOWN };
void resolve_type(struct resolver *r, node_id n, enum dim_names dims);

/* resolve_body.c: a statement or expression with all in it; the type and value of a constant or parameter; the names that a pattern in the
 * statement `whole` brings into scope. */
void resolve_node(struct resolver *r, node_id n);
void resolve_const(struct resolver *r, node_id n);
void resolve_let_value(struct resolver *r, node_id n); /* without its names */
void resolve_pattern(struct resolver *r, node_id p, enum symbol_kind kind, node_id whole, bool typed);

void check_attributes(struct resolver *r, struct ast_nodes attrs); /* resolve_attribute.c */

/* resolve_report.c: the errors. `use` is what the name stands for: HABIT_VALUE, HABIT_TYPE, or 0 for a dimension. */
void report_unknown(struct resolver *r, enum diag_code code, token_id tok, const char *what, unsigned use);
/* torch.relu, where `root` is no module of ours but the usual name of one elsewhere, and `member` ends the chain. False: it is not. */
bool report_foreign_module(struct resolver *r, token_id root, token_id member, unsigned use);
void report_module_member(struct resolver *r, const struct item *it, token_id tok); /* import `it` has no member of that name */
/* Tensor[3, 4], Tensor<float32, 3, 4>, float32[3, 4]: how it is written here. */
void report_tensor_type(struct resolver *r, node_id n, struct ast_nodes args);
void report_undeclared(struct resolver *r, node_id assign); /* x = e without a `let` */

/* resolve_warn.c: what is no error but surely not meant. */
void scope_leave(struct resolver *r, uint32_t mark);              /* names from `mark` on go out of scope: says which were not used */
void warn_statements(struct resolver *r, struct ast_nodes items); /* of a block */
/* resolve_text.c: a text that is printed, and the values behind it; is it a format, or does it lack the `f` of an f-string? */
void warn_norm_order(struct resolver *r, node_id call);
void warn_plain_text(struct resolver *r, node_id text, struct ast_nodes args);
#endif

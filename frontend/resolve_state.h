/* What the files of name resolution share. */
#ifndef TRIB_FRONTEND_RESOLVE_STATE_H
#define TRIB_FRONTEND_RESOLVE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/module.h"

struct scoped {
	name_id name;
	uint32_t symbol;
	token_id tok;     /* of its definition */
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
};
enum { MAX_SUGGESTED = 100 }; /* looking for a name walks all there are: not for ever more errors */

static inline name_id text_of(struct resolver *r, token_id t) { return token_name(r->f, r->m, t); }

/* resolve_report.c. `use` is what the name stands for: FOREIGN_VALUE, FOREIGN_TYPE, or 0 for a dimension. */
void report_unknown(struct resolver *r, enum diag_code code, token_id tok, const char *what, unsigned use);
/* torch.relu, where `root` is no module of ours but the usual name of one elsewhere, and `member` ends the chain. False: it is not. */
bool report_foreign_module(struct resolver *r, token_id root, token_id member, unsigned use);
/* resolve_warn.c: what is no error but surely not meant. */
void scope_leave(struct resolver *r, uint32_t mark);              /* names from `mark` on go out of scope: says which were not used */
void warn_statements(struct resolver *r, struct ast_nodes items); /* of a block */
void report_module_member(struct resolver *r, const struct item *it, token_id tok);
/* Tensor[3, 4], Tensor<float32, 3, 4>, float32[3, 4]: how it is written here. */
void report_tensor_type(struct resolver *r, node_id n, struct ast_nodes args);
void report_undeclared(struct resolver *r, node_id assign); /* x = e without a `let` */
#endif

/* Shared by the files that evaluate types: variables of the signature, and the scope of its names. */
#ifndef TRIB_FRONTEND_TYPES_TYPE_STATE_H
#define TRIB_FRONTEND_TYPES_TYPE_STATE_H
#include "frontend/types/sig.h"

static inline const struct ast *sig_tree(const struct sig *s) { return &s->mod->ast; }
/* Adds a variable (`name` 0: a `?`) and returns its index. */
uint32_t sig_var_add(struct sig *s, enum sig_var_kind kind, name_id name);
/* The visible variable of the name, or SIG_NO_VAR. */
uint32_t sig_var_find(const struct sig *s, name_id name);
/* Gives a declared generic the kind of its first use. False: it is used as two kinds (reported). */
bool sig_var_use(struct sig *s, uint32_t i, enum sig_var_kind kind, span at);
/* True if the type is the name of a generic of the innermost alias; *i is its index. */
bool sig_alias_argument(const struct sig *s, node_id n, uint32_t *i);
/* Makes names resolve in the scope of the arguments of `frame`. Returns the previous scope, for a second call that restores it. */
struct alias_frame sig_set_scope(struct sig *s, const struct alias_frame *frame);
/* Reports a tensor of another shape than the declared one, and the layers that give and take it. `declared`: the label of the
 * declaration; the caller labels the value (size_mismatch.c). */
struct diag *sig_report_shape(struct sig *s, const struct sig_match_info *info, uint32_t axis, const char *word, const char *declared);
/* Reports that an equation does not hold, and returns false. */
bool sig_report_equation(struct sig *s, const struct sig_equation *equation);
/* Returns d with the variables that are bound. */
dim sig_substitute(struct sig *s, dim d);
/* Evaluates a dimension; an unknown one if it is wrong (reported). */
dim sig_dim(struct sig *s, node_id n);
#endif

/* What the files that evaluate types share: variables of the signature, and the place where names are looked up. */
#ifndef TRIB_FRONTEND_TYPES_TYPE_STATE_H
#define TRIB_FRONTEND_TYPES_TYPE_STATE_H
#include "frontend/types/sig.h"

static inline const struct ast *sig_tree(const struct sig *s) { return &s->mod->ast; }
/* A new variable; `name` 0: a `?`. Its index. */
uint32_t sig_var_add(struct sig *s, enum sig_var_kind kind, name_id name);
/* The variable in sight of that name, or SIG_NO_VAR. */
uint32_t sig_var_find(const struct sig *s, name_id name);
/* A declared generic takes the kind of its first use. False: it is used as two kinds (reported). */
bool sig_var_use(struct sig *s, uint32_t i, enum sig_var_kind kind, span at);
/* Is it a name that is a generic of the alias being read? *i: which. */
bool sig_alias_argument(const struct sig *s, node_id n, uint32_t *i);
/* Names are looked up where frame `f` has its arguments from. Returns what to call it with again to look them up as before. */
struct alias_frame sig_set_scope(struct sig *s, const struct alias_frame *f);
/* A dimension; where it is none (reported), an unknown one. */
dim sig_dim(struct sig *s, node_id n);
#endif

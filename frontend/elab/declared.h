/* What a signature declares besides types: defaults, conditions, a result; the members of a type alias. */
#ifndef TRIB_FRONTEND_ELAB_DECLARED_H
#define TRIB_FRONTEND_ELAB_DECLARED_H
#include "frontend/elab/elab.h"
#include "frontend/types/sig.h"

/* Matches an omitted argument, which takes its default. A default that never fits is reported by check_default alone. */
bool match_default(struct elab *e, struct sig *s, struct ast_nodes generics, node_id param, struct value *v, span at, const char *what);
/* Checks the default of an argument, if there is one, against its type. */
void check_default(struct elab *e, struct module *m, struct instance *self, struct ast_nodes generics, node_id param);
/* False if the values lack the traits, or fail the conditions, of the signature (reported at the call). */
bool check_where(struct elab *e, struct sig *s, const struct ast_fn *decl, const struct value *values, span at);
/* Reports a condition of a `where` clause that is a number. */
void check_condition(struct elab *e, node_id n);
/* `.shape`, `.size`, `.rank` or `.dtype` of the tensor type that alias `it` is. False: none, or it depends on the use. */
bool alias_member(struct elab *e, struct item *it, const char *name, struct value *out);
/* Reports a body without the declared result, and offers to return the value of its last statement. */
struct value report_no_result(struct elab *e, const struct ast_fn *decl, span at, span decl_at);
#endif

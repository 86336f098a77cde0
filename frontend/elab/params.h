/* The parameters of layer instances. */
#ifndef TRIB_FRONTEND_ELAB_PARAMS_H
#define TRIB_FRONTEND_ELAB_PARAMS_H
#include "frontend/elab/elab.h"

struct param_list {
	VEC(struct layer_param *) at;
	VEC(const char *) names;
	struct map seen; /* ids in the list: an instance may have two names */
};
/* Appends all parameters of a value's instances, in order of declaration, with names under `prefix`. */
void collect_params(struct elab *e, struct value v, const char *prefix, struct param_list *out);
void param_list_free(struct param_list *l);
/* The parameters of an instance and its sub-layers, with names relative to it. */
const struct param_tree *instance_params(struct elab *e, const struct instance *in);
/* The parameter's node in the current unit, or poison. */
struct value param_value(struct elab *e, struct layer_param *p, span at);
#endif

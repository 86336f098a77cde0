/* Units: a call of a function with tensors is a call of a unit. */
#ifndef TRIB_FRONTEND_ELAB_UNIT_H
#define TRIB_FRONTEND_ELAB_UNIT_H
#include "frontend/elab/elab.h"
#include "frontend/unit/reads.h"

/* ---- the parameters, or the states, of layer instances ---- */
struct param_list {
	bool of_states;
	bool in_args; /* of the instance being listed: layers that were listed before get no other names */
	VEC(struct layer_param *) at;
	VEC(const char *) names;
	VEC(struct param_alias) aliases;
	VEC(uint32_t) repeats; /* the arguments that are instances listed before: their numbers in the order of listing */
	uint32_t n_instances;
	struct map seen; /* ids of parameters to index in the list, ids of instances to their numbers */
};
/* Appends all parameters or states of a value's instances, in order of declaration, with names under `prefix`. */
void collect_params(struct elab *e, struct value v, const char *prefix, struct param_list *out);
void param_list_free(struct param_list *l);
/* Hashes which names are of one parameter, and which arguments are one layer. */
void param_list_hash_aliases(struct hasher *h, const struct param_list *l);
/* The parameters or states of an instance and its sub-layers, with names relative to it. */
const struct param_tree *instance_params(struct elab *e, const struct instance *in, bool states);
/* The path of an instance in the current frame's layer, or from a local that holds it; "" for that layer itself, or if no path is known. */
const char *layer_path(struct elab *e, const struct instance *in);
/* The parameter's node in the current unit, or poison. */
struct value param_value(struct elab *e, struct layer_param *p, span at);

/* ---- initializers of parameters ---- */
/* The unit that computes a parameter's initial value; NULL: it has none, or failed. */
struct hir_unit *param_init(struct elab *e, struct layer_param *p);

/* A tensor argument of a unit to be made. */
struct tensor_arg {
	const char *name;
	struct hir_type type; /* of the unit's dims */
	bool build_time;
	hir_ref caller; /* in the calling unit */
};
/* The function and arguments that a unit is made from. In `values`, a V_TENSOR is an index into `tensors`, and a V_DIM is of the unit's
 * dims. */
struct unit_spec {
	struct func *fn;
	struct dims *dims;
	struct param_list params;
	VEC(struct tensor_arg) tensors;
	struct value *values; /* of the arguments, then of the states */
	uint32_t n_values;
	struct param_list states;
	bool is_call; /* false: an entry */
	span at;
	const char *what;
};
/* A unit that was made, or failed. */
struct elab_unit {
	struct hir_unit *unit;
	struct value result;        /* V_TENSOR: output number; V_DIM: of the unit's dims */
	const struct value *states; /* of each state of the spec after a call: the same; V_VOID: the call does not change it */
	const bool *touched;        /* of each state of the spec: the unit reads or changes it */
	bool failed;
	/* Set in a front end that can be refreshed, except for bodies of branches and loops: */
	struct unit_spec *spec;
	struct dims_mark sizes; /* of `spec`, before the unit was made */
	struct item_reads reads;
};
/* The unit of a spec, made now if there is none. */
const struct elab_unit *unit_get(struct elab *e, struct unit_spec *p);
/* Makes the unit, even if there is one. */
struct elab_unit *unit_make(struct elab *e, struct unit_spec *p, hash128 identity);

/* ---- calls of units ---- */
/* Calls a function as a unit, made if there is none for such arguments. */
struct value call_unit(struct elab *e, struct func *fn, struct value *values, uint32_t n, span at, const char *what);
void unit_plan_free(struct unit_spec *p);

/* ---- the identity of a unit, its interface, and its name for people ---- */
/* Equal for equal definitions, compile-time arguments, element types, shapes and build-time flags. */
hash128 unit_identity(struct elab *e, const struct unit_spec *p);
/* A hash of the unit's interface: what callers see of it except its inputs. */
hash128 unit_interface(struct elab *e, const struct elab_unit *u);
/* A name for people. */
const char *unit_name(struct elab *e, const struct unit_spec *p);

/* ---- the current builder as a finished unit of the program ---- */
/* Copies an array of n elements of type T into the front end's arena. */
#define COPY_ARRAY(to, from, n, T) ((to) = ARENA_ARRAY(e->em.f->arena, T, (n) + 1), (n) ? memcpy((to), (from), sizeof(T) * (n)) : NULL)

/* Copies the current builder into a unit and closes it. */
struct hir_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result);
/* Copies the inputs, nodes and arguments of the current builder into u. */
void unit_copy_nodes(struct elab *e, struct hir_unit *u);
/* Says whose function a unit, or a body in it, is. */
void unit_set_function(struct elab *e, struct hir_unit *u, const struct func *fn);
/* Applies the attributes of the definition (`@inline`, `@opt`) to its unit. */
void unit_attributes(struct hir_unit *u, const struct func *fn);
#endif

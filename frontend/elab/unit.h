/* Units: a call of a function with tensors is a call of a unit. */
#ifndef TRIB_FRONTEND_ELAB_UNIT_H
#define TRIB_FRONTEND_ELAB_UNIT_H
#include "frontend/elab/params.h"
#include "frontend/unit/reads.h"

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
	struct value *values;
	uint32_t n_values;
	bool is_call; /* false: an entry */
	span at;
	const char *what;
};
/* A unit that was made, or failed. */
struct elab_unit {
	struct hir_unit *unit;
	struct value result; /* V_TENSOR: output number; V_DIM: of the unit's dims */
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
#endif

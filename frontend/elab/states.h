/* States: memory of a layer instance that an opened model keeps between runs. In a unit, a state is an input and, if it changes, an output.
 * Between them its value is a local without a name in the source, so branches and loops merge and carry it. */
#ifndef TRIB_FRONTEND_ELAB_STATES_H
#define TRIB_FRONTEND_ELAB_STATES_H
#include "frontend/elab/unit.h"

/* Adds the state that node n declares to an instance. The caller makes it a member. */
struct layer_param *declare_state(struct elab *e, struct instance *in, node_id n);
/* The value of a state in the current unit, or poison. */
struct value state_value(struct elab *e, struct layer_param *p, span at);
/* The state of the current layer with this name that no local hides, or NULL. */
struct layer_param *find_state(struct elab *e, name_id name);
void assign_state(struct elab *e, struct layer_param *p, struct value v, span at);
/* Executes `k.append(x, dim=2)` of a state. False: the call is something else. */
bool exec_state_append(struct elab *e, node_id call);

/* ---- in main, which is one run after the other ---- */
/* Gives a state its initial value, unless it has one. */
void state_begin(struct elab *e, struct layer_param *p);

/* ---- in units ---- */
/* Declares the locals of the unit's states, and copies their values back into `values` when the function is left. */
void states_enter(struct elab *e, const struct unit_states *states);
void states_leave(struct elab *e);
/* The value of a state, which the current unit does not use thereby. False: it has none here (nothing reported). */
bool state_is_known(struct elab *e, const struct layer_param *p, struct value *v);
/* Sets the value of a state that has one. */
void state_set(struct elab *e, const struct layer_param *p, struct value v, span at);
/* True if the current unit uses a state. */
bool state_is_touched(const struct elab *e, const struct layer_param *p);
/* Notes that the current unit uses a state. */
void state_touch(struct elab *e, const struct layer_param *p);
/* True if a state of an instance, or of a layer in it, has a value here. */
bool states_are_known(struct elab *e, const struct instance *in);
#endif

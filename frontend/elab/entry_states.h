/* The states of an entry: those of its layer. */
#ifndef TRIB_FRONTEND_ELAB_ENTRY_STATES_H
#define TRIB_FRONTEND_ELAB_ENTRY_STATES_H
#include "frontend/elab/unit.h"

/* The states that an entry may use. */
struct entry_states {
	struct param_list all;
	bool *used; /* of all */
};
/* Adds the states that are used to the arguments of the entry's unit. */
void specify_states(struct elab *e, struct unit_spec *plan, const struct entry_states *s);
/* False: a run leaves states with one capacity at different lengths (reported). The unit was made with all states of the layer. */
bool lengths_agree(struct elab *e, const struct unit_spec *spec, const struct elab_unit *info);
#endif

/* Members of values. */
#ifndef TRIB_FRONTEND_ELAB_MEMBER_H
#define TRIB_FRONTEND_ELAB_MEMBER_H
#include "frontend/elab/elab.h"

/* A member of a value. False: it has none of the name. */
bool value_member(struct elab *e, struct value v, name_id name, span at, struct value *out);
/* Reports the member access `n`, and returns poison. */
struct value report_no_member(struct elab *e, struct value v, node_id n, name_id name);
/* Offers the members of `object` to an editor that asks for a completion at node n. */
void offer_value_members(struct elab *e, node_id n, struct value object);
#endif

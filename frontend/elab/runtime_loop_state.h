/* The state of a loop that carries values, shared by runtime_loop.c and runtime_loop_lists.c. */
#ifndef TRIB_FRONTEND_ELAB_RUNTIME_LOOP_STATE_H
#define TRIB_FRONTEND_ELAB_RUNTIME_LOOP_STATE_H
#include "base/map.h"
#include "base/vec.h"
#include "frontend/elab/runtime_loop.h"

/* A tensor that is carried. */
struct carried_tensor {
	hir_ref init, in, out; /* before the loop; in the body: when it starts and when it ends */
	struct hir_type type;
	struct value literal; /* what it was, if known at compile time; V_VOID: a tensor */
	uint32_t local, number;
};
/* A list to which every iteration adds `each` elements of a type: after the loop a V_STACKED. While `each` is 0 it is not known to grow. */
struct list_growth {
	uint32_t each;
	struct hir_type row;
};
struct loop_state {
	struct elab *e;
	const struct runtime_loop *loop;
	struct local *before;
	uint32_t n;          /* locals */
	bool *assigned;      /* per local */
	bool returns;        /* the body has a `return` */
	struct value *trees; /* per assigned local: a V_TENSOR is the number of a leaf */
	VEC(struct carried_tensor) leaves;
	struct map types; /* by local and leaf: the element type of a literal */
	struct builder body;
	hir_ref counter, limit;           /* `for`: int64 scalars before the loop */
	hir_ref counter_in, next_counter; /* in the body */
	dtype counter_type;
	bool again;
	bool leaves_early;          /* an iteration may be the last though more are to come */
	struct list_growth *growth; /* per assigned local */
};

static inline struct local *local_at(struct loop_state *c, uint32_t i) { return &c->e->locals.at[c->e->frame->base + i]; }

/* ---- lists that grow (carried_lists.c) ---- */
/* Local i is a list that grows: in its place a tensor with room for what all iterations add is carried. False: reported. */
bool growing_list_start(struct loop_state *c, uint32_t i);
/* The list as the body sees it. */
struct value earlier_items(struct elab *e);
/* The first `old` elements are as before, the rest is new: the list grows by it. False: it cannot. */
bool growing_list_note(struct loop_state *c, uint32_t local, struct value v, uint32_t old);
/* What the body left of the list is v: what it added goes to its place. False: reported. */
bool growing_list_end(struct loop_state *c, uint32_t local, struct value v);
/* After the loop: what the list held before, and what it collected. */
struct value growing_list_result(struct loop_state *c, uint32_t local);
#endif

/* Loops at run time. The body becomes a unit. The locals that it assigns to are carried from one iteration to the next. */
#ifndef TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#define TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#include "base/map.h"
#include "base/vec.h"
#include "frontend/elab/branch.h"

struct runtime_loop {
	const struct range *range; /* for; NULL: while */
	node_id cond;              /* while */
	node_id pattern;           /* for */
	node_id body;
	bool collects; /* the body is an expression; the last local is a list of its values */
	span at;
};
/* Emits the loop. The locals of a loop's exits are declared. False: reported. */
bool emit_runtime_loop(struct elab *e, const struct runtime_loop *loop, enum flow *flow);

/* ---- the state of a run-time loop, shared by the files runtime_loop*.c ---- */
/* A carried tensor. */
struct carried_tensor {
	hir_ref init, in, out; /* before the loop; at the start and at the end of the body */
	struct hir_type type;
	struct value literal; /* its value before the loop if known at compile time; V_VOID: a tensor */
	uint32_t local, number;
};
/* A list to which every iteration adds `each` elements of type `row`; V_STACKED after the loop. `each` is 0 until an append is found. */
struct list_growth {
	uint32_t each;
	struct hir_type row;
};
struct loop_state {
	struct elab *e;
	const struct runtime_loop *loop;
	struct local *before;
	uint32_t n;          /* locals */
	bool *assigned;      /* by local */
	struct value *trees; /* by local: its structure; a V_TENSOR is an index into `leaves` */
	VEC(struct carried_tensor) leaves;
	struct map types; /* by local and leaf: the element type found for a literal */
	struct builder body;
	hir_ref counter, limit;           /* `for`: int64 scalars before the loop */
	hir_ref counter_in, next_counter; /* in the body */
	dtype counter_type;
	bool again;
	bool may_exit;              /* an iteration may end the loop early */
	bool runs;                  /* the first condition is known to hold */
	struct list_growth *growth; /* by local */
};

static inline struct local *local_at(struct loop_state *c, uint32_t i) { return &c->e->locals.at[c->e->frame->base + i]; }

/* ---- carried values (runtime_loop_values.c) ---- */
/* Resets the locals to their values before the loop, the carried ones as tensors. False: reported. */
bool loop_reset_locals(struct loop_state *c);
/* Opens the body with the carried values as inputs. */
void loop_enter_body(struct loop_state *c);
void loop_leave_body(struct loop_state *c);
/* Sets the values of the carried tensors at the end of the body. False: reported. */
bool loop_end_locals(struct loop_state *c);
/* The value of a carried tensor after the loop, for value_map_tensors. */
hir_ref carried_result(void *loop_state, hir_ref leaf);

/* ---- lists that grow (runtime_loop_lists.c) ---- */
/* Carries, in place of list i, a tensor with room for the elements of all iterations. False: reported. */
bool growing_list_start(struct loop_state *c, uint32_t i);
/* The list inside the body. */
struct value earlier_items(struct elab *e);
/* Notes that an iteration adds the elements of v from index `old` on. False: it cannot grow so. */
bool growing_list_note(struct loop_state *c, uint32_t local, struct value v, uint32_t old);
/* Stores the elements that the body added into the carried tensor; v is the list at its end. False: reported. */
bool growing_list_end(struct loop_state *c, uint32_t local, struct value v);
/* After the loop: the list of its old and collected elements. */
struct value growing_list_result(struct loop_state *c, uint32_t local);
#endif

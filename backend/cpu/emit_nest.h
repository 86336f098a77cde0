/* Private to emit_nest.c and emit_body.c: the state of printing one nest. */
#ifndef TRIB_BACKEND_CPU_EMIT_NEST_H
#define TRIB_BACKEND_CPU_EMIT_NEST_H
#include "backend/cpu/emit.h"

/* An expression's value in the present scope: a scalar, or one vector for each unrolled copy. */
struct cell {
	LLVMValueRef value[UNROLL_MAX]; /* NULL: not computed */
	LLVMValueRef splat;             /* of a scalar, where vectors want it */
};
struct journal_entry {
	uint32_t expr;
	bool splat;
};
struct nest {
	struct emit *e;
	const struct loop_nest *n;
	struct nest_plan plan;
	uint32_t width, unroll; /* of the code printed now: the plan's, or 1 in scalar code */
	uint32_t opened;        /* bit per loop */
	LLVMValueRef var[LOOP_MAX];
	uint32_t *deps; /* per expression: loops it runs along; DEP_ACC: an accumulator */
	bool *varying;  /* runs along the vectorised loop */
	bool *fused;    /* a product that goes straight into a sum */
	struct cell *cells;
	VEC(struct journal_entry) journal; /* what the present scopes computed, innermost last */
	LLVMValueRef *ptrs;                /* per access (loads by expression, then stores): its place, as far as loops are open */
	uint32_t n_ptrs;
	LLVMValueRef *acc; /* results of the reductions: [copy][value] */
	uint32_t n_acc;    /* values of one copy */
};
#define DEP_ACC (1u << 31)

/* A scope: what is computed in it is forgotten at its end. */
struct scope {
	uint32_t journal, opened;
	LLVMValueRef *ptrs;
};
void scope_begin(struct nest *s, struct scope *sc);
void scope_end(struct nest *s, struct scope *sc);

/* emit_body.c */
enum body_part { BODY_ANY, BODY_REDUCTION, BODY_REST };
/* Computes what can be computed with the loops now open: everything but accumulators' users, only what is inside the reduction, or the rest. */
void body_compute(struct nest *s, enum body_part part);
/* Loop `loop` is now at `var`. */
void body_enter(struct nest *s, uint32_t loop, LLVMValueRef var);
LLVMValueRef body_value(struct nest *s, uint32_t expr, uint32_t copy, uint32_t width);
/* Position along a loop for one copy, as int64 lanes. */
LLVMValueRef body_position(struct nest *s, uint32_t loop, uint32_t copy, uint32_t width);
void body_store(struct nest *s);

/* emit_nest.c: iterations of loop order[at], one of the nested loops order[start] to order[end - 1]. None if one further in has none: an outer loop may
 * be long, and would turn for nothing. */
LLVMValueRef emit_turns(struct nest *s, uint32_t at, uint32_t start, uint32_t end);

/* emit_sum.c: the reduction loops of one iteration of the parallel loops; leaves the results in s->acc. */
void emit_reductions(struct nest *s);
#endif

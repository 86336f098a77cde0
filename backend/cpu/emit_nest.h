/* Private to backend/cpu: the state of emitting one nest. */
#ifndef TRIB_BACKEND_CPU_EMIT_NEST_H
#define TRIB_BACKEND_CPU_EMIT_NEST_H
#include "backend/cpu/emit.h"

/* The value of an expression in the current scope: a scalar, or a vector for each unrolled copy. */
struct cell {
	LLVMValueRef value[LOOP_MAX_UNROLL]; /* NULL: not computed */
	LLVMValueRef splat;                  /* of a scalar that vectors use */
};
/* The schedule as the code needs it. */
struct nest_axes {
	uint32_t order[LOOP_MAX]; /* the loops from the outermost to the innermost */
	uint32_t vector_loop;     /* LOOP_NONE: none */
	bool vector_reduce;       /* true if it is a reduction loop */
	uint32_t width, unroll;
	bool whole; /* one step covers the vectorised loop */
};
struct journal_entry {
	uint32_t expr;
	bool splat;
};
struct nest {
	struct emit *e;
	const struct loop_nest *n;
	struct nest_axes axes;
	uint32_t width, unroll; /* of the current code: those of the schedule, or 1 in scalar code */
	uint32_t opened;        /* a bit for each loop */
	LLVMValueRef var[LOOP_MAX];
	uint32_t *deps; /* of each expression: the loops that it depends on; DEP_ACC: an accumulator */
	bool *varying;  /* depends on the vectorised loop */
	bool *fused;    /* a product that is fused into a sum */
	struct cell *cells;
	VEC(struct journal_entry) journal; /* the values of the open scopes, innermost last */
	bool filled;                       /* a prologue: it fills the tile */
	LLVMValueRef *ptrs; /* of each access (loads by expression, then stores, then the filled tile): its address in the open loops */
	uint32_t n_ptrs;
	LLVMValueRef *acc; /* results of the reductions: [copy][value] */
	uint32_t n_acc;    /* values of one copy */
};
#define DEP_ACC (1u << 31)

/* A scope. Its values cannot be used after its end. */
struct scope {
	uint32_t journal, opened;
	LLVMValueRef *ptrs;
};
void scope_begin(struct nest *s, struct scope *sc);
void scope_end(struct nest *s, struct scope *sc);

/* emit_stream.c */
/* Fetches the vector that a later iteration loads where this one loads from ptr. */
void emit_prefetch(struct nest *s, const struct loop_access *a, LLVMValueRef ptr);
/* Stores a dense vector of float32 past the caches. */
void emit_store_streamed(struct emit *e, LLVMValueRef value, LLVMValueRef ptr, uint32_t width);

/* emit_body.c */
enum body_part { BODY_ANY, BODY_REDUCTION, BODY_REST };
/* Computes the expressions that depend on open loops only: all but users of accumulators, those inside the reduction, or the rest. */
void body_compute(struct nest *s, enum body_part part);
/* Moves the address of access k to iteration `var` of a loop. */
void body_advance(struct nest *s, uint32_t k, uint32_t loop, LLVMValueRef var);
/* Sets the variable of a loop that was opened. */
void body_enter(struct nest *s, uint32_t loop, LLVMValueRef var);
LLVMValueRef body_value(struct nest *s, uint32_t expr, uint32_t copy, uint32_t width);
/* Returns the position along a loop for one copy, as int64 lanes. */
LLVMValueRef body_position(struct nest *s, uint32_t loop, uint32_t copy, uint32_t width);
void body_store(struct nest *s);

/* emit_nest.c: the trip count of loop order[at], one of the nested loops order[start] to order[end - 1]. It is 0 if an inner loop has no
 * iterations, because an outer loop may be long. */
LLVMValueRef emit_trip_count(struct nest *s, uint32_t at, uint32_t start, uint32_t end);

/* emit_sum.c: emits the reduction loops of one iteration of the parallel loops. Stores the results in s->acc. */
void emit_reductions(struct nest *s);
#endif

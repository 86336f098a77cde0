/* Loop IR: one unit as a list of statements over buffers. A nest has parallel loops, optional reduction loops inside, and one scalar SSA
 * body; an anchor is a call of a micro-kernel. build.c makes it from a plan, backend/cpu and gpu print it as LLVM IR and OpenCL C. */
#ifndef TRIB_BACKEND_LOOPS_LOOPS_H
#define TRIB_BACKEND_LOOPS_LOOPS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"
#include "backend/plan/plan.h"
#include "backend/runtime/unit.h"
#include "backend/target/kernel.h"

enum buffer_kind { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_WEIGHT, BUFFER_TEMP, BUFFER_CONST };
struct loop_buffer {
	enum buffer_kind kind;
	enum layout layout;
	uint32_t index;       /* input, output or slot number */
	struct hir_type type; /* element type and shape; plain buffers are dense row-major */
	dim offset;           /* BUFFER_TEMP: byte offset in the unit's scratch, a multiple of 64 */
	const void *data;     /* BUFFER_CONST: host layout */
};

#define LOOP_MAX (2 * HIR_MAX_RANK)
/* The offset in elements is base + Σ stride[k]·loop variable k, plus scale·value of `index` if set. Parallel loops precede reduction
 * loops. */
struct loop_access {
	uint32_t buffer;
	dim base, stride[LOOP_MAX];
	uint32_t index; /* expression, or LOOP_NONE */
	dim scale;
	int64_t limit; /* an index outside 0 … bound-1 is a run-time error */
	dim bound;
};
#define LOOP_NONE UINT32_MAX

enum loop_expr_kind {
	LOOP_LOAD,   /* access */
	LOOP_CONST,  /* f or i */
	LOOP_INDEX,  /* loop variable `var`, int64 */
	LOOP_EXTENT, /* the value of `extent`, int64 */
	LOOP_OP,     /* an element-wise ir_op over args */
	LOOP_ACC,    /* the result of reduction `var`; only outside the reduction loops */
};
struct loop_expr {
	enum loop_expr_kind kind;
	enum ir_op op;
	dtype elem;
	bool in_reduction; /* evaluated inside the reduction loops */
	uint32_t args[3];
	uint32_t var;
	double f;
	int64_t i;
	dim extent;
	struct loop_access access;
};
struct loop_reduction {
	enum ir_op op;  /* REDUCE_SUM … ARGMIN */
	dtype elem;     /* of the accumulator */
	uint32_t value; /* an expression with in_reduction */
};
struct loop_store {
	uint32_t value; /* an expression outside the reduction loops */
	struct loop_access access;
};
struct loop_nest {
	uint8_t n_parallel, n_reduce;
	dim extent[LOOP_MAX];    /* parallel loops outermost first, then reduction loops */
	struct loop_expr *exprs; /* args precede users */
	uint32_t n_exprs;
	struct loop_reduction *reductions;
	uint32_t n_reductions;
	struct loop_store *stores;
	uint32_t n_stores;
};

enum loop_stmt_kind { STMT_NEST, STMT_KERNEL, STMT_CALL, STMT_IF, STMT_LOOP, STMT_EFFECT };
struct loop_stmt {
	enum loop_stmt_kind kind;
	struct loop_nest nest;
	enum kernel kernel;
	uint32_t *
		buffers; /* STMT_KERNEL: as kernels.def says; STMT_CALL: the callee's run-time inputs, then outputs; STMT_EFFECT: its values;
	                      STMT_IF, STMT_LOOP: all they touch, first the bool scalar that decides */
	uint32_t n_buffers;
	dim *dims; /* STMT_KERNEL: as kernels.def says; STMT_CALL: values of the callee's symbols; STMT_EFFECT: sizes of the values */
	uint32_t n_dims;
	const char *callee; /* STMT_CALL: the unit's symbol */
	const struct hir_unit *callee_unit;
	const char *text, *where; /* STMT_EFFECT: as of OP_PRINT (where is NULL) and OP_ASSERT */
	uint8_t *kinds;           /* STMT_EFFECT: element type << 4 | rank of each value */
	uint32_t slot;            /* STMT_CALL: the callee's weight table, or LOOP_NONE */
	struct loop_stmt *calls;  /* STMT_IF: two STMT_CALLs, of which one is executed; STMT_LOOP: the body's */
	uint32_t n_calls;
	/* STMT_LOOP: the first n_carried buffers of its STMT_CALL start as copies of `initial`. Before the next iteration they are
	 * swapped with the outputs that follow the bool. At the end they hold the results. */
	uint32_t *initial;
	uint32_t n_carried;
};

/* The unit fails with TRI_ERR_SHAPE before it accesses memory if `least` is negative at run time. */
struct loop_check {
	dim least;
	enum tri_size_error kind; /* the error otherwise */
};

struct loop_fn {
	struct arena *unit;
	const char *symbol;
	struct dims *dims;
	struct loop_buffer *buffers;
	uint32_t n_buffers;
	struct loop_stmt *stmts;
	uint32_t n_stmts;
	uint32_t n_inputs, n_outputs, n_slots;
	dim scratch; /* bytes of own scratch; callees use what follows */
	struct loop_check *checks;
	uint32_t n_checks;
};

/* Builds the loop IR of a plan's run_fn. */
struct loop_fn *loops_build(struct arena *unit, const struct plan *p);
/* Checks what printers rely on. Returns false after writing what is wrong into `why`. */
bool loops_verify(const struct loop_fn *f, struct buf *why);
void loops_print(const struct loop_fn *f, struct buf *out);
#endif

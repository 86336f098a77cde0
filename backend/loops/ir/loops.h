/* Loop IR: one unit as a list of statements over buffers. A nest has parallel loops, optional reduction loops inside, and one scalar SSA
 * body; an anchor is a call of a micro-kernel. build.c makes it from a plan, backend/cpu and backend/text print it. */
#ifndef TRIB_BACKEND_LOOPS_IR_LOOPS_H
#define TRIB_BACKEND_LOOPS_IR_LOOPS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/slot.h"
#include "backend/loops/ir/method.h"
#include "backend/loops/ir/schedule.h"
#include "backend/ir/program.h"
#include "backend/runtime/abi/unit.h"
#include "backend/kernels/kernel.h"

#define LOOP_NONE UINT32_MAX
enum buffer_kind { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_WEIGHT, BUFFER_TEMP, BUFFER_CONST };
enum buffer_scope {
#define SCOPE(id, word) SCOPE_##id,
#include "backend/loops/ir/scopes.def"
#undef SCOPE
	SCOPE_COUNT
};
/* True if temporaries of the scope have a place in memory that is laid out: an offset. */
static inline bool loop_scope_is_placed(enum buffer_scope s) { return s == SCOPE_GLOBAL || s == SCOPE_LOCAL; }
struct loop_buffer {
	enum buffer_kind kind;
	enum buffer_scope scope; /* of a temporary; of others global */
	enum layout layout;
	uint32_t index;       /* input, output or slot number */
	struct hir_type type; /* element type and shape; plain buffers are dense row-major */
	dim offset;           /* BUFFER_TEMP: byte offset in the unit's scratch or the block's frame, a multiple of 64 */
	uint32_t alias;       /* BUFFER_TEMP: the temporary whose memory it takes, see in_place.h, or LOOP_NONE */
	uint32_t grows; /* BUFFER_OUTPUT, BUFFER_TEMP: the buffer whose rows it begins with, in the same memory, see grow.h, or LOOP_NONE */
	const void *data; /* BUFFER_CONST: host layout */
	size_t data_bytes;
	uint32_t first,
		end; /* lifetime: statements `first` … `end`-1 of unit or block; from the allocation on. end 0: no statement uses it */
};

#define LOOP_MAX (2 * HIR_MAX_RANK)
/* The offset in elements is base + Σ stride[k]·loop variable k, plus scale·value of `index` if set: sums of checked places. Loops of blocks precede those of the nest,
 * parallel loops precede reduction loops. */
/* Names the unit of a symbol in an error of its code: tri_unit_desc.tag. */
uint32_t loops_unit_tag(const char *symbol);
/* Returns a place in the unit for run-time errors, as in tri_fail_at: of a statement, or of check k as n_stmts + k. */
static inline uint64_t loops_place(const char *symbol, uint32_t statement) { return (uint64_t)loops_unit_tag(symbol) << 32 | statement; }
struct loop_access {
	uint32_t buffer;
	dim base, stride[LOOP_MAX];
	uint32_t index; /* expression, or LOOP_NONE */
	dim scale;
	/* In a block: vectors of a load are fetched so many iterations of the innermost loop around before they are loaded, 0: never; vectors of a store go
	 * past the caches. Those are neighbours, of LOOP_STREAMED_LANES float32 or more. */
	uint32_t prefetch;
	bool streamed;
};
enum { LOOP_STREAMED_LANES = 8, LOOP_MOST_PREFETCH = 16 };
enum { TILE_BATCH, TILE_ROW, TILE_COLUMN, TILE_AXES };

enum loop_expr_kind {
#define EXPR(id, word) LOOP_##id,
#include "backend/loops/ir/exprs.def"
#undef EXPR
};
struct loop_expr {
	enum loop_expr_kind kind;
	enum ir_op op;
	enum loop_method method; /* of an operation */
	dtype elem;
	bool in_reduction; /* evaluated inside the reduction loops */
	uint32_t args[3];
	uint32_t var;
	double f;
	int64_t i;
	dim extent;
	double low, high; /* whole numbers if it rounds to the nearest */
	bool nearest;     /* rounds to the nearest, even one; false: towards zero */
	struct loop_access access;
};
/* Returns the number of its args. */
uint32_t loop_expr_operands(const struct loop_expr *x);
struct loop_reduction {
	enum ir_op op;  /* REDUCE_SUM … ARGMIN */
	dtype elem;     /* of the accumulator */
	uint32_t value; /* an expression with in_reduction */
	bool fused;     /* a sum of products, which need not be rounded */
};
struct loop_store {
	uint32_t value; /* an expression outside the reduction loops */
	struct loop_access access;
};
struct loop_nest {
	uint8_t n_outer;              /* loops of the blocks around it: the first of the parallel ones */
	uint8_t n_parallel, n_reduce; /* n_parallel counts those of the blocks */
	dim extent[LOOP_MAX];         /* parallel loops outermost first, then reduction loops */
	struct loop_expr *exprs;      /* args precede users */
	uint32_t n_exprs;
	struct loop_reduction *reductions;
	uint32_t n_reductions;
	struct loop_store *stores;
	uint32_t n_stores;
	struct loop_schedule schedule; /* how it is executed; all else is what is computed */
};

/* A call of a micro-kernel: buffers and dims as its record says. With an epilogue it has no last buffer. It passes each tile of its result to
 * the epilogue: a nest without reductions over the axes of the result, batch, row and column, where LOOP_TILE is the element. With a prologue it has no first buffer: the kernel
 * has the prologue compute each tile of this operand, a nest without reductions and stores over the axes batch, row and column, whose last
 * expression is the element. */
struct loop_kernel {
	enum kernel kernel;
	uint32_t *buffers, n_buffers;
	dim *dims;                             /* a view of them: struct matmul_dims, … of the kernel's record */
	struct loop_nest *prologue, *epilogue; /* NULL: none */
};
/* The number that a buffer of the call has for the kernel. */
static inline uint32_t loop_kernel_at(const struct loop_kernel *x, uint32_t buffer) { return buffer + (x->prologue != NULL); }
/* A call of a unit: buffers are its run-time inputs, then its outputs; dims are the values of its symbols. */
struct loop_call {
	const char *callee; /* the unit's symbol */
	uint32_t *buffers, n_buffers, n_inputs;
	dim *dims;
	uint32_t n_dims;
	uint32_t slot; /* the callee's weight table, or LOOP_NONE */
};
struct loop_branch {
	uint32_t condition; /* a buffer of one bool */
	struct loop_call calls[2];
};
/* Executes the body while the condition holds. The first n_carried buffers of the body start as copies of `initial`. Before the next
 * iteration they are swapped with the outputs that follow the bool. At the end they hold the results. */
struct loop_iterate {
	uint32_t condition;
	struct loop_call body;
	uint32_t *initial, n_carried;
};
struct loop_effect {
	const char *text, *where; /* as of OP_PRINT (where is NULL) and OP_ASSERT */
	uint32_t *buffers, n_buffers;
	uint8_t *kinds; /* element type << 4 | rank of each value */
	dim *dims;      /* sizes of the values */
	uint32_t n_dims;
};

/* Nests and blocks inside shared loops: the parallel ones of `loops`, which has no expressions. Each iteration executes the statements in order.
 * Iterations of an outermost block do not depend on each other, and have their own local and private buffers; those of an inner one run in order. */
struct loop_stmt;
struct loop_block {
	struct loop_nest loops;
	struct loop_stmt *stmts;
	uint32_t n_stmts;
	dim frame;     /* of an outermost block: the bytes of its local buffers. LOOP_NOT_PLACED: they have no offsets yet. Of others 0 */
	bool on_stack; /* the frame is on the stack of the thread; false: in other memory that each thread has */
};
enum {
	LOOP_MOST_FRAME = 1 << 17,
	LOOP_MOST_ON_STACK = 1 << 14,
	LOOP_MOST_PRIVATE = 16,
	LOOP_MOST_ITEMS = 1 << 13,
	LOOP_MOST_DEPTH = 4
}; /* bytes, elements, elements of all items, blocks in each other */

enum loop_stmt_kind {
#define STMT(id, word, member) STMT_##id,
#include "backend/loops/ir/stmts.def"
#undef STMT
};
enum {
#define STMT(id, word, member) +1
	STMT_KINDS = 0
#include "backend/loops/ir/stmts.def"
#undef STMT
};
enum { MOST_VALUES = 64 };
struct loop_stmt {
	enum loop_stmt_kind kind;
	uint32_t *values, n_values; /* instructions of the run_fn that it computes, each once, at most MOST_VALUES; the main one first */
	bool beside;                /* it is in the launch of the statement before, see beside.h */
	union {
		struct loop_nest nest;
		struct loop_kernel kernel;
		struct loop_call call;
		struct loop_branch branch;
		struct loop_iterate loop;
		struct loop_effect effect;
		struct loop_block block;
	} u;
};
/* True if the reduction is a sum of products of floats that nothing else uses. */
bool loop_may_fuse_product(const struct loop_nest *n, const struct loop_reduction *r);
/* The kernel's symbol, the symbol of the called unit, or "loop", "block", "if", "while", "print", "assert". */
const char *loop_stmt_name(const struct loop_stmt *s);
/* Calls fn for every buffer that the statement reads or writes, maybe several times. */
typedef void loop_buffer_fn(void *ctx, uint32_t buffer);
void loop_stmt_buffers(const struct loop_stmt *s, loop_buffer_fn *fn, void *ctx);
/* Returns the nest of the statement, which may be an epilogue, or NULL: the one that stores elements. */
const struct loop_nest *loop_stmt_nest(const struct loop_stmt *s);
/* True if the vectors of an epilogue are parts of columns, not of rows: it then takes transposed tiles (tri_epilogue_by_columns). */
bool loop_epilogue_by_columns(const struct loop_nest *n);
/* Calls fn for every nest of the statement: itself, a prologue, an epilogue, those in a block, and the loops of blocks. */
typedef void loop_nest_fn(void *ctx, const struct loop_nest *n);
void loop_stmt_nests(const struct loop_stmt *s, loop_nest_fn *fn, void *ctx);
/* True if an operation of the nest takes many instructions. */
bool loop_nest_is_expensive(const struct loop_nest *n);
/* Returns the n calls of units in the statement. */
const struct loop_call *loop_stmt_calls(const struct loop_stmt *s, uint32_t *n);

/* The unit fails with TRI_ERR_SHAPE before it accesses memory if `least` is negative at run time. */
struct loop_check {
	dim least;
	enum tri_size_error kind; /* the error otherwise */
	uint32_t value;           /* the instruction of the run_fn that needs it; LOOP_NONE: text without it was read */
};

enum { LOOP_NOT_PLACED = -1 };
struct loop_fn {
	struct arena *unit;
	const char *symbol;
	const struct dims *dims; /* the loop passes grow it; closed when they have run */
	struct loop_buffer *buffers;
	uint32_t n_buffers;
	struct loop_stmt *stmts;
	uint32_t n_stmts;
	uint32_t n_inputs, n_outputs, n_slots;
	dim scratch; /* bytes of own scratch; callees use what follows. LOOP_NOT_PLACED: temporaries have no offsets yet */
	struct loop_check *checks;
	uint32_t n_checks;
	bool constants_outside;   /* code in a text gets constants as arguments: the text has no room for more */
	uint32_t first_statement; /* the number of statement 0 in its plan's list: not 0 for the second loops of a plan */
};
/* Returns the number behind those of its statements and checks. */
static inline uint32_t loops_next_statement(const struct loop_fn *f) { return f->first_statement + f->n_stmts + f->n_checks; }

/* What loops are built from: the run_fn of a plan, whose dims grow, and its slots. */
struct loop_source {
	const struct ir_fn *fn;
	const struct slot *slots;
	uint32_t n_slots;
	struct argument_layouts arguments; /* of the unit */
};
struct plan_options;
struct pass_trace;
/* Runs the loop passes of loop_passes.def. Returns NULL if the trace stops the run before the end. `trace` may be NULL. */
struct loop_fn *loops_build(struct arena *unit, const struct loop_source *source, const struct plan_options *options,
			    struct pass_trace *trace);
/* Checks all invariants. Returns false with a message in `why`. */
bool loops_verify(const struct loop_fn *f, struct buf *why);
/* Checks the calls in a sound function; `find` returns a callee by its symbol, or NULL. */
typedef const struct loop_fn *loop_find_fn(void *ctx, const char *symbol);
bool loops_verify_calls(const struct loop_fn *f, loop_find_fn *find, void *ctx, struct buf *why);
/* Writes f as text; reads such a text back. loops_read returns NULL after reporting an error into `diags`. */
void loops_print(const struct loop_fn *f, struct buf *out);
struct loop_fn *loops_read(struct arena *unit, const struct source *text, struct diags *diags);
#endif

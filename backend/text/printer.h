/* Private to this folder: the nest that is printed. */
#ifndef TRIB_BACKEND_TEXT_PRINTER_H
#define TRIB_BACKEND_TEXT_PRINTER_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/loops/ir/loops.h"
#include "backend/text/dialect.h"
#include "backend/text/signature.h"
#include "backend/text/text.h"
#include "base/buf.h"

struct text_printer {
	const struct dialect *d;
	struct arena *scratch;
	const struct loop_fn *f;
	const struct dims *dims; /* of f */
	bool checks_sizes;       /* dimensions are computed with INT64_MIN for what is too large */
	const struct loop_nest *n;
	uint32_t stmt;             /* the number of the nest's statement, if the nest is one */
	struct text_signature sig; /* its group: if the items share the reduction of this nest */
	bool in_block;             /* the nest is in a block: the work group has an iteration of the block */
	const bool *local;         /* of each buffer: true if the code has it in the memory of the group, as b<i>; NULL: of none */
	bool beside; /* the launch has several nests: the variable `item` is the number of the work item among those of this one */
	const char *index_type; /* of 4 bytes if every index is known to fit, else of 8 */
	uint32_t
		items; /* of a nest that accesses elements that work items keep: how many an item has; the loop variable j is the one at hand */
	uint32_t depth; /* tabs before the statements of the nest */
	bool *late;     /* of each expression: true if it needs the result of a reduction */
	const bool *
		uniform; /* of each expression: true if it is declared before the loop of the work items, since all have its value; NULL: of none */
	uint32_t width;       /* lanes of vectors in the code that is printed; 1: it is scalar */
	uint32_t vector_loop; /* the loop that they are iterations of */
	const bool *varying;  /* of each expression: true if it depends on that loop */
	uint32_t copy;        /* of the accumulators */
	uint32_t chunked;     /* the loop of which the kernel executes the iterations `from` … `to`-1; LOOP_NONE: none */
	struct buf *out;
};

/* Returns the type of loop variables and offsets. */
const char *text_index_type(const struct dialect *d, const struct loop_nest *n);
/* A printer of statement `stmt` of f; end it with arena_free(e->scratch). */
struct text_printer text_printer_new(const struct dialect *d, const struct loop_fn *f, uint32_t stmt, struct buf *out);

/* Returns a dimension as an expression over n0, n1 …, in parentheses unless it is one token. */
const char *text_dim(const struct text_printer *e, dim x);
/* Returns the name of loop variable k: i0, i1 … of parallel loops, r0, r1 … of reduction loops. */
const char *text_loop_var(struct arena *a, const struct loop_nest *n, uint32_t k);
/* Returns the element offset of an access without its `index`. */
const char *text_offset(const struct text_printer *e, const struct loop_access *a);

/* Returns the type of variables in code of this width; expression `i` as an operand of it: a scalar is repeated in all lanes. */
const char *text_type(const struct text_printer *e, dtype t);
const char *text_operand(const struct text_printer *e, uint32_t i);
/* Returns the name of a helper in code of this width. */
const char *text_helper(const struct text_printer *e, const char *name);

/* Declares v<i>, indented by `depth` tabs. */
void text_expr(const struct text_printer *e, uint32_t i, uint32_t depth);
/* Writes a store. */
void text_store(const struct text_printer *e, const struct loop_store *s, uint32_t depth);
/* Returns an expression that applies an operation to operands. `from`: the element type of the last operand. */
const char *text_op(const struct text_printer *e, enum ir_op op, dtype to, dtype from, const char *const *args);
/* Returns a constant of this type. */
const char *text_const(const struct text_printer *e, dtype t, int64_t i, double f);

/* lanes.c: prints the loops of a nest from its own first one on, with vectors as the schedule says. */
void text_lanes(const struct text_printer *e);
/* Prints what a nest computes for `width` iterations of a loop, as vectors. */
void text_lanes_body(const struct text_printer *e, uint32_t loop, uint32_t width);

/* Reductions: declaration and start value, step with a new value, end after the loops; for a work group, the combination of its items. */
void text_reduction_start(const struct text_printer *e, uint32_t k);
void text_reduction_step(const struct text_printer *e, uint32_t k, uint32_t depth);
void text_reduction_end(const struct text_printer *e, uint32_t k);
void text_reduction_group(const struct text_printer *e);
/* Returns the name of accumulator k; its start value; what its lanes are combined to, in halves. */
const char *text_reduction_name(const struct text_printer *e, uint32_t k);
const char *text_reduction_identity(const struct text_printer *e, uint32_t k);
const char *text_reduction_fold(const struct text_printer *e, uint32_t k);
/* Combines accumulator k with another value. */
void text_reduction_combine(const struct text_printer *e, uint32_t k, const char *other);

/* Says that a parameter, a letter with a number, may be unused. */
void text_unused(const struct text_printer *e, char letter, uint32_t number);
/* Print the buffers of the signature as parameters, after `first` or `next`; and the typed pointer b<i> of each. */
void text_buffers(const struct text_printer *e, const char *first, const char *next);
void text_pointers(const struct text_printer *e);

/* Parts of kernels of nests and blocks: the head; the iterations of the parallel loops, which loops execute, or of which the work item has one. */
void text_head(const struct text_printer *e);
void text_open_iterations(struct text_printer *e);
void text_close_iterations(struct text_printer *e);
/* Declares the iterations `from` … `to`-1 of the outermost loop if the work item has a chunk of it. */
void text_chunk(struct text_printer *e);
/* Open and close the parallel loops from `first` on. */
void text_open_loops(struct text_printer *e, uint32_t first);
void text_close_loops(struct text_printer *e, uint32_t first);
/* Opens a loop, unrolled if items keep elements, in which the work items take the iterations of loops `first` … `end`-1 in turn. */
void text_shared_loop(const struct text_printer *e, uint32_t first, uint32_t end, uint32_t group);
/* Prints what one iteration of the parallel loops does: the values before the reductions, the reductions, and the rest. */
void text_body(struct text_printer *e);
/* Declares the values that are the same in all iterations of the nest's own parallel loops. */
void text_uniform_values(struct text_printer *e);
/* Marks the expressions that need the result of a reduction. */
void text_mark_late(struct text_printer *e);

/* Print a kernel of a nest, and of a block; of a micro-kernel with an epilogue its forms, and of the products of a launch the shared one, from their
 * source; the constants that are in the text. */
void text_kernel(struct text_printer *e);
void text_block_kernel(struct text_printer *e);
/* Prints a block as a function that each group of a launch calls (loops/ir/repeat.h), and then the macros that the source of the products needs: TRI_ROW,
 * which declares the memory and calls the function, TRI_X, the address of buffer x, a result, in this memory, and its address space. */
void text_repeated_block(struct text_printer *e, uint32_t x, uint32_t group);
void text_fused_kernel(struct text_printer *e, const struct text_hooks *hooks, struct text_forms forms);
void text_products(struct text_printer *e, const struct text_hooks *hooks, struct text_forms forms);
void text_baked(struct text_printer *e);
/* Prints element i of an array as a constant. */
void text_element(const struct text_printer *e, dtype t, const void *data, int64_t i);
void text_tabs(struct buf *out, uint32_t n);
#endif

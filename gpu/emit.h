/* Private to the OpenCL C printer: the nest that is printed. */
#ifndef TRIB_GPU_EMIT_H
#define TRIB_GPU_EMIT_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/loops/loops.h"
#include "base/buf.h"
#include "gpu/signature.h"

struct emit_nest {
	struct arena *scratch;
	const struct loop_fn *f;
	const struct loop_nest *n;
	uint32_t stmt;               /* the number of the nest's statement, if the nest is one */
	struct opencl_signature sig; /* its group: if the items share the reduction of this nest */
	bool in_block;               /* the nest is in a block: the work group has an iteration of the block */
	const char *index_type;      /* "int" if every index is known to fit, else "long" */
	bool *late;                  /* of each expression: true if it needs the result of a reduction */
	struct buf *out;
};

/* Return the OpenCL C type of a value in a variable, and in memory. */
const char *emit_value_type(dtype t);
const char *emit_memory_type(dtype t);

/* Returns a dimension as an expression over n0, n1 …, in parentheses unless it is one token. Memory in `a`. */
const char *opencl_dim(struct arena *a, const struct dims *d, dim x);
/* Returns the name of loop variable k: i0, i1 … of parallel loops, r0, r1 … of reduction loops. */
const char *emit_loop_var(struct arena *a, const struct loop_nest *n, uint32_t k);
/* Returns the element offset of an access without its `index`. */
const char *emit_offset(const struct emit_nest *e, const struct loop_access *a);

/* Declares v<i>, indented by `depth` tabs. */
void emit_expr(const struct emit_nest *e, uint32_t i, uint32_t depth);
/* Writes a store. */
void emit_store(const struct emit_nest *e, const struct loop_store *s, uint32_t depth);
/* Returns an expression that applies an operation to operands. `from`: the element type of the last operand. */
const char *emit_op(struct arena *a, enum ir_op op, dtype to, dtype from, const char *const *args);
/* Returns a constant of this type. */
const char *opencl_const(struct arena *a, dtype t, int64_t i, double f);

/* Reductions: declaration and start value, step with a new value, end after the loops; for a work group, the combination of its items. */
void emit_reduction_start(const struct emit_nest *e, uint32_t k);
void emit_reduction_step(const struct emit_nest *e, uint32_t k, uint32_t depth);
void emit_reduction_end(const struct emit_nest *e, uint32_t k);
void emit_reduction_group(const struct emit_nest *e);

/* Declares the typed pointer b<i> of each buffer. */
void emit_pointers(const struct emit_nest *e);

/* Parts of kernels of nests and blocks: the head; the variables of the loops of `e->n` from the flat id. */
void emit_head(const struct emit_nest *e, uint32_t stmt);
void emit_split_id(const struct emit_nest *e);
/* Opens a loop in which the work items take the iterations of loops `first` … `end`-1 in turn. */
void emit_shared_loop(const struct emit_nest *e, uint32_t first, uint32_t end, uint32_t group);
/* Print the values before the reductions of the nest, the reductions, and the rest. */
void emit_reductions(const struct emit_nest *e);
void emit_values(const struct emit_nest *e, bool in_reduction, bool late, uint32_t depth);
/* Marks the expressions that need the result of a reduction. */
void emit_mark_late(struct emit_nest *e);

/* Print a kernel of a nest, and of a block; a template with an epilogue; the constants that are in the program text. */
void emit_kernel(const struct loop_fn *f, uint32_t stmt, struct buf *out);
void emit_block_kernel(const struct loop_fn *f, uint32_t stmt, struct buf *out);
void emit_fused_template(const struct loop_fn *f, uint32_t stmt, struct buf *out);
void emit_baked(const struct loop_fn *f, struct buf *out);
void emit_tabs(struct buf *out, uint32_t n);
#endif

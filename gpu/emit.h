/* Inside the OpenCL C printer: one nest being printed. */
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
	struct opencl_signature sig;
	const char *index_type; /* "int" where every index is known to fit, else "long" */
	bool *late;             /* per expression: needs a reduction's final value */
	struct buf *out;
};

/* Scalar types: how a value of this dtype is held in a variable, and in memory. */
const char *emit_value_type(dtype t);
const char *emit_memory_type(dtype t);

/* A dimension as an expression over n0, n1 …; parenthesised unless it is one token. Memory in `a`. */
const char *opencl_dim(struct arena *a, const struct dims *d, dim x);
/* The name of loop variable k: i0, i1 … parallel, then r0, r1 … */
const char *emit_loop_var(struct arena *a, const struct loop_nest *n, uint32_t k);
/* The element offset of an access, its `index` left out. */
const char *emit_offset(const struct emit_nest *e, const struct loop_access *a);

/* Declares v<i>, indented by `depth` tabs. */
void emit_expr(const struct emit_nest *e, uint32_t i, uint32_t depth);
/* Writes a store. */
void emit_store(const struct emit_nest *e, const struct loop_store *s, uint32_t depth);
/* Text that applies an operation to operand texts. `from`: the operands' element type (of the last one). */
const char *emit_op(struct arena *a, enum ir_op op, dtype to, dtype from, const char *const *args);
/* A constant of this type. */
const char *opencl_const(struct arena *a, dtype t, int64_t i, double f);

/* Reductions: declaration and start value, the step with a new value, what follows the loops; for a work group, the sum over its items. */
void emit_reduction_start(const struct emit_nest *e, uint32_t k);
void emit_reduction_step(const struct emit_nest *e, uint32_t k, uint32_t depth);
void emit_reduction_end(const struct emit_nest *e, uint32_t k);
void emit_reduction_group(const struct emit_nest *e);

/* The whole kernel; baked constants. */
void emit_kernel(const struct loop_fn *f, uint32_t stmt, struct buf *out);
void emit_baked(const struct loop_fn *f, struct buf *out);
void emit_tabs(struct buf *out, uint32_t n);
#endif

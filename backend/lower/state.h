/* Private to this folder: the unit that is lowered, and functions that emit operations. */
#ifndef TRIB_BACKEND_LOWER_STATE_H
#define TRIB_BACKEND_LOWER_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

struct diags;
enum { LOWER_RESULTS = 4 };

struct lower {
	struct ir_fn *f;
	const struct hir_unit *u;
	struct diags *diags;
	const dim *syms; /* inlined: the value of each symbol of the unit in the fn. NULL: the fn's dims are a copy of the unit's */
	ir_ref (*values)[LOWER_RESULTS]; /* of each HIR node */
	const struct hir_node *n;        /* the current node */
	const struct lowering *how;
	int64_t streams; /* number of random streams so far */
	bool failed;
};

/* How a builtin is lowered: `fn` emits it and stores the results of the node; `op` is for functions that serve several builtins. */
typedef void lower_fn(struct lower *l, ir_ref *results);
#define LOWER(builtin, function, op) lower_fn lower_bi_##function;
#include "backend/lower/lowerings.def"
#undef LOWER
struct lowering {
	lower_fn *fn;
	enum ir_op op;
};
/* Returns the lowering of builtin b. fn is NULL if the front end composes b of others. */
const struct lowering *lowering_of(enum builtin b);

/* ---- arguments of the node (args.c) ---- */
bool lower_has(const struct lower *l, uint32_t k);
ir_ref lower_tensor(struct lower *l, uint32_t k); /* IR_NONE if absent */
int64_t lower_int(struct lower *l, uint32_t k);   /* ARG_INT, ARG_BOOL, constant ARG_DIM */
double lower_float(struct lower *l, uint32_t k);
dim lower_dim(struct lower *l, uint32_t k);
bool lower_str_is(const struct lower *l, uint32_t k, const char *text);
uint32_t lower_list(const struct lower *l, uint32_t k, const struct hir_arg **items); /* a single argument is a list of one */
/* Returns the reduced dims as a mask. The argument is an int, a list, or absent: all dims. */
uint32_t lower_mask(struct lower *l, uint32_t k, uint32_t rank);
dim lower_translate(struct lower *l, dim x);
struct hir_type lower_type(struct lower *l, const struct hir_type *t);
/* Returns the type of the node. */
struct hir_type lower_node_type(struct lower *l);
void lower_fail(struct lower *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- operations (ops.c) ---- */
const struct hir_type *lower_of(const struct lower *l, ir_ref r);
struct hir_type lower_scalar(dtype elem);
ir_ref lower_emit(struct lower *l, enum ir_op op, const struct hir_type *t, const ir_ref *operands, uint32_t n);
ir_ref lower_const_float(struct lower *l, dtype elem, double v); /* rank 0; truncated if elem is an integer type */
ir_ref lower_const_int(struct lower *l, dtype elem, int64_t v);
ir_ref lower_cast(struct lower *l, ir_ref x, dtype elem);
ir_ref lower_broadcast(struct lower *l, ir_ref x, const struct hir_type *shape);
ir_ref lower_reshape(struct lower *l, ir_ref x, const dim *dims, uint32_t rank);
ir_ref lower_flatten(struct lower *l, ir_ref x); /* to rank 1 */
ir_ref lower_permute(struct lower *l, ir_ref x, const int64_t *perm);
ir_ref lower_op1(struct lower *l, enum ir_op op, ir_ref x);
/* Broadcasts both operands to their common shape. The result of a comparison is bool. */
ir_ref lower_op2(struct lower *l, enum ir_op op, ir_ref a, ir_ref b);
/* The second operand is a constant, converted to a's element type. */
ir_ref lower_op2c(struct lower *l, enum ir_op op, ir_ref a, double c);
ir_ref lower_select(struct lower *l, ir_ref c, ir_ref a, ir_ref b);
/* keep: reduced dims become 1; otherwise they are removed. */
ir_ref lower_reduce(struct lower *l, enum ir_op op, ir_ref x, uint32_t mask, bool keep);
/* Returns the number of elements in the dims of the mask, as a scalar of type elem. */
ir_ref lower_count(struct lower *l, ir_ref x, uint32_t mask, dtype elem);
/* Returns the value of a dim as a scalar of type elem. */
ir_ref lower_extent(struct lower *l, dim d, dtype elem);
ir_ref lower_iota(struct lower *l, const struct hir_type *shape, dtype elem, uint32_t axis);
/* Takes `size` elements along `axis`, from `start` on, `step` apart. */
ir_ref lower_slice(struct lower *l, ir_ref x, uint32_t axis, dim start, int64_t step, dim size);
ir_ref lower_concat(struct lower *l, const ir_ref *parts, uint32_t n, uint32_t axis);
ir_ref lower_gather_dim(struct lower *l, ir_ref x, ir_ref index, uint32_t axis);
/* Adds `before` and `after` copies of a scalar around each dim. */
ir_ref lower_pad(struct lower *l, ir_ref x, const dim *before, const dim *after, ir_ref value);
struct lower_window {
	uint32_t axis;
	dim kernel, count; /* number of elements of a window, number of windows */
	int64_t stride, dilation;
};
/* Windows of x along n dims in ascending order. The elements of a window are new last dims. */
ir_ref lower_windows(struct lower *l, ir_ref x, const struct lower_window *w, uint32_t n);
/* Takes elements of x along `axis` at the positions in `index`, a vector of int64. */
ir_ref lower_take(struct lower *l, ir_ref x, ir_ref index, uint32_t axis);
/* Reshapes a vector so that it broadcasts along dim `axis` of a tensor of the rank. */
ir_ref lower_along(struct lower *l, ir_ref v, uint32_t axis, uint32_t rank);
ir_ref lower_mean(struct lower *l, ir_ref x, uint32_t mask, bool keep);
/* Converts float16 and bfloat16 to float32, in which compound builtins compute. */
ir_ref lower_widen(struct lower *l, ir_ref x);
ir_ref lower_log_softmax(struct lower *l, ir_ref x, uint32_t mask);
ir_ref lower_matmul(struct lower *l, ir_ref a, ir_ref b, dtype elem);
#endif

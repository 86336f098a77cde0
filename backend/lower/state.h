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
	const dim *syms;                 /* the fn's symbol for each of the unit's */
	ir_ref (*values)[LOWER_RESULTS]; /* of each HIR node */
	const struct hir_node *n;        /* the current node */
	const struct lowering *how;
	int64_t streams; /* number of random streams so far */
	bool failed;
};

/* How a builtin is lowered: `fn` emits it and stores the results of the node; `op` is for functions that serve several builtins. */
struct lowering {
	void (*fn)(struct lower *l, ir_ref *results);
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

/* ---- lowering functions, by file ---- */
void lower_bi_unary(struct lower *l, ir_ref *r); /* ewise.c */
void lower_bi_binary(struct lower *l, ir_ref *r);
void lower_bi_swapped(struct lower *l, ir_ref *r);
void lower_bi_div(struct lower *l, ir_ref *r);
void lower_bi_round(struct lower *l, ir_ref *r);
void lower_bi_cast(struct lower *l, ir_ref *r);
void lower_bi_tan(struct lower *l, ir_ref *r);
void lower_bi_log2(struct lower *l, ir_ref *r);
void lower_bi_log10(struct lower *l, ir_ref *r);
void lower_bi_clip(struct lower *l, ir_ref *r);
void lower_bi_where(struct lower *l, ir_ref *r);
void lower_bi_zeros(struct lower *l, ir_ref *r); /* create.c */
void lower_bi_ones(struct lower *l, ir_ref *r);
void lower_bi_full(struct lower *l, ir_ref *r);
void lower_bi_eye(struct lower *l, ir_ref *r);
void lower_bi_arange(struct lower *l, ir_ref *r);
void lower_bi_linspace(struct lower *l, ir_ref *r);
void lower_bi_rand(struct lower *l, ir_ref *r);
void lower_bi_randn(struct lower *l, ir_ref *r);
void lower_bi_random_ternary(struct lower *l, ir_ref *r);
void lower_bi_ternary_weights(struct lower *l, ir_ref *r);
void lower_bi_reshape(struct lower *l, ir_ref *r); /* shape.c */
void lower_bi_identity(struct lower *l, ir_ref *r);
void lower_bi_transpose(struct lower *l, ir_ref *r);
void lower_bi_permute(struct lower *l, ir_ref *r);
void lower_bi_concat(struct lower *l, ir_ref *r);
void lower_bi_expand(struct lower *l, ir_ref *r);
void lower_bi_repeat(struct lower *l, ir_ref *r);
void lower_bi_slice(struct lower *l, ir_ref *r);
void lower_bi_select(struct lower *l, ir_ref *r);
void lower_bi_index_select(struct lower *l, ir_ref *r);
void lower_bi_gather(struct lower *l, ir_ref *r);
void lower_bi_embedding(struct lower *l, ir_ref *r);
void lower_bi_sum(struct lower *l, ir_ref *r); /* reduce.c */
void lower_bi_mean(struct lower *l, ir_ref *r);
void lower_bi_var(struct lower *l, ir_ref *r);
void lower_bi_std(struct lower *l, ir_ref *r);
void lower_bi_minmax(struct lower *l, ir_ref *r);
void lower_bi_arg(struct lower *l, ir_ref *r);
void lower_bi_bool(struct lower *l, ir_ref *r);
void lower_bi_sort(struct lower *l, ir_ref *r); /* order.c */
void lower_bi_argsort(struct lower *l, ir_ref *r);
void lower_bi_topk(struct lower *l, ir_ref *r);
void lower_bi_kthvalue(struct lower *l, ir_ref *r);
void lower_bi_median(struct lower *l, ir_ref *r);
void lower_bi_quantile(struct lower *l, ir_ref *r);
void lower_bi_cumulate(struct lower *l, ir_ref *r);
void lower_bi_scatter(struct lower *l, ir_ref *r);
void lower_bi_select_scatter(struct lower *l, ir_ref *r);
void lower_bi_matmul(struct lower *l, ir_ref *r); /* matmul.c */
void lower_bi_relu(struct lower *l, ir_ref *r);   /* activation.c */
void lower_bi_relu6(struct lower *l, ir_ref *r);
void lower_bi_relu2(struct lower *l, ir_ref *r);
void lower_bi_leaky_relu(struct lower *l, ir_ref *r);
void lower_bi_sigmoid(struct lower *l, ir_ref *r);
void lower_bi_gelu(struct lower *l, ir_ref *r);
void lower_bi_silu(struct lower *l, ir_ref *r);
void lower_bi_hardswish(struct lower *l, ir_ref *r);
void lower_bi_hardsigmoid(struct lower *l, ir_ref *r);
void lower_bi_softplus(struct lower *l, ir_ref *r);
void lower_bi_softmax(struct lower *l, ir_ref *r); /* norm.c */
void lower_bi_log_softmax(struct lower *l, ir_ref *r);
void lower_bi_batch_norm(struct lower *l, ir_ref *r);
void lower_bi_layer_norm(struct lower *l, ir_ref *r);
void lower_bi_rms_norm(struct lower *l, ir_ref *r);
void lower_bi_group_norm(struct lower *l, ir_ref *r);
void lower_bi_conv2d(struct lower *l, ir_ref *r);    /* conv.c */
void lower_bi_maxpool2d(struct lower *l, ir_ref *r); /* pool.c */
void lower_bi_avgpool2d(struct lower *l, ir_ref *r);
void lower_bi_adaptive_avgpool2d(struct lower *l, ir_ref *r);
void lower_bi_pad(struct lower *l, ir_ref *r); /* resize.c */
void lower_bi_upsample2d(struct lower *l, ir_ref *r);
void lower_bi_to_trit(struct lower *l, ir_ref *r); /* quant.c */
void lower_bi_absmean_quantize(struct lower *l, ir_ref *r);
void lower_bi_absmax_quantize(struct lower *l, ir_ref *r);
void lower_bi_adaptive_threshold_quantize(struct lower *l, ir_ref *r);
void lower_bi_xnor_quantize(struct lower *l, ir_ref *r);
void lower_bi_ternary_dequantize(struct lower *l, ir_ref *r);
void lower_bi_pack(struct lower *l, ir_ref *r);
void lower_bi_unpack(struct lower *l, ir_ref *r);
void lower_bi_attention(struct lower *l, ir_ref *r); /* attention.c */
void lower_bi_rope(struct lower *l, ir_ref *r);
void lower_bi_elu(struct lower *l, ir_ref *r); /* function.c */
void lower_bi_selu(struct lower *l, ir_ref *r);
void lower_bi_celu(struct lower *l, ir_ref *r);
void lower_bi_mish(struct lower *l, ir_ref *r);
void lower_bi_softsign(struct lower *l, ir_ref *r);
void lower_bi_logsigmoid(struct lower *l, ir_ref *r);
void lower_bi_hardtanh(struct lower *l, ir_ref *r);
void lower_bi_softshrink(struct lower *l, ir_ref *r);
void lower_bi_hardshrink(struct lower *l, ir_ref *r);
void lower_bi_tanhshrink(struct lower *l, ir_ref *r);
void lower_bi_expm1(struct lower *l, ir_ref *r);
void lower_bi_log1p(struct lower *l, ir_ref *r);
void lower_bi_exp2(struct lower *l, ir_ref *r);
void lower_bi_sinh(struct lower *l, ir_ref *r);
void lower_bi_cosh(struct lower *l, ir_ref *r);
void lower_bi_asin(struct lower *l, ir_ref *r);
void lower_bi_acos(struct lower *l, ir_ref *r);
void lower_bi_atan(struct lower *l, ir_ref *r);
void lower_bi_atan2(struct lower *l, ir_ref *r);
void lower_bi_fmod(struct lower *l, ir_ref *r);
void lower_bi_logsumexp(struct lower *l, ir_ref *r);
void lower_bi_extreme(struct lower *l, ir_ref *r);
void lower_bi_cross_entropy(struct lower *l, ir_ref *r); /* loss.c */
void lower_bi_mse_loss(struct lower *l, ir_ref *r);
#endif

/* Nodes as expressions of Python. A text may have holes (text.h). */
#ifndef TRIB_BACKEND_PYTORCH_EXPR_H
#define TRIB_BACKEND_PYTORCH_EXPR_H
#include "backend/pytorch/body.h"

enum precedence { PREC_TERNARY, PREC_COMPARE, PREC_SUM, PREC_PRODUCT, PREC_UNARY, PREC_CALL };
struct expr {
	const char *text; /* NULL: not made yet */
	enum precedence prec;
	bool is_number; /* a number of Python, not a tensor */
};
static inline struct expr call_expr(const char *text) { return (struct expr){text, PREC_CALL, false}; }

/* The expression of a node, whether or not a variable has its value. */
struct expr node_expr(struct body *b, hir_ref r);
/* The node's variable, or its expression. */
struct expr operand_expr(struct body *b, hir_ref r);
/* In parentheses if it binds less than `prec`. */
const char *in_parentheses(struct body *b, struct expr e, enum precedence prec);
const char *operand_text(struct body *b, hir_ref r, enum precedence prec);
/* The same of a node that must be a tensor: numbers become tensors. */
const char *tensor_text(struct body *b, hir_ref r);
/* ", device=x.device", or "" if there is no tensor input. */
const char *device_text(struct body *b);
const char *dim_text_python(struct body *b, dim d, enum precedence prec);
const char *dtype_python(struct arena *a, dtype t); /* "torch.float32" */
/* An argument of a builtin: a tensor, a number, a string or a list. */
const char *arg_text(struct body *b, const struct hir_arg *x, enum precedence prec);
/* spliced: without its brackets, as arguments. */
const char *list_text(struct body *b, const struct hir_arg *x, bool spliced);
/* A tensor of indices: of int64. */
const char *index_text(struct body *b, const struct hir_arg *x);
const char *float_arg(struct arena *a, const struct hir_arg *x); /* of ARG_FLOAT */

/* ---- template.c: builtins by the rows of functions.def ---- */
/* A row of functions.def; `template` NULL: there is none. */
struct row {
	const char *template;
	enum precedence prec;
};
const struct row *function_row(enum builtin bi);
/* True if the call of a builtin is shown as it was written. */
bool is_written(const struct body *b, const struct hir_node *n);
struct expr template_expr(struct body *b, hir_ref r, const struct row *row);
/* Argument i of a builtin as its call is shown; ARG_NONE beyond the last one. */
const struct hir_arg *arg_at(const struct body *b, hir_ref r, uint32_t i);

/* ---- product.c ---- */
/* An operand of a product: of the result's type, or of float64 for a result of integers, which PyTorch multiplies faster and exactly. */
const char *factor_text(struct body *b, hir_ref r, const struct hir_arg *x, enum precedence prec);
/* The product of factors, as integers if it is one of integers. */
struct expr product_expr(struct body *b, hir_ref r, const char *text, enum precedence prec);
struct expr matmul_expr(struct body *b, hir_ref r, const struct hir_arg *x);

/* ---- indexing.c: of the arguments x of a node ---- */
struct expr slice_expr(struct body *b, hir_ref r, const struct hir_arg *x);
struct expr select_expr(struct body *b, const struct hir_arg *x);
struct expr index_expr(struct body *b, hir_ref r, const struct hir_arg *x);

/* ---- call.c ---- */
/* The call of a unit with the arguments args[0 … n-1] for its inputs. */
const char *call_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee, const struct hir_arg *args, uint32_t n);
struct expr if_expr(struct body *b, const struct hir_node *n);
/* A result of a call, branch or builtin that returns one value, or a state after it. */
struct expr result_expr(struct body *b, const struct hir_node *n);
#endif

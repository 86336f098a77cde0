/* Calls of builtins: binds arguments to the parameters of builtins.def; then a rule checks them and emits nodes. */
#ifndef TRIB_FRONTEND_RULES_BUILTIN_H
#define TRIB_FRONTEND_RULES_BUILTIN_H
#include "frontend/unit/emit.h"

enum { BUILTIN_MAX_PARAMS = 12 };

struct builtin_param {
	name_id name;
	bool variadic, required;
	struct value standard; /* the default */
};
/* `n` parameters that nodes have; the rest, after `*`, is passed by name. dtype: the index of `dtype` among these; 0: it has none. */
struct builtin_sig {
	const char *name, *text, *operands;
	uint32_t n, n_all, dtype;
	struct builtin_param params[BUILTIN_MAX_PARAMS];
};
/* One call: the argument of each parameter, with defaults filled in. */
struct builtin_call {
	enum builtin bi;
	span at;
	const struct builtin_sig *sig;
	struct value v[BUILTIN_MAX_PARAMS];
	hir_ref operand[BUILTIN_MAX_PARAMS]; /* of those arguments for which builtins.def has a kind */
	span ats[BUILTIN_MAX_PARAMS];
	bool given[BUILTIN_MAX_PARAMS], named[BUILTIN_MAX_PARAMS];
	bool scalar; /* the first operand was a scalar and became a vector of one element: results become scalars again */
};
typedef struct value builtin_rule(struct emitter *e, struct builtin_call *c);
#define BUILTIN(id, name, sig, operands, rule, help) builtin_rule rule_##rule;
#include "frontend/hir/builtins.def"
#undef BUILTIN

/* Calls of the names of the prelude. */
struct value call_builtin(struct emitter *e, enum builtin bi, struct args *args, span at);
struct value call_special(struct emitter *e, enum special sp, struct args *args, span at);
struct value call_cast(struct emitter *e, dtype to, struct args *args, span at);
struct value call_print(struct emitter *e, struct args *args, span at);
void builtin_sigs_init(struct frontend *f);
/* Evaluates a builtin of numbers or of a list of numbers at compile time. False: it is no such call (builtin_static.c). */
bool evaluate_builtin(struct emitter *e, enum builtin bi, struct args *args, span at, struct value *out);

/* ---- arguments (args.c). False, HIR_NONE: reported ---- */
const char *arg_name(struct emitter *e, const struct builtin_call *c, uint32_t i);
/* Returns the index of the parameter, or c->sig->n if there is none of that name. */
uint32_t find_param(struct emitter *e, const struct builtin_call *c, const char *name);
/* Returns the tensor in argument i. A number becomes a scalar tensor. */
hir_ref need_tensor(struct emitter *e, struct builtin_call *c, uint32_t i);
hir_ref need_float(struct emitter *e, struct builtin_call *c, uint32_t i); /* integers and trits become float32 */
/* The same; float16 and bfloat16 become float32, in which composed builtins compute. */
hir_ref need_wide_float(struct emitter *e, struct builtin_call *c, uint32_t i);
/* Makes a vector of one element of the operand in argument i if it is a scalar. */
hir_ref need_vector(struct emitter *e, struct builtin_call *c, uint32_t i);
bool need_int(struct emitter *e, struct builtin_call *c, uint32_t i, int64_t *out);
bool need_float_value(struct emitter *e, struct builtin_call *c, uint32_t i, double *out);
bool need_bool(struct emitter *e, struct builtin_call *c, uint32_t i, bool *out);
bool need_dtype(struct emitter *e, struct builtin_call *c, uint32_t i, dtype *out);
/* A string that is one of `words`; *out: its index. */
bool need_word(struct emitter *e, struct builtin_call *c, uint32_t i, const char *const *words, uint32_t n, uint32_t *out);
/* An axis of a tensor of that rank; a negative number counts from the end. */
bool need_axis(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t rank, uint32_t *out);
/* An axis or a list of different axes; n is their number. */
bool need_axes(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t rank, uint32_t *axes, uint32_t *n);
bool axis_of(struct emitter *e, struct builtin_call *c, int64_t v, uint32_t rank, span at, uint32_t *out);
/* A size or a list of sizes. *minus_one: the index of a size -1, or -1; if it is NULL, -1 is an error. */
bool need_sizes(struct emitter *e, struct builtin_call *c, uint32_t i, dim *out, uint32_t *n, int *minus_one);
/* A size that must be known at compile time; `what` names it in the message. Reports nothing while checking. */
bool need_const_size(struct emitter *e, struct builtin_call *c, span at, dim size, const char *what, int64_t *out);
bool size_value(struct emitter *e, struct value v, dim *out);
/* Returns the float type of argument i; float32 if it is not a tensor of floats. */
dtype float_type_of(struct emitter *e, const struct builtin_call *c, uint32_t i);
/* True if argument i is a tensor of trits or a trit. */
bool is_trits(struct emitter *e, const struct builtin_call *c, uint32_t i);

/* ---- errors: "`name`: message" ---- */
struct diag *rule_report(struct emitter *e, struct builtin_call *c, enum diag_code code, span at, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The same as an expression: poison, or false. */
#define rule_error(...) (rule_report(__VA_ARGS__), VALUE_POISON)
#define rule_reject(...) (rule_report(__VA_ARGS__), false)
const char *dim_text(struct emitter *e, dim d); /* "2*N + 1" */

/* ---- shapes (broadcast.c) ---- */
/* True if two sizes are equal; while checking, also if they may be equal. */
bool dims_agree(struct emitter *e, dim a, dim b);
bool shapes_agree(struct emitter *e, const struct hir_type *a, const struct hir_type *b);
/* The same, except for dimension `axis`. */
bool shapes_agree_except(struct emitter *e, const struct hir_type *a, const struct hir_type *b, uint32_t axis);
/* Broadcasts *acc with t by the rules of NumPy. False: they do not broadcast. */
bool broadcast_dims(struct emitter *e, struct hir_type *acc, const struct hir_type *t);
/* True if t broadcasts to the shape `to`, which does not grow. */
bool broadcasts_to(struct emitter *e, const struct hir_type *t, const struct hir_type *to);
/* Notes the first dimension in which two shapes do not broadcast or, unless `except` is UINT32_MAX, differ; `except` is ignored. */
void note_difference(struct emitter *e, struct diag *g, const struct hir_type *a, const struct hir_type *b, uint32_t except);
bool broadcast_or_report(struct emitter *e, struct builtin_call *c, hir_ref a, hir_ref b, span sa, span sb, struct hir_type *out);
/* Removes the dimensions in `mask`, or sets them to 1 if `keep`. */
struct hir_type reduce_dims(struct emitter *e, const struct hir_type *t, uint32_t mask, bool keep);
/* False if a dimension in `mask` has no elements, which is reported. */
bool check_not_empty(struct emitter *e, struct builtin_call *c, const struct hir_type *t, uint32_t mask);
/* True if both sizes are known at compile time. */
bool const_sizes(struct emitter *e, dim a, dim b, int64_t *x, int64_t *y);
dim fresh_dim(struct emitter *e);

/* ---- nodes (compose.c) ---- */
struct hir_arg plain_arg(struct value v); /* a number, bool or string */
struct hir_arg arg_float(double f);
struct hir_arg arg_sizes(struct emitter *e, const struct hir_type *t); /* the sizes of t as a list */
/* Emits a builtin with one result of type t. */
struct value emit_call(struct emitter *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, size_t n, span at);
#define ARGS(...) (const struct hir_arg[]){__VA_ARGS__}, sizeof((const struct hir_arg[]){__VA_ARGS__}) / sizeof(struct hir_arg)
#define EMIT_AT(at, bi, t, ...) emit_call(e, bi, t, ARGS(__VA_ARGS__), at)
#define EMIT(bi, t, ...) EMIT_AT(c->at, bi, t, __VA_ARGS__)
/* Emits the builtin of the call with tensor x and its other arguments, which are numbers, bools and strings. */
struct value emit_plain(struct emitter *e, struct builtin_call *c, const struct hir_type *t, hir_ref x);
struct value emit_reshape(struct emitter *e, hir_ref x, const struct hir_type *t, span at);
struct value emit_permute(struct emitter *e, hir_ref x, const uint32_t *order, span at);
/* Returns the two results of a node as a tuple. */
struct value emit_two_results(struct emitter *e, hir_ref node, const struct hir_type *first, const struct hir_type *second, span at);
struct value as_elem(struct emitter *e, struct value v, dtype t, span at); /* casts a tensor */

/* ---- values ---- */
#define VALUE_NONE ((struct value){.kind = V_NONE})
#define VALUES(...) (const struct value[]){__VA_ARGS__}, sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value)
struct value list_of(struct emitter *e, const struct value *v, size_t n);
#define LIST(...) list_of(e, VALUES(__VA_ARGS__))
struct value tuple_of(struct emitter *e, const struct value *v, size_t n);
#define TUPLE(...) tuple_of(e, VALUES(__VA_ARGS__))
/* Returns element k of a list or tuple; another value itself. */
static inline struct value item_of(struct value v, uint32_t k) { return value_is_seq(v) ? v.u.seq->at[k] : v; }
static inline uint32_t item_count(struct value v) { return value_is_seq(v) ? v.u.seq->n : 1; }
static inline bool is_tensor(struct value v) { return v.kind == V_TENSOR; }
static inline uint32_t rank_of(struct emitter *e, struct value v) { return type_of(e, v.u.t)->rank; }
struct value list_of_sizes(struct emitter *e, const struct hir_type *t);

/* ---- builtins that are composed of others ---- */
/* Calls builtin `bi` with n values. Poison in, poison out. */
struct value compose(struct emitter *e, enum builtin bi, const struct value *v, size_t n, span at);
#define COMPOSE_AT(at, bi, ...) compose(e, bi, VALUES(__VA_ARGS__), at)
#define COMPOSE(bi, ...) COMPOSE_AT(c->at, bi, __VA_ARGS__)
/* Calls a builtin of two operands, with the positions of arguments 0 and 1. */
struct value compose_pair(struct emitter *e, struct builtin_call *c, enum builtin bi, struct value a, struct value b);

/* The element type of the product of a and b (matmul.c). Floats of different widths, or a float and an integer, are cast to the wider;
 * trits and integers are not cast. False: there is none (reported). */
bool product_types(struct emitter *e, struct builtin_call *c, hir_ref *a, hir_ref *b, dtype *elem);

/* ---- operators of expressions: evaluated on compile-time values, else emitted as builtins (operators.c) ---- */
/* a op b; sa and sb are the spans of the operands. Poison if it fails (reported). */
struct value apply_binary(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb);
struct value apply_unary(struct emitter *e, enum token_kind op, struct value v, span at);
/* a + b if one of them is a V_STACKED. */
struct value concat_stacked(struct emitter *e, struct value a, struct value b, span at);
/* Returns the operator of a builtin, "+", or its name. */
const char *builtin_text(enum builtin bi);
/* Reduces a loss by argument i, `reduction`. */
struct value reduce_loss(struct emitter *e, struct builtin_call *c, uint32_t i, struct value loss);
#endif

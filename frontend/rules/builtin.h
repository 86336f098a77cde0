/* Calls of builtins: arguments bound to the parameters of builtins.def, then a rule that checks them and emits the nodes. */
#ifndef TRIB_FRONTEND_RULES_BUILTIN_H
#define TRIB_FRONTEND_RULES_BUILTIN_H
#include "frontend/unit/emit.h"

enum { BUILTIN_MAX_PARAMS = 12 };

struct builtin_param {
	name_id name;
	bool variadic, required;
	struct value standard; /* the default */
};
/* `n` parameters that rules see, then those behind `*`, which mean something in training only. */
struct builtin_sig {
	const char *name, *text;
	uint32_t n, n_all;
	struct builtin_param params[BUILTIN_MAX_PARAMS];
};
/* One call: the argument of each parameter, defaults filled in. */
struct bcall {
	enum builtin bi;
	span at;
	const struct builtin_sig *sig;
	struct value v[BUILTIN_MAX_PARAMS];
	span ats[BUILTIN_MAX_PARAMS];
	bool given[BUILTIN_MAX_PARAMS], named[BUILTIN_MAX_PARAMS];
};
typedef struct value builtin_rule(struct emitter *e, struct bcall *c);
#define BUILTIN(id, name, sig, rule) builtin_rule rule_##rule;
#include "frontend/hir/builtins.def"
#undef BUILTIN

/* Calls of what the prelude defines. */
struct value call_builtin(struct emitter *e, enum builtin bi, struct args *args, span at);
struct value call_special(struct emitter *e, enum special sp, struct args *args, span at);
struct value call_cast(struct emitter *e, dtype to, struct args *args, span at);
struct value call_print(struct emitter *e, struct args *args, span at);
void builtin_sigs_init(struct frontend *f);
/* A builtin of numbers, or of a list of them, that are known now: the value into *out. False: it is no such call (builtin_static.c). */
bool builtin_of_numbers(struct emitter *e, enum builtin bi, struct args *args, span at, struct value *out);

/* ---- what the rules share (args.c); those that return bool or HIR_NONE have reported ---- */
const char *bcall_name(const struct bcall *c);
/* The tensor in argument i; a number becomes a scalar tensor. */
hir_ref need_tensor(struct emitter *e, struct bcall *c, uint32_t i);
hir_ref need_float(struct emitter *e, struct bcall *c, uint32_t i); /* integers and trits become float32 */
/* The same for x, and float16 and bfloat16 become float32: what compound builtins compute in. */
hir_ref need_wide_float(struct emitter *e, struct bcall *c, uint32_t i);
bool need_int(struct emitter *e, struct bcall *c, uint32_t i, int64_t *out);
bool need_float_value(struct emitter *e, struct bcall *c, uint32_t i, double *out);
bool need_bool(struct emitter *e, struct bcall *c, uint32_t i, bool *out);
bool need_dtype(struct emitter *e, struct bcall *c, uint32_t i, dtype *out);
/* An axis of a tensor of the rank, counted from the end where negative. */
bool need_axis(struct emitter *e, struct bcall *c, uint32_t i, uint32_t rank, uint32_t *out);
bool axis_of(struct emitter *e, struct bcall *c, int64_t v, uint32_t rank, span at, uint32_t *out);
/* A list of sizes (or one size); -1 stays as *minus_one's index, else -1 is an error. */
bool need_sizes(struct emitter *e, struct bcall *c, uint32_t i, dim *out, uint32_t *n, int *minus_one);
bool size_value(struct emitter *e, struct value v, dim *out);

/* Equal? Checking accepts what may be. */
bool dims_agree(struct emitter *e, dim a, dim b);
/* Shapes by the rules of NumPy; false: they do not broadcast. */
bool broadcast_dims(struct emitter *e, struct hir_type *acc, const struct hir_type *t);
bool broadcasts_to(struct emitter *e, const struct hir_type *t, const struct hir_type *to); /* without making that larger */
/* Notes the dimension in which two shapes differ that do not broadcast, or, unless `except` is UINT32_MAX, that should be equal but for that one. */
void note_difference(struct emitter *e, struct diag *g, const struct hir_type *a, const struct hir_type *b, uint32_t except);
bool broadcast_or_report(struct emitter *e, struct bcall *c, hir_ref a, hir_ref b, span sa, span sb, struct hir_type *out);
dim fresh_dim(struct emitter *e);
struct value shape_error(struct emitter *e, struct bcall *c, enum diag_code code, span at, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
struct value emit1(struct emitter *e, struct bcall *c, enum builtin bi, const struct hir_type *t, hir_ref x);
/* The same, the further parameters from c as numbers, bools and strings. */
struct value emit_plain(struct emitter *e, struct bcall *c, const struct hir_type *t, hir_ref x);
struct value emit_reshape(struct emitter *e, hir_ref x, const struct hir_type *t, span at);
struct hir_arg plain_arg(struct value v);
/* Other builtins of one or two operands, for those that are made of them. Poison gives poison. */
struct value call1(struct emitter *e, enum builtin bi, struct value a, span at);
struct value call2(struct emitter *e, enum builtin bi, struct value a, struct value b, span at);
struct value choose(struct emitter *e, struct value c, struct value a, struct value b, span at); /* where(c, a, b) */
struct value as_elem(struct emitter *e, struct value v, dtype t, span at);                       /* a cast of a tensor */
/* Is argument i a tensor of trits? */
bool is_trits(struct emitter *e, const struct bcall *c, uint32_t i);
/* The element type of a product of a and b (linear.c). Floats of different widths, or a float and an integer, meet in the wider and are cast;
 * trits and integers stay what they are. False: there is none. */
bool product_types(struct emitter *e, struct bcall *c, hir_ref *a, hir_ref *b, dtype *elem);
#endif

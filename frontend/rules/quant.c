/* Rules of the quantizers that compare with thresholds and return trits, and of packing. */
#include <string.h>
#include "frontend/rules/builtin.h"

/* Loads the threshold in argument i: a number, negative only if `negative`, or a tensor of floats that broadcasts to x. */
static bool need_threshold(struct emitter *e, struct builtin_call *c, uint32_t i, const struct hir_type *x, bool negative,
			   struct hir_arg *out)
{
	double number;
	if (c->v[i].kind != V_TENSOR) {
		if (!need_float_value(e, c, i, &number))
			return false;
		*out = arg_float(number);
		if (negative || !(number < 0))
			return true;
		return report_false(e, DIAG_ARG_VALUE, c->ats[i], "`%s` must not be negative", arg_name(e, c, i));
	}
	hir_ref r = need_float(e, c, i);
	if (r == HIR_NONE)
		return false;
	struct hir_type t = *type_of(e, r);
	if (!broadcasts_to(e, &t, x))
		return rule_reject(e, c, DIAG_BROADCAST, c->ats[i], "the threshold's shape %s does not broadcast to %s", shape_text(e, &t),
				   shape_text(e, x));
	*out = arg_tensor(emit_cast(e, r, x->elem, c->ats[i]));
	return true;
}

/* Multiplies the threshold by `scale` if the builtin has one. */
static bool scale_threshold(struct emitter *e, struct builtin_call *c)
{
	uint32_t i = find_param(e, c, "scale");
	if (i == c->sig->n || (c->v[i].kind == V_FLOAT && c->v[i].u.f == 1.0))
		return true;
	c->v[1] = apply_binary(e, TOK_STAR, c->v[1], c->v[i], c->ats[i], c->ats[1], c->ats[i]);
	return !is_poison(c->v[1]);
}

struct value rule_to_trit(struct emitter *e, struct builtin_call *c)
{
	static const char *const methods[] = {"threshold", "stochastic", "learned"};
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {0};
	uint32_t method;
	if (c->bi == BI_TERNARY_QUANTIZE) {
		if (!need_word(e, c, 2, methods, 3, &method))
			return VALUE_POISON;
		a[2] = plain_arg(c->v[2]);
	}
	hir_ref r = is_trits(e, c, 0) && c->bi != BI_TERNARY_ACTIVATION ? need_tensor(e, c, 0) : need_float(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	bool same = t.elem == DT_TRIT;
	if (same)
		t.elem = DT_FLOAT32;
	if (!scale_threshold(e, c) || !need_threshold(e, c, 1, &t, false, &a[1]))
		return VALUE_POISON;
	if (same)
		return value_tensor(r);
	a[0] = arg_tensor(r);
	t.elem = DT_TRIT;
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

static bool is_function(struct value v) { return v.kind == V_FN || v.kind == V_BUILTIN || v.kind == V_LAYER; }

/* ste_quantize(x, quantize_fn) calls the function. */
struct value rule_ste_quantize(struct emitter *e, struct builtin_call *c)
{
	uint32_t fn = is_function(c->v[1]) ? 1 : 2;
	if (c->v[fn].kind == V_NONE)
		return rule_to_trit(e, c);
	if (!is_function(c->v[fn]))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[fn], "`quantize_fn` must be a function of a tensor, not %s",
				  value_text(e, c->v[fn]));
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE || type_of(e, r)->elem == DT_TRIT)
		return r == HIR_NONE ? VALUE_POISON : value_tensor(r);
	struct arg x = {.v = value_tensor(r), .at = c->ats[0]};
	struct args args = {1, &x};
	return e->evaluator->call(e, c->v[fn], &args, c->ats[fn], source_excerpt(e, c->ats[fn]));
}

static struct value trit_value(int64_t i) { return (struct value){.kind = V_TRIT, .u.i = i}; }

static struct value number_or_tensor(struct hir_arg a) { return a.kind == ARG_TENSOR ? value_tensor(a.u.tensor) : value_float(a.u.f); }

/* True if argument i, a scale, is 1. */
static bool quant_is_one(const struct builtin_call *c, uint32_t i)
{
	struct value v = c->v[i];
	return v.kind == V_NONE || (v.kind == V_FLOAT && v.u.f == 1.0) || (v.kind == V_INT && v.u.i == 1);
}

/* Compares with two thresholds. The result is trits, or floats if there are scales. */
static struct value quantize_by_two_thresholds(struct emitter *e, struct builtin_call *c)
{
	enum { POS = 1, NEG, POS_SCALE, NEG_SCALE };
	hir_ref r = need_wide_float(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	struct value v[NEG_SCALE + 1], x = value_tensor(r);
	bool scaled = !quant_is_one(c, POS_SCALE) || !quant_is_one(c, NEG_SCALE);
	for (uint32_t i = POS; i <= NEG_SCALE; i++) {
		struct hir_arg limit;
		if (c->v[i].kind == V_NONE)
			c->v[i] = i == NEG ? apply_unary(e, TOK_MINUS, c->v[POS], c->at) : value_float(1.0);
		if (is_poison(c->v[i]) || !need_threshold(e, c, i, &t, i != POS, &limit))
			return VALUE_POISON;
		v[i] = number_or_tensor(limit);
	}
	struct value high = COMPOSE(BI_GT, x, v[POS]), low = COMPOSE(BI_LT, x, v[NEG]);
	if (!scaled)
		return COMPOSE(BI_WHERE, high, trit_value(1), COMPOSE(BI_WHERE, low, trit_value(-1), trit_value(0)));
	struct value zero = value_tensor(emit_scalar(e, value_float(0), t.elem, c->at));
	struct value down = COMPOSE(BI_WHERE, low, apply_unary(e, TOK_MINUS, v[NEG_SCALE], c->at), zero);
	return as_elem(e, COMPOSE(BI_WHERE, high, v[POS_SCALE], down), float_type_of(e, c, 0), c->at);
}

struct value rule_learned_quantize(struct emitter *e, struct builtin_call *c)
{
	bool one = true;
	for (uint32_t i = 2; i < c->sig->n; i++)
		one = one && c->v[i].kind == V_NONE;
	return one || is_trits(e, c, 0) ? rule_to_trit(e, c) : quantize_by_two_thresholds(e, c);
}

/* ---- packing ---- */

static bool check_packed_operand(struct emitter *e, struct builtin_call *c, hir_ref r, dtype elem, const char *what)
{
	if (type_of(e, r)->elem != elem)
		return report_false(e, DIAG_TYPE_MISMATCH, c->ats[0], "`%s` needs %s, not %s", c->sig->name, what, value_text(e, c->v[0]));
	if (type_of(e, r)->rank)
		return true;
	return rule_reject(e, c, DIAG_RANK, c->ats[0], "the tensor must not be a scalar");
}

struct value rule_pack(struct emitter *e, struct builtin_call *c)
{
	struct dims *d = e->b->dims;
	hir_ref r = c->operand[0];
	if (!check_packed_operand(e, c, r, DT_TRIT, "trits"))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	t.elem = DT_INT8;
	t.dims[t.rank - 1] = dim_floordiv(d, dim_add(d, t.dims[t.rank - 1], dim_const(d, 3)), dim_const(d, 4));
	return emit_plain(e, c, &t, r);
}

struct value rule_unpack(struct emitter *e, struct builtin_call *c)
{
	struct dims *d = e->b->dims;
	int64_t n, most;
	hir_ref r = c->operand[0];
	if (!check_packed_operand(e, c, r, DT_INT8, "int8 bytes from `pack`"))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	dim whole = dim_mul(d, t.dims[t.rank - 1], dim_const(d, 4)), size = whole;
	if (c->v[1].kind != V_NONE && !size_value(e, c->v[1], &size))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`size` must be an integer, not %s", value_text(e, c->v[1]));
	if (dim_is_const(d, size, &n) && (n < 0 || (dim_is_const(d, whole, &most) && (n > most || n + 4 <= most))))
		return rule_error(e, c, DIAG_SHAPE, c->ats[1], "%s has four trits per byte, not %lld in the last dimension",
				  type_text(e, r), (long long)n);
	t.elem = DT_TRIT;
	t.dims[t.rank - 1] = size;
	return EMIT(c->bi, &t, arg_tensor(r), arg_dim(size));
}

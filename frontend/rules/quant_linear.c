/* Rules of products that quantize their operands by `ternary_quantize`, which does not change trits. */
#include "frontend/rules/builtin.h"

/* Loads argument i, quantized to trits if argument `flag` is true. */
static bool load_quantized(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t flag, struct value *out)
{
	bool yes;
	hir_ref r = is_trits(e, c, i) ? need_tensor(e, c, i) : need_float(e, c, i);
	if (r == HIR_NONE || !need_bool(e, c, flag, &yes))
		return false;
	*out = yes ? COMPOSE_AT(c->ats[i], BI_TERNARY_QUANTIZE, value_tensor(r)) : value_tensor(r);
	return !is_poison(*out);
}

static struct value quant_linear_add_bias(struct emitter *e, struct builtin_call *c, struct value y, struct value bias)
{
	return bias.kind == V_NONE ? y : COMPOSE(BI_ADD, y, bias);
}

/* Returns y * scale, or y for the default scale. */
static struct value apply_scale(struct emitter *e, struct value y, struct value scale, span at)
{
	return value_is_literal(scale) && scale.kind == V_FLOAT && scale.u.f == 1.0 ? y : COMPOSE_AT(at, BI_MUL, y, scale);
}

/* Converts the integer product of trits with trits to floats. */
static struct value convert_product(struct emitter *e, struct builtin_call *c, struct value y)
{
	bool whole = y.kind == V_TENSOR && dtype_class(type_of(e, y.u.t)->elem) != DTC_FLOAT;
	return whole ? as_elem(e, y, float_type_of(e, c, 0), c->at) : y;
}

struct value rule_quantized_matmul(struct emitter *e, struct builtin_call *c)
{
	struct value a, b;
	if (!load_quantized(e, c, 0, 2, &a) || !load_quantized(e, c, 1, 3, &b))
		return VALUE_POISON;
	return apply_scale(e, convert_product(e, c, compose_pair(e, c, BI_MATMUL, a, b)), c->v[4], c->ats[4]);
}

struct value rule_quantized_linear(struct emitter *e, struct builtin_call *c)
{
	struct value x, w;
	if (!load_quantized(e, c, 1, 3, &w) || !load_quantized(e, c, 0, 4, &x))
		return VALUE_POISON;
	return quant_linear_add_bias(e, c, apply_scale(e, convert_product(e, c, compose_pair(e, c, BI_MATMUL, x, w)), c->v[5], c->ats[5]),
				     c->v[2]);
}

struct value rule_quantized_conv2d(struct emitter *e, struct builtin_call *c)
{
	enum { BIAS = 2, STRIDE, PADDING, QUANTIZE_WEIGHTS, QUANTIZE_ACTIVATIONS, DILATION, GROUPS };
	static const uint32_t from[] = {0, 1, BIAS, STRIDE, PADDING, DILATION, GROUPS};
	enum { N = sizeof from / sizeof *from };
	struct value x, w;
	struct arg given[N];
	struct args args = {N, given};
	if (!load_quantized(e, c, 1, QUANTIZE_WEIGHTS, &w) || !load_quantized(e, c, 0, QUANTIZE_ACTIVATIONS, &x))
		return VALUE_POISON;
	for (uint32_t i = 0; i < N; i++)
		given[i] = (struct arg){.v = i == 0 ? x : i == 1 ? w : c->v[from[i]], .at = c->ats[from[i]]};
	return convert_product(e, c, call_builtin(e, BI_CONV2D, &args, c->at));
}

static bool need_trit_weights(struct emitter *e, struct builtin_call *c)
{
	hir_ref w = need_tensor(e, c, 1);
	if (w == HIR_NONE || type_of(e, w)->elem == DT_TRIT)
		return w != HIR_NONE;
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[1], "the weights of `%s` must be trits, not %s", c->sig->name,
				      value_text(e, c->v[1]));
	diag_help(e->report.out, g, "convert with `ternary_quantize(…)`, or with `absmean_quantize(…)`, which also returns a scale");
	return false;
}

struct value rule_ternary_matmul(struct emitter *e, struct builtin_call *c)
{
	return need_trit_weights(e, c) ? apply_scale(e, compose_pair(e, c, BI_MATMUL, c->v[0], c->v[1]), c->v[2], c->ats[2]) : VALUE_POISON;
}

/* x @ w * scale + bias; w is [in, out]. */
struct value rule_ternary_linear(struct emitter *e, struct builtin_call *c)
{
	if (!need_trit_weights(e, c))
		return VALUE_POISON;
	return quant_linear_add_bias(e, c, apply_scale(e, compose_pair(e, c, BI_MATMUL, c->v[0], c->v[1]), c->v[3], c->ats[3]), c->v[2]);
}

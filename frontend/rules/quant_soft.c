/* Rules of the quantizers whose forward pass is soft, or differs from others in training only. */
#include "frontend/rules/builtin.h"

/* A positive number, or a tensor of floats: in the element type t. */
static bool need_temperature(struct emitter *e, struct bcall *c, uint32_t i, dtype t, struct value *out)
{
	double number;
	if (c->v[i].kind == V_TENSOR) {
		hir_ref r = need_float(e, c, i);
		*out = r == HIR_NONE ? VALUE_POISON : value_tensor(emit_cast(e, r, t, c->ats[i]));
		return r != HIR_NONE;
	}
	if (!need_float_value(e, c, i, &number))
		return false;
	*out = value_float(number);
	if (number > 0)
		return true;
	report_error(e, DIAG_ARG_VALUE, c->ats[i], "the temperature must be positive, not %g", number);
	return false;
}

/* `hard` chooses: the values of `hard`, which are trits, as floats, or those of `soft`. The run may know it. */
static struct value hard_or_soft(struct emitter *e, struct bcall *c, struct value hard, struct value soft, dtype t)
{
	bool known;
	enum { HARD = 2 };
	if (c->v[HARD].kind != V_TENSOR && !need_bool(e, c, HARD, &known))
		return VALUE_POISON;
	hard = as_elem(e, hard, t, c->at);
	soft = as_elem(e, soft, t, c->at);
	return c->v[HARD].kind == V_TENSOR ? choose(e, c->v[HARD], hard, soft, c->at) : known ? hard : soft;
}

/* What both begin with: x wide in *x, the type of the result in *t, the temperature. */
static bool soft_operands(struct emitter *e, struct bcall *c, struct value *x, struct value *temperature, dtype *t)
{
	hir_ref given = need_float(e, c, 0), wide = given == HIR_NONE ? HIR_NONE : need_wide_float(e, c, 0);
	if (wide == HIR_NONE)
		return false;
	*t = type_of(e, given)->elem;
	*x = value_tensor(wide);
	return need_temperature(e, c, 1, type_of(e, wide)->elem, temperature);
}

/* tanh(x / T); hard: the trits of that. */
struct value rule_soft_quantize(struct emitter *e, struct bcall *c)
{
	struct value x, heat;
	dtype t;
	if (!soft_operands(e, c, &x, &heat, &t))
		return VALUE_POISON;
	if (is_trits(e, c, 0))
		return x;
	struct value soft = call1(e, BI_TANH, call2(e, BI_DIV, x, heat, c->at), c->at);
	return hard_or_soft(e, c, call2(e, BI_THRESHOLD_QUANTIZE, soft, c->v[3], c->ats[3]), soft, t);
}

/* The mean of -1, 0 and 1 under softmax([-x - t, 0, x - t] / T), in which the greatest is subtracted first; hard: the likeliest of them. */
struct value rule_gumbel_softmax_quantize(struct emitter *e, struct bcall *c)
{
	struct value x, heat, zero = value_float(0);
	dtype t;
	if (!soft_operands(e, c, &x, &heat, &t))
		return VALUE_POISON;
	if (is_trits(e, c, 0))
		return x;
	struct value hard = call2(e, BI_THRESHOLD_QUANTIZE, x, c->v[3], c->ats[3]), minus = call1(e, BI_NEG, x, c->at);
	struct value up = call2(e, BI_DIV, call2(e, BI_SUB, x, c->v[3], c->ats[3]), heat, c->at);
	struct value down = call2(e, BI_DIV, call2(e, BI_SUB, minus, c->v[3], c->ats[3]), heat, c->at);
	struct value most = call2(e, BI_MAXIMUM, call2(e, BI_MAXIMUM, up, down, c->at), zero, c->at);
	up = call1(e, BI_EXP, call2(e, BI_SUB, up, most, c->at), c->at);
	down = call1(e, BI_EXP, call2(e, BI_SUB, down, most, c->at), c->at);
	struct value all =
		call2(e, BI_ADD, call2(e, BI_ADD, up, down, c->at), call1(e, BI_EXP, call1(e, BI_NEG, most, c->at), c->at), c->at);
	return hard_or_soft(e, c, hard, call2(e, BI_DIV, call2(e, BI_SUB, up, down, c->at), all, c->at), t);
}

/* The threshold is where training cuts the gradient off: forward it is ste_quantize(x). */
struct value rule_clipped_ste_quantize(struct emitter *e, struct bcall *c)
{
	struct value unused;
	hir_ref x = is_trits(e, c, 0) ? need_tensor(e, c, 0) : need_float(e, c, 0);
	if (x == HIR_NONE || !need_temperature(e, c, 1, DT_FLOAT32, &unused))
		return VALUE_POISON;
	return call1(e, BI_STE_QUANTIZE, value_tensor(x), c->at);
}

struct value rule_stop_gradient(struct emitter *e, struct bcall *c)
{
	hir_ref x = need_tensor(e, c, 0);
	return x == HIR_NONE ? VALUE_POISON : c->v[0];
}

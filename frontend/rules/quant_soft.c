/* Rules of the soft quantizers, and of quantizers that differ from others only in training. */
#include "frontend/rules/builtin.h"

/* Loads a positive number, or a tensor of floats converted to element type t. */
static bool need_temperature(struct emitter *e, struct builtin_call *c, uint32_t i, dtype t, struct value *out)
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
	return report_false(e, DIAG_ARG_VALUE, c->ats[i], "`%s` must be positive, not %g", arg_name(e, c, i), number);
}

/* Returns the trits `hard` as floats, or `soft`, by the argument `hard`, which may be known only at run time. */
static struct value choose_hard_or_soft(struct emitter *e, struct builtin_call *c, struct value hard, struct value soft, dtype t)
{
	bool known;
	enum { HARD = 2 };
	if (c->v[HARD].kind != V_TENSOR && !need_bool(e, c, HARD, &known))
		return VALUE_POISON;
	hard = as_elem(e, hard, t, c->at);
	soft = as_elem(e, soft, t, c->at);
	return c->v[HARD].kind == V_TENSOR ? COMPOSE(BI_WHERE, c->v[HARD], hard, soft) : known ? hard : soft;
}

/* Loads x as a wide float, the type *t of the result, and the temperature. */
static bool load_soft_operands(struct emitter *e, struct builtin_call *c, struct value *x, struct value *temperature, dtype *t)
{
	hir_ref given = need_float(e, c, 0), wide = given == HIR_NONE ? HIR_NONE : need_wide_float(e, c, 0);
	if (wide == HIR_NONE)
		return false;
	*t = type_of(e, given)->elem;
	*x = value_tensor(wide);
	return need_temperature(e, c, 1, type_of(e, wide)->elem, temperature);
}

/* tanh(x / T); hard: its trits. */
struct value rule_soft_quantize(struct emitter *e, struct builtin_call *c)
{
	struct value x, heat;
	dtype t;
	if (!load_soft_operands(e, c, &x, &heat, &t))
		return VALUE_POISON;
	if (is_trits(e, c, 0))
		return x;
	struct value soft = COMPOSE(BI_TANH, COMPOSE(BI_DIV, x, heat));
	return choose_hard_or_soft(e, c, COMPOSE_AT(c->ats[3], BI_THRESHOLD_QUANTIZE, soft, c->v[3]), soft, t);
}

/* The mean of -1, 0 and 1 under softmax([-x - t, 0, x - t] / T), whose maximum is subtracted first; hard: the most likely one. */
struct value rule_gumbel_softmax_quantize(struct emitter *e, struct builtin_call *c)
{
	struct value x, heat, zero = value_float(0);
	dtype t;
	if (!load_soft_operands(e, c, &x, &heat, &t))
		return VALUE_POISON;
	if (is_trits(e, c, 0))
		return x;
	struct value hard = COMPOSE_AT(c->ats[3], BI_THRESHOLD_QUANTIZE, x, c->v[3]), minus = COMPOSE(BI_NEG, x);
	struct value up = COMPOSE(BI_DIV, COMPOSE_AT(c->ats[3], BI_SUB, x, c->v[3]), heat);
	struct value down = COMPOSE(BI_DIV, COMPOSE_AT(c->ats[3], BI_SUB, minus, c->v[3]), heat);
	struct value most = COMPOSE(BI_MAXIMUM, COMPOSE(BI_MAXIMUM, up, down), zero);
	up = COMPOSE(BI_EXP, COMPOSE(BI_SUB, up, most));
	down = COMPOSE(BI_EXP, COMPOSE(BI_SUB, down, most));
	struct value all = COMPOSE(BI_ADD, COMPOSE(BI_ADD, up, down), COMPOSE(BI_EXP, COMPOSE(BI_NEG, most)));
	return choose_hard_or_soft(e, c, hard, COMPOSE(BI_DIV, COMPOSE(BI_SUB, up, down), all), t);
}

/* The threshold limits the gradient in training; the forward pass is ste_quantize(x). */
struct value rule_clipped_ste_quantize(struct emitter *e, struct builtin_call *c)
{
	struct value unused;
	hir_ref x = is_trits(e, c, 0) ? need_tensor(e, c, 0) : need_float(e, c, 0);
	if (x == HIR_NONE || !need_temperature(e, c, 1, DT_FLOAT32, &unused))
		return VALUE_POISON;
	return COMPOSE(BI_STE_QUANTIZE, value_tensor(x));
}

struct value rule_stop_gradient(struct emitter *e, struct builtin_call *c) { return (void)e, c->v[0]; }

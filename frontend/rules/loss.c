/* Rules of the losses that have a lowering. */
#include <string.h>
#include "frontend/rules/builtin.h"

static bool need_reduction(struct emitter *e, struct builtin_call *c, uint32_t i, bool *none)
{
	static const char *const words[] = {"none", "mean", "sum"};
	uint32_t reduction;
	bool ok = need_word(e, c, i, words, 3, &reduction);
	*none = ok && !reduction;
	return ok;
}

struct value rule_mse_loss(struct emitter *e, struct builtin_call *c)
{
	bool none;
	hir_ref x = c->operand[0], y = c->operand[1];
	if (!need_reduction(e, c, 2, &none))
		return VALUE_POISON;
	struct hir_type t;
	dtype elem = dtype_join(type_of(e, x)->elem, type_of(e, y)->elem);
	if (!broadcast_or_report(e, c, x, y, c->ats[0], c->ats[1], &t))
		return VALUE_POISON;
	t.elem = elem;
	t.rank = none ? t.rank : 0;
	return EMIT(c->bi, &t, arg_tensor(emit_cast(e, x, elem, c->ats[0])), arg_tensor(emit_cast(e, y, elem, c->ats[1])),
		    plain_arg(c->v[2]));
}

/* Returns the shape of the input without its classes: one loss for each item. */
static struct hir_type shape_of_items(const struct hir_type *input, uint32_t classes)
{
	struct hir_type t = {.elem = input->elem};
	for (uint32_t k = 0; k < input->rank; k++)
		if (k != classes)
			t.dims[t.rank++] = input->dims[k];
	return t;
}

static bool target_fits(struct emitter *e, struct builtin_call *c, const struct hir_type *input, const struct hir_type *items,
			const struct hir_type *target)
{
	bool indices = dtype_class(target->elem) == DTC_INT;
	if (!indices && dtype_class(target->elem) != DTC_FLOAT)
		return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[1],
				   "the target must be class indices (integers) or probabilities (floats), not %s", value_text(e, c->v[1]));
	if (shapes_agree(e, target, indices ? items : input))
		return true;
	struct diag *g = report_error(e, DIAG_SHAPE, c->ats[1], "`cross_entropy`: the target has shape %s, but must have %s",
				      shape_text(e, target), shape_text(e, indices ? items : input));
	diag_secondary(e->report.out, g, c->ats[0], "for an input of shape %s", shape_text(e, input));
	diag_note(e->report.out, g,
		  indices ? "class indices have the input's shape without its classes, which are dimension %d"
			  : "probabilities have the input's shape, with the classes in dimension %d",
		  input->rank > 1);
	return false;
}

static bool load_class_weights(struct emitter *e, struct builtin_call *c, dim classes, dtype elem, struct hir_arg *out)
{
	*out = arg_none();
	if (c->v[2].kind == V_NONE)
		return true;
	hir_ref w = need_float(e, c, 2);
	if (w == HIR_NONE)
		return false;
	struct hir_type t = *type_of(e, w), want = {.rank = 1, .dims = {classes}};
	if (!shapes_agree(e, &t, &want))
		return rule_reject(e, c, DIAG_SHAPE, c->ats[2], "the weights must have shape %s, one for each class, not %s",
				   shape_text(e, &want), shape_text(e, &t));
	*out = arg_tensor(emit_cast(e, w, elem, c->ats[2]));
	return true;
}

struct value rule_cross_entropy(struct emitter *e, struct builtin_call *c)
{
	bool none;
	int64_t ignore;
	double smoothing;
	hir_ref x = c->operand[0], y = c->operand[1];
	if (!need_int(e, c, 3, &ignore) || !need_reduction(e, c, 4, &none) || !need_float_value(e, c, 5, &smoothing))
		return VALUE_POISON;
	struct hir_type input = *type_of(e, x), target = *type_of(e, y);
	if (!input.rank)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs an input [C], [N, C] or [N, C, …], not a scalar");
	if (!(smoothing >= 0 && smoothing <= 1))
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[5], "the label smoothing must be between 0 and 1");
	uint32_t classes = input.rank > 1;
	struct hir_type items = shape_of_items(&input, classes), out = items;
	struct hir_arg a[6] = {arg_tensor(x), arg_none(), arg_none(), arg_int(ignore), plain_arg(c->v[4]), arg_float(smoothing)};
	if (!target_fits(e, c, &input, &items, &target) || !load_class_weights(e, c, input.dims[classes], input.elem, &a[2]))
		return VALUE_POISON;
	a[1] = arg_tensor(dtype_class(target.elem) == DTC_FLOAT ? emit_cast(e, y, input.elem, c->ats[1]) : y);
	out.rank = none ? out.rank : 0;
	return value_tensor(emit_builtin(e, c->bi, &out, a, 6, c->at));
}

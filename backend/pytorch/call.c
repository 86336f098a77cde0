/* Calls of units: of layers at their paths, of methods and of functions. */
#include <string.h>
#include "backend/pytorch/class.h"
#include "backend/pytorch/expr.h"
#include "backend/pytorch/native.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"

static const struct owner *call_callee_owner(const struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	const char *path = call->kind == HIR_CALL && callee->layer ? call->layer : "";
	return !callee->layer ? b->p->file : *path ? owner_of_layer(b->p, callee->layer) : b->spec->owner;
}

static const struct method *callee_method(const struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	const struct owner *o = call_callee_owner(b, call, callee);
	for (uint32_t i = 0; o && i < o->methods.len; i++)
		if (o->methods.at[i].unit == callee)
			return &o->methods.at[i];
	return NULL;
}

/* The layer that a call is of, as an attribute of self, and its method. */
static const char *call_callee_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee)
{
	struct arena *a = b->p->a;
	if (!callee->layer)
		return function_name(b->p, NULL, callee);
	const char *path = call->kind == HIR_CALL ? call->layer : "";
	const struct owner *o = call_callee_owner(b, call, callee);
	if (!o)
		return report_unprintable(b->p, call->at, "a call of a layer that is no member of this one"), "None";
	const char *self = member_path(a, !b->spec->owner, path);
	const char *method = o->native || owner_is_sequence(o) ? "forward" : function_name(b->p, o, callee);
	return strcmp(method, "forward") == 0 && *path ? self : arena_printf(a, "%s.%s", self, method);
}

const char *call_text(struct body *b, const struct hir_node *call, const struct hir_unit *callee, const struct hir_arg *args, uint32_t n)
{
	struct arena *a = b->p->a;
	const char *text = "";
	uint32_t passed = 0;
	for (uint32_t i = 0; i < n && i < callee->n_inputs; i++) {
		if (is_layer_argument(callee, i)) {
			const char *path = layer_argument_path(a, b->u, call, callee, i);
			if (!path)
				return report_unprintable(b->p, call->at, "a layer as an argument"), "None";
			text = arena_printf(a, "%s%s%s", text, passed++ ? ", " : "", member_path(a, !b->spec->owner, path));
		}
		if (!is_passed(callee, i))
			continue;
		const char *value = tensor_text(b, args[i].u.tensor);
		/* a recurrent layer takes its states as a pair */
		bool pair = native_takes_pair(callee->layer), opens = pair && passed == 1, closes = pair && passed == 2;
		text = arena_printf(a, "%s%s%s%s%s", text, passed ? ", " : "", opens ? "(" : "", value, closes ? ")" : "");
		passed++;
	}
	const struct method *m = native_layer(callee->layer) ? NULL : callee_method(b, call, callee);
	for (uint32_t i = 0; m && i < m->n_sizes; i++)
		text = arena_printf(a, "%s%s%s", text, passed++ ? ", " : "",
				    dim_text_python(b, call->callee_syms[m->sizes[i]], PREC_TERNARY));
	return arena_printf(a, "%s(%s)", call_callee_text(b, call, callee), text);
}

struct expr if_expr(struct body *b, const struct hir_node *n)
{
	const struct hir_arg *x = &b->u->args[n->args];
	const char *yes = call_text(b, n, n->callee, x + 1, n->callee->n_inputs);
	const char *no = call_text(b, n, n->other, x + 1 + n->callee->n_inputs, n->other->n_inputs);
	return (struct expr){arena_printf(b->p->a, "%s if %s else %s", yes, arg_text(b, x, PREC_COMPARE), no), PREC_TERNARY, false};
}

struct expr result_expr(struct body *b, const struct hir_node *n)
{
	const struct hir_node *source = &b->u->nodes[n->source];
	if (hir_calls(source->kind) && source->callee->outputs[n->index].state_only) {
		const char *state = source->callee->inputs[source->callee->outputs[n->index].state - 1].name;
		const char *path = source->layer && *source->layer ? arena_printf(b->p->a, "%s.%s", source->layer, state) : state;
		return call_expr(member_path(b->p->a, !b->spec->owner, path));
	}
	return operand_expr(b, n->source);
}

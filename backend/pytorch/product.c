/* Products, also of integers. */
#include "backend/pytorch/expr.h"
#include "base/arena.h"

const char *factor_text(struct body *b, hir_ref r, const struct hir_arg *x, enum precedence prec)
{
	dtype t = b->u->nodes[r].type.elem, own = b->u->nodes[x->u.tensor].type.elem;
	bool is_float = dtype_class(t) == DTC_FLOAT;
	if (is_float && own == t)
		return operand_text(b, x->u.tensor, prec);
	return arena_printf(b->p->a, "%s.to(%s)", operand_text(b, x->u.tensor, PREC_CALL),
			    dtype_python(b->p->a, is_float ? t : DT_FLOAT64));
}

/* True if all uses of a product of integers make floats of it. Then it stays a tensor of floats, which has a gradient. */
static bool becomes_float(const struct body *b, hir_ref r)
{
	uint32_t casts = 0;
	for (hir_ref k = r + 1; k < b->u->n_nodes; k++) {
		const struct hir_node *n = &b->u->nodes[k];
		bool is_cast = n->kind == HIR_BUILTIN && n->builtin == BI_CAST && dtype_class(n->type.elem) == DTC_FLOAT;
		casts += b->uses[k] && is_cast && b->u->args[n->args].u.tensor == r;
	}
	return casts == b->uses[r];
}

struct expr product_expr(struct body *b, hir_ref r, const char *text, enum precedence prec)
{
	dtype t = b->u->nodes[r].type.elem;
	if (dtype_class(t) == DTC_FLOAT || becomes_float(b, r))
		return (struct expr){text, prec, false};
	return call_expr(arena_printf(b->p->a, prec < PREC_CALL ? "(%s).to(%s)" : "%s.to(%s)", text, dtype_python(b->p->a, t)));
}

struct expr matmul_expr(struct body *b, hir_ref r, const struct hir_arg *x)
{
	const char *left = factor_text(b, r, &x[0], PREC_PRODUCT), *right = factor_text(b, r, &x[1], PREC_PRODUCT + 1);
	return product_expr(b, r, arena_printf(b->p->a, "%s @ %s", left, right), PREC_PRODUCT);
}

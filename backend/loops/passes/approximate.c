/* Chooses how elementary functions of float32 are computed, as the target can: by polynomials, with tables in registers, or by its library. Powers of small
 * constant exponents become products. 16-bit floats are float32 in registers. */
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"

static bool has_small_exponent(const struct loop_nest *n, const struct loop_expr *pow)
{
	const struct loop_expr *y = &n->exprs[pow->args[1]];
	return y->kind == LOOP_CONST && (y->f == 1.0 || y->f == 2.0 || y->f == 3.0);
}

static enum loop_method choose_method(const struct loop_nest *n, const struct loop_expr *x, const struct target *t)
{
	double error;
	if (dtype_class(x->elem) != DTC_FLOAT)
		return METHOD_PLAIN;
	if (x->op == OP_POW && has_small_exponent(n, x))
		return METHOD_PRODUCTS;
	if (x->elem == DT_FLOAT64)
		return METHOD_PLAIN;
	if (t->functions == FUNCTIONS_LOOKUP && method_error(METHOD_LOOKUP, x->op, &error))
		return METHOD_LOOKUP;
	return method_error(METHOD_POLYNOMIAL, x->op, &error) ? METHOD_POLYNOMIAL : METHOD_PLAIN;
}

static uint32_t approximate(struct loop_fn *f, struct loop_nest *n, const struct target *t)
{
	uint32_t changes = 0;
	(void)f;
	for (uint32_t k = 0; t->functions != FUNCTIONS_LIBRARY && k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_OP)
			changes += (n->exprs[k].method = choose_method(n, &n->exprs[k], t)) != METHOD_PLAIN;
	return changes;
}

uint32_t loop_pass_approximate(struct loop_fn *f, struct loop_pass_context *c) { return loops_each_nest(f, c, approximate); }

/* Makes casts of clamped float32 to small integers, as int8(clip(round(x), -127, 127)) of a quantizer, one expression: nothing is clamped again, and one
 * instruction rounds and converts. */
#include <math.h>
#include "backend/ir/tensor.h"
#include "backend/loops/loop_passes.h"
#include "backend/loops/passes/sweep.h"
#include "backend/target/target.h"

static const struct loop_expr *float_operation(const struct loop_nest *n, uint32_t k, enum ir_op op)
{
	const struct loop_expr *x = &n->exprs[k];
	return x->kind == LOOP_OP && x->op == op && x->elem == DT_FLOAT32 ? x : NULL;
}

/* If expression *k is a minimum or maximum of something and a constant, returns that and sets *k to the other operand. */
static const struct loop_expr *find_clamp(const struct loop_nest *n, enum ir_op op, uint32_t *k)
{
	const struct loop_expr *x = float_operation(n, *k, op);
	for (int j = 0; x && j < 2; j++)
		if (n->exprs[x->args[j]].kind == LOOP_CONST) {
			*k = x->args[1 - j];
			return &n->exprs[x->args[j]];
		}
	return NULL;
}

static bool is_small_integer(dtype t) { return t != DT_BOOL && dtype_class(t) != DTC_FLOAT && dtype_size(t) <= 2; }

static bool bounded_casts_is_whole(double v) { return v == floor(v); }

/* Makes the cast bounded if the bounds of what its operand clamps fit. Whole bounds clamp before rounding as after it. */
static bool bound_cast(struct loop_nest *n, struct loop_expr *cast)
{
	double most = (double)dtype_largest_int(cast->elem), least = (double)dtype_least_int(cast->elem);
	uint32_t k = cast->args[0];
	const struct loop_expr *high = find_clamp(n, OP_MIN, &k), *low = find_clamp(n, OP_MAX, &k);
	if (!high)
		high = find_clamp(n, OP_MIN, &k);
	if (!low || !high || !(low->f <= high->f) || low->f < least || high->f > most)
		return false;
	const struct loop_expr *round = float_operation(n, k, OP_ROUND);
	if (round && (!bounded_casts_is_whole(low->f) || !bounded_casts_is_whole(high->f)))
		return false;
	cast->kind = LOOP_BOUNDED;
	cast->args[0] = round ? round->args[0] : k;
	cast->low = low->f;
	cast->high = high->f;
	cast->nearest = round != NULL;
	return true;
}

static uint32_t bound_casts(struct loop_fn *f, struct loop_nest *n, const struct target *t)
{
	uint32_t changes = 0;
	for (uint32_t k = 0; !t->group_size && k < n->n_exprs; k++) {
		struct loop_expr *x = &n->exprs[k];
		if (x->kind == LOOP_OP && x->op == OP_CAST && is_small_integer(x->elem))
			changes += bound_cast(n, x);
	}
	if (changes)
		loops_sweep(f->unit, n);
	return changes;
}

uint32_t loop_pass_bounded_casts(struct loop_fn *f, struct loop_pass_context *c) { return loops_each_nest(f, c, bound_casts); }

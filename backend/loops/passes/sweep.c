#include "backend/loops/passes/sweep.h"
#include "base/arena.h"

/* Marks what the nest stores, reduces or checks, and the element of a prologue, then what these use: operands precede their users. */
static bool *find_used(struct arena *unit, const struct loop_nest *n)
{
	bool *used = ARENA_ARRAY(unit, bool, n->n_exprs + 1);
	for (uint32_t k = 0; k < n->n_stores; k++)
		used[n->stores[k].value] = true;
	for (uint32_t k = 0; k < n->n_reductions; k++)
		used[n->reductions[k].value] = true;
	if (!n->n_stores)
		used[n->n_exprs - 1] = true;
	for (uint32_t k = n->n_exprs; k-- > 0;) {
		const struct loop_expr *x = &n->exprs[k];
		used[k] |= x->kind == LOOP_CHECK;
		for (uint32_t j = 0; used[k] && j < loop_expr_operands(x); j++)
			used[x->args[j]] = true;
		if (used[k] && x->kind == LOOP_LOAD && x->access.index != LOOP_NONE)
			used[x->access.index] = true;
	}
	return used;
}

void loops_sweep(struct arena *unit, struct loop_nest *n)
{
	const bool *used = find_used(unit, n);
	uint32_t *number = ARENA_ARRAY(unit, uint32_t, n->n_exprs + 1), count = 0;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		struct loop_expr x = n->exprs[k];
		if (!used[k])
			continue;
		for (uint32_t j = 0; j < loop_expr_operands(&x); j++)
			x.args[j] = number[x.args[j]];
		if (x.kind == LOOP_LOAD && x.access.index != LOOP_NONE)
			x.access.index = number[x.access.index];
		number[k] = count;
		n->exprs[count++] = x;
	}
	n->n_exprs = count;
	for (uint32_t k = 0; k < n->n_stores; k++)
		n->stores[k].value = number[n->stores[k].value];
	for (uint32_t k = 0; k < n->n_reductions; k++)
		n->reductions[k].value = number[n->reductions[k].value];
}

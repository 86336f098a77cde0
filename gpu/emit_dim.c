#include "base/arena.h"
#include "base/bug.h"
#include "gpu/emit.h"

enum { DEPTH = 64 };

static const char *binary(struct arena *a, enum dim_op op, const char *x, const char *y)
{
	switch (op) {
	case DIM_OP_ADD: return arena_printf(a, "(%s + %s)", x, y);
	case DIM_OP_MUL: return arena_printf(a, "(%s * %s)", x, y);
	case DIM_OP_FLOORDIV: return arena_printf(a, "tri_floordiv_long(%s, %s)", x, y);
	case DIM_OP_MOD: return arena_printf(a, "tri_mod_long(%s, %s)", x, y);
	default: BUG("dimension step");
	}
}

static const char *number(struct arena *a, int64_t v)
{
	if (v > INT32_MAX || v < INT32_MIN)
		return v == INT64_MIN ? "(-9223372036854775807L - 1)" : arena_printf(a, v < 0 ? "(%lldL)" : "%lldL", (long long)v);
	return arena_printf(a, v < 0 ? "(%lld)" : "%lld", (long long)v);
}

const char *opencl_dim(struct arena *a, const struct dims *d, dim x)
{
	const char *stack[DEPTH];
	uint32_t n = dim_program(d, x, NULL, 0), top = 0;
	struct dim_step *steps = ARENA_ARRAY(a, struct dim_step, n);
	dim_program(d, x, steps, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct dim_step *s = &steps[i];
		BUG_ON(top == DEPTH);
		if (s->op == DIM_PUSH_CONST) {
			stack[top++] = number(a, s->value);
		} else if (s->op == DIM_PUSH_SYM) {
			stack[top++] = arena_printf(a, "n%lld", (long long)s->value);
		} else {
			BUG_ON(top < 2);
			top--;
			stack[top - 1] = binary(a, s->op, stack[top - 1], stack[top]);
		}
	}
	BUG_ON(top != 1);
	return stack[0];
}

const char *emit_loop_var(struct arena *a, const struct loop_nest *n, uint32_t k)
{
	return k < n->n_parallel ? arena_printf(a, "i%u", k) : arena_printf(a, "r%u", k - n->n_parallel);
}

const char *emit_offset(const struct emit_nest *e, const struct loop_access *a)
{
	struct arena *s = e->scratch;
	const struct dims *d = e->f->dims;
	const char *text = NULL;
	int64_t v;
	if (!dim_is_const(d, a->base, &v) || v != 0)
		text = opencl_dim(s, d, a->base);
	for (uint32_t k = 0; k < (uint32_t)e->n->n_parallel + e->n->n_reduce; k++) {
		bool known = dim_is_const(d, a->stride[k], &v);
		if (known && v == 0)
			continue;
		const char *var = emit_loop_var(s, e->n, k);
		const char *term = known && v == 1 ? var : arena_printf(s, "%s * %s", var, opencl_dim(s, d, a->stride[k]));
		text = text ? arena_printf(s, "%s + %s", text, term) : term;
	}
	return text ? text : "0";
}

#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

enum { DEPTH = 64 };

static const char *checked_division(const struct text_printer *e, const char *op, const char *x, const char *y)
{
	return arena_printf(e->scratch, "tri_size_%s(%s, %s)", op, x, y);
}

static const char *dim_binary(const struct text_printer *e, enum dim_op op, const char *x, const char *y)
{
	if (e->checks_sizes && (op == DIM_OP_FLOORDIV || op == DIM_OP_MOD))
		return checked_division(e, op == DIM_OP_MOD ? "mod" : "floordiv", x, y);
	switch (op) {
	case DIM_OP_ADD: return arena_printf(e->scratch, e->checks_sizes ? "tri_size_add(%s, %s)" : "(%s + %s)", x, y);
	case DIM_OP_MUL: return arena_printf(e->scratch, e->checks_sizes ? "tri_size_mul(%s, %s)" : "(%s * %s)", x, y);
	case DIM_OP_FLOORDIV: return arena_printf(e->scratch, "tri_floordiv_%s(%s, %s)", e->d->values[DT_INT64], x, y);
	case DIM_OP_MOD: return arena_printf(e->scratch, "tri_mod_%s(%s, %s)", e->d->values[DT_INT64], x, y);
	default: BUG("dimension step");
	}
}

static const char *dim_number(const struct text_printer *e, int64_t v)
{
	return text_const(e, v > INT32_MAX || v < INT32_MIN ? DT_INT64 : DT_INT16, v, 0);
}

const char *text_dim(const struct text_printer *e, dim x)
{
	struct arena *a = e->scratch;
	const struct dims *d = e->dims;
	const char *stack[DEPTH];
	uint32_t n = dim_program(d, x, NULL, 0), top = 0;
	struct dim_step *steps = ARENA_ARRAY(a, struct dim_step, n);
	dim_program(d, x, steps, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct dim_step *s = &steps[i];
		BUG_ON(top == DEPTH);
		if (s->op == DIM_PUSH_CONST) {
			stack[top++] = dim_number(e, s->value);
		} else if (s->op == DIM_PUSH_SYM) {
			stack[top++] = arena_printf(a, "n%lld", (long long)s->value);
		} else {
			BUG_ON(top < 2);
			top--;
			stack[top - 1] = dim_binary(e, s->op, stack[top - 1], stack[top]);
		}
	}
	BUG_ON(top != 1);
	return stack[0];
}

const char *text_loop_var(struct arena *a, const struct loop_nest *n, uint32_t k)
{
	return k < n->n_parallel ? arena_printf(a, "i%u", k) : arena_printf(a, "r%u", k - n->n_parallel);
}

const char *text_offset(const struct text_printer *e, const struct loop_access *a)
{
	struct arena *s = e->scratch;
	const struct dims *d = e->f->dims;
	const char *text = NULL;
	int64_t v;
	if (!dim_is_const(d, a->base, &v) || v != 0)
		text = text_dim(e, a->base);
	for (uint32_t k = 0; k < (uint32_t)e->n->n_parallel + e->n->n_reduce; k++) {
		bool known = dim_is_const(d, a->stride[k], &v);
		if (known && v == 0)
			continue;
		const char *var = text_loop_var(s, e->n, k);
		const char *term = known && v == 1 ? var : arena_printf(s, "%s * %s", var, text_dim(e, a->stride[k]));
		text = text ? arena_printf(s, "%s + %s", text, term) : term;
	}
	return text ? text : "0";
}

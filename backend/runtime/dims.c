/* Values of dynamic dimensions, and their computation from the shapes of inputs. */
#include "backend/runtime/dims.h"

enum { STACK = 64 };

static int64_t dims_floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool tri_dim_value(const tri_dim_desc *d, const int64_t *dims, uint64_t known, int64_t *out)
{
	int64_t stack[STACK];
	int top = 0;
	for (int32_t i = 0; i < d->n_steps; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			if (top == STACK || (s->op == TRI_DIM_SYM && !(known >> s->value & 1)))
				return false;
			stack[top++] = s->op == TRI_DIM_CONST ? s->value : dims[s->value];
			continue;
		}
		if (top < 2)
			return false;
		int64_t b = stack[--top], a = stack[top - 1], *to = &stack[top - 1];
		if (s->op == TRI_DIM_ADD   ? __builtin_add_overflow(a, b, to)
		    : s->op == TRI_DIM_MUL ? __builtin_mul_overflow(a, b, to)
					   : b == 0 || b == -1)
			return false;
		if (s->op == TRI_DIM_FLOORDIV)
			*to = dims_floor_div(a, b);
		else if (s->op == TRI_DIM_MOD)
			*to = a - dims_floor_div(a, b) * b;
	}
	*out = top == 1 ? stack[0] : 0;
	return top == 1;
}

/* Returns the unknown dimension of d if there is exactly one, else -1. */
static int64_t dims_lone_unknown(const tri_dim_desc *d, uint64_t known)
{
	int64_t found = -1;
	for (int32_t i = 0; i < d->n_steps; i++) {
		int64_t s = d->steps[i].value;
		if (d->steps[i].op != TRI_DIM_SYM || (known >> s & 1) || s == found)
			continue;
		if (found >= 0)
			return -1;
		found = s;
	}
	return found;
}

/* The degree of d in a dimension; of a quotient or remainder at least 2. */
static uint32_t dims_degree(const tri_dim_desc *d, int64_t of)
{
	uint32_t stack[STACK];
	int top = 0;
	for (int32_t i = 0; i < d->n_steps; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			if (top == STACK)
				return 0;
			stack[top++] = s->op == TRI_DIM_SYM && s->value == of;
			continue;
		}
		if (top < 2)
			return 0;
		uint32_t b = stack[--top], *to = &stack[top - 1];
		if (s->op == TRI_DIM_ADD)
			*to = *to > b ? *to : b;
		else
			*to += b + (s->op != TRI_DIM_MUL && *to + b ? 1 : 0);
	}
	return top == 1 ? stack[0] : 0;
}

/* Solves d = extent for its one unknown, if d is linear in it. */
static bool dims_solve(const tri_dim_desc *d, int64_t extent, int64_t *dims, uint64_t *known)
{
	int64_t s = dims_lone_unknown(d, *known), at0, at1, rows, step;
	if (s < 0 || dims_degree(d, s) != 1)
		return false;
	uint64_t with = *known | 1ull << s;
	dims[s] = 0;
	if (!tri_dim_value(d, dims, with, &at0))
		return false;
	dims[s] = 1;
	if (!tri_dim_value(d, dims, with, &at1) || __builtin_sub_overflow(extent, at0, &rows) || __builtin_sub_overflow(at1, at0, &step) ||
	    step == 0 || rows == INT64_MIN)
		return false;
	dims[s] = dims_floor_div(rows, step);
	*known = with;
	return true;
}

/* First dimensions that are a symbol, then those that are expressions, until nothing new follows. */
void tri_dims_solve(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, uint64_t *known)
{
	bool more = true;
	for (int pass = 0; more; pass++) {
		more = pass == 0;
		for (int32_t i = 0; i < e->n_inputs; i++)
			for (int32_t k = 0; k < e->inputs[i].rank; k++) {
				const tri_dim_desc *d = &e->inputs[i].dims[k];
				if (pass > 0 || (d->n_steps == 1 && d->steps[0].op == TRI_DIM_SYM))
					more |= dims_solve(d, io[i].shape[k], dims, known);
			}
	}
}

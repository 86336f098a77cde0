/* Solves the equations between dimensions: an equation waits until at most one unknown is left, in which it must be linear. Then
 * evaluates types. */
#include <string.h>
#include "base/buf.h"
#include "frontend/types/sig.h"
#include "frontend/types/type_state.h"

dim sig_substitute(struct sig *s, dim d)
{
	uint32_t n = dims_syms(s->dims);
	dim *map = ARENA_ARRAY(s->e->temp, dim, n + 1);
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		map[i] = dim_sym(s->dims, i);
	for (uint32_t i = 0; i < s->vars.len; i++)
		if (s->vars.at[i].kind == SV_DIM && s->vars.at[i].bound) {
			map[s->vars.at[i].sym] = s->vars.at[i].value;
			any = true;
		}
	return any ? dim_translate(s->dims, s->dims, d, map) : d;
}

const char *sig_pattern_text(struct sig *s, const struct type *t)
{
	struct buf b = {0};
	buf_putc(&b, '[');
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(&b, ", ");
		dim_print(s->dims, sig_substitute(s, t->dims[i]), &b);
	}
	buf_putc(&b, ']');
	return take_text(s->e, &b);
}

struct unknowns {
	struct sig *s;
	uint32_t count, var;
};

static void count_unknown(void *ctx, uint32_t sym)
{
	struct unknowns *u = ctx;
	for (uint32_t i = 0; i < u->s->vars.len; i++) {
		struct sig_var *v = &u->s->vars.at[i];
		if (v->kind == SV_DIM && !v->bound && v->sym == sym && (!u->count || u->var != i)) {
			u->count++;
			u->var = i;
		}
	}
}

/* False: the equation cannot hold. *progress: a variable was bound, or the equation is done. */
static bool solve_one(struct sig *s, struct sig_equation *equation, bool *progress)
{
	dim p = sig_substitute(s, equation->pattern);
	struct unknowns u = {.s = s};
	dim_each_sym(s->dims, p, count_unknown, &u);
	if (u.count > 1)
		return true;
	equation->done = *progress = true;
	if (!u.count) {
		int c = dim_compare(s->dims, p, equation->actual);
		return c > 0 || (!c && s->e->checking) || sig_report_equation(s, equation);
	}
	struct sig_var *v = &s->vars.at[u.var];
	int64_t coef;
	dim rest, x;
	if (!dim_linear_in(s->dims, p, v->sym, &coef, &rest))
		return true; /* `H // 2 = 3` does not determine H */
	int exact = dim_divide_exact(s->dims, dim_sub(s->dims, equation->actual, rest), coef, &x);
	if (exact <= 0)
		return (!exact && s->e->checking) || sig_report_equation(s, equation);
	v->bound = true;
	v->value = x;
	v->bound_at = s->matches.at[equation->match].site.at;
	v->bound_by = v->name ? s->matches.at[equation->match].site.what : NULL;
	int64_t n;
	return !(dim_is_const(s->dims, x, &n) && n < 0) || sig_report_equation(s, equation);
}

bool sig_solve(struct sig *s)
{
	bool ok = true, progress = true;
	while (progress) {
		progress = false;
		for (uint32_t i = 0; i < s->eqs.len; i++) {
			if (s->eqs.at[i].done)
				continue;
			if (!solve_one(s, &s->eqs.at[i], &progress)) {
				ok = false;
				uint32_t m = s->eqs.at[i].match; /* one error for each match */
				for (uint32_t k = 0; k < s->eqs.len; k++)
					s->eqs.at[k].done = s->eqs.at[k].done || s->eqs.at[k].match == m;
			}
		}
	}
	return ok;
}

/* ---- results ---- */

/* Checking: the current unit's symbol for an unbound variable. */
static dim unit_symbol(struct sig *s, uint32_t sym)
{
	struct dims *d = s->e->b->dims;
	for (uint32_t i = 0; i < s->imported.len; i++)
		if (s->imported.at[i] == sym)
			return dim_sym(d, s->n_outer + i);
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		if (v->kind != SV_DIM || v->sym != sym)
			continue;
		if (!v->has_unit_sym) {
			const char *name = dims_sym_name(s->dims, sym);
			if (!v->name && s->open)
				name = arena_printf(s->e->f->arena, "D%u", dims_syms(d));
			v->unit_sym = dim_new_sym(d, name);
			v->has_unit_sym = true;
		}
		return v->unit_sym;
	}
	return dim_new_sym(d, dims_sym_name(s->dims, sym));
}

/* Translates a dimension to the current unit's dims. When checking, or in an open signature, unbound variables become symbols. */
static dim unit_dim(struct sig *s, dim d, bool *known)
{
	struct emitter *e = s->e;
	uint32_t n = dims_syms(s->dims);
	dim *map = ARENA_ARRAY(e->temp, dim, n + 1);
	d = sig_substitute(s, d);
	struct unknowns u = {.s = s};
	dim_each_sym(s->dims, d, count_unknown, &u);
	*known = !u.count;
	for (uint32_t i = 0; i < n; i++)
		map[i] = i < s->n_outer ? dim_sym(e->b->dims, i) : dim_const(e->b->dims, 0);
	for (uint32_t i = s->n_outer; i < n; i++) {
		if (!dim_depends_on(s->dims, d, i))
			continue;
		if (!e->checking && !s->open)
			return dim_const(e->b->dims, 0);
		map[i] = unit_symbol(s, i);
	}
	return dim_translate(e->b->dims, s->dims, d, map);
}

struct value sig_unknown_size(struct sig *s, name_id name)
{
	uint32_t i = sig_dim_var(s, name);
	dim d = i == SIG_NO_VAR ? dim_new_sym(s->e->b->dims, name_text(s->e->f, name)) : unit_symbol(s, s->vars.at[i].sym);
	return (struct value){.kind = V_DIM, .u.d = d};
}

void sig_bind_unknowns(struct sig *s)
{
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		if (v->kind != SV_DIM || !v->has_unit_sym)
			continue;
		v->bound = true;
		v->value = dim_sym(s->dims, v->sym);
	}
}

void sig_bind_locals(struct sig *s)
{
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		bool known;
		if (!v->name)
			continue;
		if ((v->kind == SV_DTYPE || (v->kind == SV_TYPE && v->value_kind == V_TENSOR)) && v->bound) {
			s->e->evaluator->bind_constant(s->e, v->name, (struct value){.kind = V_DTYPE, .u.dt = v->elem});
		} else if (v->kind == SV_DIM && v->bound) {
			dim d = unit_dim(s, v->value, &known);
			s->e->evaluator->bind_constant(s->e, v->name, value_dim(s->e->b->dims, d));
		} else if (v->kind == SV_DIM && v->has_unit_sym) {
			s->e->evaluator->bind_constant(s->e, v->name, (struct value){.kind = V_DIM, .u.d = v->unit_sym});
		} else {
			s->e->evaluator->bind_constant(s->e, v->name,
						       (struct value){.kind = V_POISON, .typed = v->kind == SV_DIM && !s->e->checking});
		}
	}
}

bool sig_constant_type(struct sig *s, const struct type *t, struct hir_type *out)
{
	if (t->kind != TY_TENSOR && t->kind != TY_SCALAR)
		return false;
	*out = (struct hir_type){.elem = t->elem, .rank = t->kind == TY_SCALAR ? 0 : (uint8_t)t->rank};
	if (t->elem == DT_COUNT && t->elem_var != SIG_NO_VAR && s->vars.at[t->elem_var].bound)
		out->elem = s->vars.at[t->elem_var].elem;
	if (out->elem == DT_COUNT)
		return false;
	if (t->kind == TY_SCALAR)
		return true;
	if (t->shape == SHAPE_VAR && s->vars.at[t->shape_var].bound) {
		out->rank = (uint8_t)s->vars.at[t->shape_var].rank;
		memcpy(out->dims, s->vars.at[t->shape_var].shape, sizeof out->dims);
		return true;
	}
	if (t->shape != SHAPE_DIMS)
		return false;
	for (uint32_t i = 0; i < t->rank; i++) {
		bool known;
		out->dims[i] = unit_dim(s, t->dims[i], &known);
		if (!known && !s->e->checking && !s->open)
			return false;
	}
	return true;
}

struct value sig_unknown_value(struct sig *s, const struct type *t, span at)
{
	struct hir_type ct;
	switch (t->kind) {
	case TY_TENSOR: return sig_constant_type(s, t, &ct) ? value_tensor(emit_unknown_tensor(s->e, &ct, at)) : VALUE_POISON;
	case TY_SCALAR:
		if (dtype_class(t->elem) == DTC_INT) {
			dim d = dim_new_sym(s->e->b->dims, "?");
			return (struct value){.kind = V_DIM, .u.d = d};
		}
		if (t->elem == DT_TRIT && sig_constant_type(s, t, &ct))
			return value_tensor(emit_unknown_tensor(s->e, &ct, at));
		return VALUE_POISON;
	case TY_VOID: return (struct value){.kind = V_VOID};
	case TY_TUPLE: {
		struct value v = value_seq(s->e->f->arena, V_TUPLE, t->n_items);
		for (uint32_t i = 0; i < t->n_items; i++)
			v.u.seq->at[i] = sig_unknown_value(s, t->items[i], at);
		return v;
	}
	default: return VALUE_POISON;
	}
}

struct value sig_coerce(struct emitter *e, struct module *mod, node_id type, struct value v, span at, const char *what,
			struct instance *self)
{
	struct sig s;
	sig_open(&s, e, mod, self);
	s.use_locals = true;
	struct type *t = sig_type(&s, type);
	bool ok = sig_match(&s, t, &v, &(struct sig_site){what, at, t->at, NULL}) && sig_solve(&s);
	sig_close(&s);
	return ok ? v : VALUE_POISON;
}

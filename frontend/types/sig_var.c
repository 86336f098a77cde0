/* The variables of a signature, and the scope of its names. */
#include "frontend/types/type_state.h"

void sig_open(struct sig *s, struct emitter *e, struct module *mod, struct instance *self)
{
	*s = (struct sig){
		.e = e, .mark = arena_mark(e->temp), .mod = mod, .self = self, .dims = dims_new(e->temp), .n_outer = dims_syms(e->b->dims)};
	for (uint32_t i = 0; i < s->n_outer; i++)
		dim_new_sym(s->dims, dims_sym_name(e->b->dims, i));
}

void sig_close(struct sig *s)
{
	arena_release(s->e->temp, s->mark);
	vec_free(&s->vars);
	vec_free(&s->eqs);
	vec_free(&s->matches);
	vec_free(&s->imported);
}

uint32_t sig_var_add(struct sig *s, enum sig_var_kind kind, name_id name)
{
	struct sig_var v = {.kind = kind, .name = name, .scope = s->scope};
	if (kind == SV_DIM) {
		v.sym = dims_syms(s->dims);
		dim_new_sym(s->dims, name ? name_text(s->e->f, name) : "?");
	}
	vec_push(&s->vars, v);
	return s->vars.len - 1;
}

uint32_t sig_var_find(const struct sig *s, name_id name)
{
	for (uint32_t i = 0; i < s->vars.len; i++)
		if (s->vars.at[i].name == name && s->vars.at[i].scope == s->scope)
			return i;
	return SIG_NO_VAR;
}

/* ---- arguments of aliases ---- */

bool sig_alias_argument(const struct sig *s, node_id n, uint32_t *i)
{
	const struct alias_frame *f = s->aliases;
	if (!f || ast_kind(sig_tree(s), n) != NODE_TYPE_NAME || ast_a(sig_tree(s), n) != TOKEN_NONE || ast_b(sig_tree(s), n))
		return false;
	name_id name = token_name(s->e->f, s->mod, ast_token(sig_tree(s), n));
	for (*i = 0; *i < f->n; ++*i)
		if (f->names[*i] == name) {
			f->used[*i] = true;
			return true;
		}
	return false;
}

struct alias_frame sig_set_scope(struct sig *s, const struct alias_frame *frame)
{
	struct alias_frame here = {.up = s->aliases, .mod = s->mod, .self = s->self, .use_locals = s->use_locals, .scope = s->scope};
	s->aliases = frame->up;
	s->mod = frame->mod;
	s->self = frame->self;
	s->use_locals = frame->use_locals;
	s->scope = frame->scope;
	return here;
}

void sig_generics(struct sig *s, struct ast_nodes generics)
{
	for (uint32_t i = 0; i < generics.n; i++) {
		if (ast_kind(sig_tree(s), generics.at[i]) != NODE_GENERIC)
			continue;
		uint32_t v = sig_var_add(s, SV_UNUSED, token_name(s->e->f, s->mod, ast_token(sig_tree(s), generics.at[i])));
		s->vars.at[v].traits = ast_nodes(sig_tree(s), ast_a(sig_tree(s), generics.at[i]));
	}
}

bool sig_var_use(struct sig *s, uint32_t i, enum sig_var_kind kind, span at)
{
	struct sig_var *v = &s->vars.at[i];
	if (v->kind == kind)
		return true;
	if (v->kind == SV_TYPE && kind == SV_DTYPE &&
	    (!v->bound || (v->value_kind == V_TENSOR && !v->rank))) { /* x: T, y: Tensor<T, [N]> */
		v->kind = SV_DTYPE;
		v->bound = v->bound && !v->literal;
		return true;
	}
	if (v->kind == SV_UNUSED) {
		v->kind = kind;
		if (kind == SV_DIM) {
			v->sym = dims_syms(s->dims);
			dim_new_sym(s->dims, name_text(s->e->f, v->name));
		}
		return true;
	}
	return report_false(s->e, DIAG_TYPE_MISMATCH, at, "`%s` is used both as %s and as something else", name_text(s->e->f, v->name),
			    v->kind == SV_DIM     ? "a dimension"
			    : v->kind == SV_DTYPE ? "an element type"
			    : v->kind == SV_SHAPE ? "a shape"
						  : "a type");
}

uint32_t sig_dim_var(struct sig *s, name_id name)
{
	uint32_t i = sig_var_find(s, name);
	if (i == SIG_NO_VAR)
		return sig_var_add(s, SV_DIM, name);
	struct sig_var *v = &s->vars.at[i];
	if (v->kind == SV_UNUSED)
		sig_var_use(s, i, SV_DIM, SPAN_NONE);
	return v->kind == SV_DIM ? i : SIG_NO_VAR;
}

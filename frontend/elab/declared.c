/* Checks of what a signature declares besides types: defaults, traits, conditions, a result. */
#include "frontend/elab/function.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/locals.h"

/* True if a default matches its own type, whatever the other arguments are. */
static bool default_fits(struct elab *e, struct module *m, struct instance *self, struct ast_nodes generics, node_id param, struct value v)
{
	const struct ast *t = &m->ast;
	struct sig s;
	sig_open(&s, &e->em, m, self);
	sig_generics(&s, generics);
	const char *what = arena_printf(e->em.f->arena, "the default of `%s`", name_text(e->em.f, node_name(e, m, param)));
	struct sig_site site = {what, node_span(m, ast_b(t, param)), node_span(m, ast_a(t, param)), NULL};
	bool ok = sig_match(&s, sig_type(&s, ast_a(t, param)), &v, &site) && sig_solve(&s);
	sig_close(&s);
	return ok;
}

void check_default(struct elab *e, struct module *m, struct instance *self, struct ast_nodes generics, node_id param)
{
	if (!ast_b(&m->ast, param))
		return;
	struct value v = eval(e, ast_b(&m->ast, param));
	if (ast_a(&m->ast, param) && v.kind != V_NONE)
		default_fits(e, m, self, generics, param, v);
}

bool match_param(struct elab *e, struct sig *s, const struct ast_fn *decl, node_id param, bool is_default, struct value *v,
		 const struct sig_site *site)
{
	node_id type = ast_a(&s->mod->ast, param);
	bool wrong_default = false;
	if (!type || is_omitted(&s->mod->ast, param, *v))
		return true;
	if (is_default && e->em.checking && (!s->self || s->self->generic || s->use_locals)) {
		suppress_diags(&e->em);
		wrong_default = !default_fits(e, s->mod, s->self, decl->generics, param, *v);
		restore_diags(&e->em);
	}
	return !wrong_default && sig_match(s, sig_type(s, type), v, site);
}

/* False if the type that a generic is bound to lacks one of its traits (reported). */
static bool declared_check_traits(struct elab *e, struct sig *s, name_id var, struct ast_nodes traits, span at)
{
	bool ok = true;
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		if (v->name != var || (v->kind != SV_DTYPE && v->kind != SV_TYPE) || !v->bound)
			continue;
		bool number = v->kind == SV_DTYPE || v->value_kind == V_TENSOR;
		for (uint32_t k = 0; k < traits.n; k++) {
			const char *trait = name_text(e->em.f, token_name(e->em.f, s->mod, traits.at[k]));
			if (number && dtype_has_trait(v->elem, trait))
				continue;
			struct diag *g = report_error(&e->em, DIAG_TRAIT, at, "`%s` must be %s, but it is %s", name_text(e->em.f, var),
						      trait, number ? dtype_text(v->elem) : v->bound_text);
			if (v->bound_by && v->bound_at.source != SPAN_NO_SOURCE)
				diag_secondary(e->em.report.out, g, v->bound_at, "%s is %s", v->bound_by, v->bound_text);
			diag_secondary(e->em.report.out, g, tok_span(s->mod, traits.at[k]), "required here");
			ok = false;
		}
	}
	return ok;
}

/* "`N` is 6, `K` is 3": the sizes that the call's arguments bind. */
static const char *bound_sizes(struct sig *s)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < s->vars.len && b.len < 120; i++) {
		const struct sig_var *v = &s->vars.at[i];
		if (v->kind != SV_DIM || !v->name || !v->bound)
			continue;
		buf_printf(&b, "%s`%s` is ", b.len ? ", " : "", name_text(s->e->f, v->name));
		dim_print(s->dims, v->value, &b);
	}
	return take_text(s->e, &b);
}

bool check_where(struct elab *e, struct sig *s, const struct ast_fn *decl, const struct value *values, span at)
{
	const struct ast *t = &s->mod->ast;
	bool ok = true;
	for (uint32_t i = 0; i < decl->generics.n; i++)
		if (ast_kind(t, decl->generics.at[i]) == NODE_GENERIC)
			ok = declared_check_traits(e, s, node_name(e, s->mod, decl->generics.at[i]),
						   ast_nodes(t, ast_a(t, decl->generics.at[i])), at) &&
			     ok;
	for (uint32_t i = 0; i < decl->where.n; i++) {
		node_id n = decl->where.at[i];
		if (ast_kind(t, n) == NODE_WHERE_TRAIT) {
			ok = declared_check_traits(e, s, node_name(e, s->mod, n), ast_nodes(t, ast_a(t, n)), at) && ok;
			continue;
		}
		struct frame fr = {.site.at = SPAN_NONE, .mod = s->mod, .self = s->self};
		frame_push(e, &fr);
		sig_bind_locals(s);
		for (uint32_t k = 0; k < decl->params.n; k++)
			local_push(e, node_name(e, s->mod, decl->params.at[k]), values[k], true);
		struct value v = eval(e, n);
		const char *sizes = v.kind == V_BOOL && !v.u.b ? bound_sizes(s) : NULL;
		frame_pop(e);
		if (v.kind != V_BOOL || v.u.b)
			continue;
		struct diag *g = report_error(&e->em, DIAG_ARG_SHAPE, at, "the call does not satisfy the condition %s",
					      source_excerpt(&e->em, node_span(s->mod, n)));
		diag_secondary(e->em.report.out, g, node_span(s->mod, n), *sizes ? "this is false where %s" : "this is false", sizes);
		ok = false;
	}
	return ok;
}

void check_condition(struct elab *e, node_id n)
{
	if (ast_kind(&e->frame->mod->ast, n) == NODE_WHERE_TRAIT)
		return;
	suppress_diags(&e->em); /* it may fail without the sizes of a call */
	struct value v = eval(e, n);
	restore_diags(&e->em);
	if (value_is_scalar(v) && v.kind != V_BOOL)
		report_error(&e->em, DIAG_CONDITION, elab_span(e, n), "a condition of `where` must be a bool, not %s",
			     value_text(&e->em, v));
}

struct value report_no_result(struct elab *e, const struct ast_fn *decl, span at, span decl_at)
{
	const struct ast *t = &e->frame->mod->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, decl->body));
	node_id last = items.n ? items.at[items.n - 1] : AST_NONE, target = AST_NONE;
	struct diag *g = report_error(&e->em, DIAG_TYPE_MISMATCH, at, "`%s` ends without the declared result",
				      name_text(e->em.f, e->frame->func->name));
	diag_label_primary(e->em.report.out, g, items.n ? "a `return` is missing after this" : "a `return` is missing");
	diag_secondary(e->em.report.out, g, decl_at, "declared here");
	if (last && ast_kind(t, last) == NODE_LET)
		target = ast_let(t, last).pattern;
	else if (last && ast_kind(t, last) == NODE_ASSIGN)
		target = ast_a(t, last);
	if (!target || (ast_kind(t, target) != NODE_PAT_NAME && ast_kind(t, target) != NODE_NAME)) {
		diag_help(e->em.report.out, g, "end it with `return …`");
		return VALUE_POISON;
	}
	span name = node_span(e->frame->mod, target), line = node_span(e->frame->mod, last);
	const char *text = t->tokens.src->text;
	uint32_t start = line.start;
	while (start && (text[start - 1] == ' ' || text[start - 1] == '\t'))
		start--;
	line.start = line.end;
	diag_help(e->em.report.out, g, "return the value that was computed last");
	diag_guess(e->em.report.out, g, line,
		   arena_printf(e->em.f->arena, "\n%.*sreturn %.*s", (int)(node_span(e->frame->mod, last).start - start), text + start,
				(int)(name.end - name.start), text + name.start));
	return VALUE_POISON;
}

/* ---- members of an alias ---- */

static bool shape_member(struct elab *e, struct sig *s, const struct type *t, bool size, struct value *out)
{
	int64_t dims[HIR_MAX_RANK], all = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		if (!dim_is_const(s->dims, t->dims[i], &dims[i]) || __builtin_mul_overflow(all, dims[i], &all))
			return false;
	if (size)
		return *out = value_int(all), true;
	*out = value_seq(e->em.f->arena, V_LIST, t->rank);
	for (uint32_t i = 0; i < t->rank; i++)
		out->u.seq->at[i] = value_int(dims[i]);
	return true;
}

bool alias_member(struct elab *e, struct item *it, const char *name, struct value *out)
{
	struct ast_alias al = ast_alias(&it->mod->ast, it->node);
	struct sig s;
	bool found = false;
	if (it->has_syntax_error || al.generics.n)
		return false;
	sig_open(&s, &e->em, it->mod, NULL);
	const struct type *t = sig_type(&s, al.type);
	bool tensor = t->kind == TY_TENSOR || t->kind == TY_SCALAR, ranked = t->kind == TY_SCALAR || t->shape == SHAPE_DIMS;
	if (!strcmp(name, "dtype") && tensor && t->elem != DT_COUNT)
		found = true, *out = (struct value){.kind = V_DTYPE, .u.dt = t->elem};
	else if (!strcmp(name, "rank") && tensor && ranked)
		found = true, *out = value_int(t->rank);
	else if ((!strcmp(name, "shape") || !strcmp(name, "size")) && tensor && ranked)
		found = shape_member(e, &s, t, name[1] == 'i', out);
	else if (t->kind == TY_SCALAR && t->elem != DT_COUNT)
		found = number_limit(t->elem, name, out);
	sig_close(&s);
	return found;
}

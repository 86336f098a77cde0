/* What a signature declares beside types: defaults, conditions, a result. Checked where it is written. */
#include <string.h>
#include "frontend/types/sig.h"
#include "frontend/unit/elab.h"

/* Is it what its own type says, whatever the other arguments are? */
static bool default_fits(struct elab *e, struct module *m, struct instance *self, struct ast_nodes generics, node_id param, struct value v)
{
	const struct ast *t = &m->ast;
	struct sig s;
	sig_open(&s, e, m, self);
	sig_generics(&s, generics);
	const char *what = arena_printf(e->f->arena, "the default of `%s`", name_text(e->f, token_name(e->f, m, ast_token(t, param))));
	bool ok = sig_match(&s, sig_type(&s, ast_a(t, param)), &v, node_span(m, ast_b(t, param)), node_span(m, ast_a(t, param)), what) &&
		  sig_solve(&s);
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

bool match_default(struct sig *s, struct ast_nodes generics, node_id param, struct value *v, span at, const char *what)
{
	struct elab *e = s->e;
	bool told = false;
	if (e->checking && (!s->self || s->self->generic || s->use_locals)) {
		elab_hush(e);
		told = !default_fits(e, s->mod, s->self, generics, param, *v);
		elab_unhush(e);
	}
	return !told && sig_match(s, sig_type(s, ast_a(&s->mod->ast, param)), v, at, node_span(s->mod, param), what);
}

void check_condition(struct elab *e, node_id n)
{
	if (ast_kind(&e->frame->mod->ast, n) == NODE_WHERE_TRAIT)
		return;
	elab_hush(e); /* what depends on the call's sizes may fail here */
	struct value v = eval(e, n);
	elab_unhush(e);
	if (value_is_scalar(v) && v.kind != V_BOOL)
		elab_error(e, DIAG_CONDITION, elab_span(e, n), "a condition of `where` is a bool, not %s", elab_value_text(e, v));
}

struct value no_result(struct elab *e, const struct ast_fn *decl, span at, span decl_at)
{
	const struct ast *t = &e->frame->mod->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, decl->body));
	node_id last = items.n ? items.at[items.n - 1] : AST_NONE, target = AST_NONE;
	struct diag *g = elab_error(e, DIAG_TYPE_MISMATCH, at, "`%s` ends without a result, but one is declared",
				    name_text(e->f, e->frame->func->name));
	diag_label_primary(e->out, g, items.n ? "behind this a `return` is missing" : "a `return` is missing");
	diag_secondary(e->out, g, decl_at, "declared here");
	if (last && ast_kind(t, last) == NODE_LET)
		target = ast_let(t, last).pattern;
	else if (last && ast_kind(t, last) == NODE_ASSIGN)
		target = ast_a(t, last);
	if (!target || (ast_kind(t, target) != NODE_PAT_NAME && ast_kind(t, target) != NODE_NAME)) {
		diag_help(e->out, g, "end it with `return …`");
		return VALUE_POISON;
	}
	span name = node_span(e->frame->mod, target), line = node_span(e->frame->mod, last);
	const char *text = t->tokens.src->text;
	uint32_t start = line.start;
	while (start && (text[start - 1] == ' ' || text[start - 1] == '\t'))
		start--;
	line.start = line.end;
	diag_help(e->out, g, "return the value that was computed last");
	diag_guess(e->out, g, line,
		   arena_printf(e->f->arena, "\n%.*sreturn %.*s", (int)(node_span(e->frame->mod, last).start - start), text + start,
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
	*out = value_seq(e->f->arena, V_LIST, t->rank);
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
	sig_open(&s, e, it->mod, NULL);
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

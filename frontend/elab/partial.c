/* A functional layer called with its weights only is a layer that takes the other arguments. Its value is a tuple, since tuples may
 * contain tensors: a V_PARTIAL, then a value for each parameter, V_VOID for those that the second call passes. */
#include "frontend/elab/expr.h"
#include "frontend/elab/function.h"

static struct ast_nodes params_of_layer(const struct func *fn) { return ast_fn(&fn->mod->ast, fn->node).params; }
static name_id param_name(struct elab *e, const struct func *fn, uint32_t i) { return node_name(e, fn->mod, params_of_layer(fn).at[i]); }
static bool has_default(const struct func *fn, uint32_t i) { return ast_b(&fn->mod->ast, params_of_layer(fn).at[i]) != AST_NONE; }

/* The index of the parameter for argument a: that of its name, or the next free one. The number of parameters: there is none. */
static uint32_t param_index(struct elab *e, const struct func *fn, const struct arg *a, const bool *taken)
{
	uint32_t n = params_of_layer(fn).n, k = 0;
	while (k < n && (a->name ? param_name(e, fn, k) != a->name : taken[k]))
		k++;
	return k;
}

bool is_partial_call(struct elab *e, const struct func *fn, const struct args *args)
{
	uint32_t n = params_of_layer(fn).n, left = 0;
	bool taken[ELAB_MAX_ARGS] = {false};
	if (ast_kind(&fn->mod->ast, fn->node) != NODE_LAYER || fn->self || !args->n || args->n >= n || n > ELAB_MAX_ARGS)
		return false;
	for (uint32_t i = 0; i < args->n; i++) {
		uint32_t k = param_index(e, fn, &args->at[i], taken);
		if (k == n || taken[k])
			return false;
		taken[k] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		left += !taken[i] && !has_default(fn, i);
	return left > 0;
}

enum { SKIP_NONE = UINT32_MAX };

/* Gives the arguments to parameters, except parameter `skipped`. */
static struct value partial_give(struct elab *e, struct func *fn, const struct args *args, uint32_t skipped, span at)
{
	uint32_t n = params_of_layer(fn).n;
	bool taken[ELAB_MAX_ARGS] = {false};
	struct value v = value_seq(e->em.f->arena, V_TUPLE, n + 1);
	struct partial *p = ARENA_NEW(e->em.f->arena, struct partial);
	span *ats = ARENA_ARRAY(e->em.f->arena, span, n);
	*p = (struct partial){.fn = fn, .at = at, .ats = ats};
	p->use = arena_alloc(e->em.f->arena, sizeof *p->use, 1);
	p->use->called = p->use->reported = false;
	v.u.seq->at[0] = (struct value){.kind = V_PARTIAL, .u.partial = p};
	for (uint32_t i = 0; i < n; i++)
		v.u.seq->at[i + 1] = (struct value){.kind = V_VOID};
	if (skipped != SKIP_NONE)
		taken[skipped] = true;
	for (uint32_t i = 0; i < args->n; i++) {
		uint32_t k = param_index(e, fn, &args->at[i], taken);
		taken[k] = true;
		v.u.seq->at[k + 1] = args->at[i].v;
		ats[k] = args->at[i].at;
	}
	return v;
}

/* Matches the given arguments with their declared types. False: reported. */
static bool match_given(struct elab *e, struct value layer)
{
	const struct partial *p = layer.u.seq->at[0].u.partial;
	const struct func *fn = p->fn;
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	struct sig s;
	bool ok = true;
	sig_open(&s, &e->em, fn->mod, NULL);
	sig_generics(&s, decl.generics);
	for (uint32_t i = 0; i < decl.params.n; i++) {
		struct value v = layer.u.seq->at[i + 1];
		if (v.kind == V_VOID)
			continue;
		const char *name = name_text(e->em.f, param_name(e, fn, i)), *of = name_text(e->em.f, fn->name);
		struct sig_site site = {arena_printf(e->em.f->arena, "argument `%s` of layer `%s`", name, of), p->ats[i],
					node_span(fn->mod, decl.params.at[i]), NULL};
		ok = match_param(e, &s, &decl, decl.params.at[i], false, &v, &site) && ok;
		sig_bind_size(&s, param_name(e, fn, i), v, p->ats[i], site.what);
	}
	ok = sig_solve(&s) && ok;
	sig_close(&s);
	return ok;
}

/* The same, without a report. */
static bool partial_matches(struct elab *e, struct value layer)
{
	uint32_t errors = e->em.report.errors;
	suppress_diags(&e->em);
	bool ok = match_given(e, layer);
	restore_diags(&e->em);
	e->em.report.errors = errors;
	return ok;
}

/* Reports the one argument without which the others fit. False: there is none. */
static bool report_forgotten(struct elab *e, struct func *fn, const struct args *args, span at)
{
	uint32_t n = params_of_layer(fn).n, found = SKIP_NONE;
	for (uint32_t i = 0; i < args->n; i++)
		if (args->at[i].name)
			return false;
	for (uint32_t k = 0; k + 1 < n && args->n + 1 == n; k++)
		if (partial_matches(e, partial_give(e, fn, args, k, at))) {
			if (found != SKIP_NONE)
				return false;
			found = k;
		}
	if (found == SKIP_NONE)
		return false;
	struct diag *g = report_error(&e->em, DIAG_ARG_COUNT, at, "layer `%s` needs argument `%s`", name_text(e->em.f, fn->name),
				      name_text(e->em.f, param_name(e, fn, found)));
	diag_secondary(e->em.report.out, g, args->at[found].at, "this fits the next argument, `%s`",
		       name_text(e->em.f, param_name(e, fn, found + 1)));
	diag_secondary(e->em.report.out, g, node_span(fn->mod, params_of_layer(fn).at[found]), "declared here");
	return true;
}

struct value partial_make(struct elab *e, struct func *fn, const struct args *args, span at)
{
	struct value v = partial_give(e, fn, args, SKIP_NONE, at);
	if (partial_matches(e, v))
		return v;
	if (!report_forgotten(e, fn, args, at))
		match_given(e, v);
	return VALUE_POISON;
}

static bool report_wrong_count(struct elab *e, const struct partial *p, uint32_t given, uint32_t left, const struct args *args, span at)
{
	const char *name = name_text(e->em.f, p->fn->name);
	struct diag *g =
		report_error(&e->em, DIAG_ARG_COUNT, at, "layer `%s` has %u of its arguments already and takes the other %u, not %u", name,
			     given, left, args->n);
	diag_secondary(e->em.report.out, g, p->at, "%u given here", given);
	diag_secondary(e->em.report.out, g, node_span(p->fn->mod, params_of_layer(p->fn).at[0]), "its arguments are declared here");
	return false;
}

bool partial_args(struct elab *e, struct value layer, const struct args *args, span at, struct args *all)
{
	const struct partial *p = layer.u.seq->at[0].u.partial;
	p->use->called = true;
	const struct value *values = layer.u.seq->at + 1;
	uint32_t n = params_of_layer(p->fn).n, given = 0, needed = 0;
	bool taken[ELAB_MAX_ARGS] = {false};
	*all = (struct args){0, ARENA_ARRAY(e->em.f->arena, struct arg, n + args->n + 1)};
	for (uint32_t i = 0; i < n; i++) {
		taken[i] = values[i].kind != V_VOID;
		needed += !taken[i] && !has_default(p->fn, i);
		if (!taken[i])
			continue;
		given++;
		all->at[all->n++] = (struct arg){.v = values[i], .at = p->ats[i], .name = param_name(e, p->fn, i), .name_at = SPAN_NONE};
	}
	for (uint32_t i = 0; i < args->n; i++) {
		uint32_t k = param_index(e, p->fn, &args->at[i], taken);
		if (k == n && !args->at[i].name)
			return report_wrong_count(e, p, given, n - given, args, at);
		all->at[all->n] = args->at[i];
		if (k < n) {
			needed -= !taken[k] && !has_default(p->fn, k);
			taken[k] = true;
			all->at[all->n].name = param_name(e, p->fn, k);
		}
		all->n++;
	}
	return !needed || report_wrong_count(e, p, given, n - given, args, at);
}

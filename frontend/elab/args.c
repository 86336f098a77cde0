/* Binds the arguments of a call to parameters. */
#include "frontend/elab/expr.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/index_value.h"
#include "frontend/habits/habits.h"

/* "in_features, out_features, bias=true" */
static const char *params_text(struct elab *e, struct module *m, struct ast_nodes params)
{
	struct buf b = {0};
	buf_putc(&b, '`');
	for (uint32_t i = 0; i < params.n; i++) {
		node_id value = ast_b(&m->ast, params.at[i]);
		buf_printf(&b, "%s%s", i ? ", " : "", name_text(e->em.f, node_name(e, m, params.at[i])));
		if (!value)
			continue;
		span at = node_span(m, value);
		buf_puts(&b, "=");
		buf_put(&b, m->ast.tokens.src->text + at.start, at.end - at.start);
	}
	buf_putc(&b, '`');
	return take_text(&e->em, &b);
}

/* in: the instance whose parameters the argument may name, too; NULL: none. */
static void args_report_name(struct elab *e, struct module *mod, struct ast_nodes params, const struct instance *in, const struct arg *a,
			     const char *what)
{
	const char *names[ELAB_MAX_ARGS];
	uint32_t n = 0, n_own = in ? in->params->n : 0;
	for (; n < params.n && n < ELAB_MAX_ARGS; n++)
		names[n] = name_text(e->em.f, node_name(e, mod, params.at[n]));
	for (uint32_t i = 0; i < n_own && n < ELAB_MAX_ARGS; i++)
		if (in->params->names[i] && !strchr(in->params->names[i], '.'))
			names[n++] = in->params->names[i];
	struct diag *g = report_error(&e->em, DIAG_ARG_NAME, a->name_at, "%s has no argument `%s`", what, name_text(e->em.f, a->name));
	if (!params.n)
		diag_note(e->em.report.out, g, "it takes no arguments");
	else if (mod->std)
		diag_note(e->em.report.out, g, "its arguments are %s", params_text(e, mod, params));
	else
		diag_secondary(e->em.report.out, g, node_span(mod, params.at[0]), "its arguments are declared here");
	argument_help(e->em.report.out, g, a->name_at, name_text(e->em.f, a->name), names, n);
}

void report_unknown_param(struct elab *e, const struct instance *in, const struct arg *a, const char *what)
{
	args_report_name(e, in->item->mod, ast_fn(&in->item->mod->ast, in->item->node).params, in, a, what);
}

static bool report_arg_count(struct elab *e, struct module *mod, struct ast_nodes params, uint32_t have, span at, const char *what)
{
	uint32_t need = 0;
	for (uint32_t i = 0; i < params.n; i++)
		need += ast_b(&mod->ast, params.at[i]) == AST_NONE;
	struct diag *g = report_error(&e->em, DIAG_ARG_COUNT, at, "%s takes %s%u argument%s, not %u", what,
				      need < params.n ? "at most " : "", params.n, params.n == 1 ? "" : "s", have);
	if (params.n)
		diag_secondary(e->em.report.out, g, node_span(mod, params.at[0]), "declared here");
	return false;
}

bool bind_args(struct elab *e, struct module *mod, struct ast_nodes params, struct args *args, span at, const char *what,
	       struct arg **bound)
{
	uint32_t pos = 0;
	bool ok = true;
	memset(bound, 0, params.n * sizeof *bound);
	for (uint32_t i = 0; i < args->n; i++) {
		struct arg *a = &args->at[i];
		uint32_t k = pos;
		if (a->name) {
			for (k = 0; k < params.n && node_name(e, mod, params.at[k]) != a->name; k++)
				;
			if (k == params.n) {
				args_report_name(e, mod, params, NULL, a, what);
				ok = false;
				continue;
			}
			index_note_argument(e, a->name_at, mod, ast_token(&mod->ast, params.at[k]));
		} else if (pos++ >= params.n) {
			return report_arg_count(e, mod, params, args->n, a->at, what);
		}
		if (bound[k]) {
			struct diag *g = report_error(&e->em, DIAG_ARG_TWICE, a->at, "argument `%s` is given twice",
						      name_text(e->em.f, node_name(e, mod, params.at[k])));
			diag_secondary(e->em.report.out, g, bound[k]->at, "first given here");
			return false;
		}
		bound[k] = a;
	}
	for (uint32_t i = 0; ok && i < params.n; i++) {
		if (bound[i] || ast_b(&mod->ast, params.at[i]) != AST_NONE)
			continue;
		struct diag *g = report_error(&e->em, DIAG_ARG_COUNT, at, "%s needs argument `%s`", what,
					      name_text(e->em.f, node_name(e, mod, params.at[i])));
		diag_secondary(e->em.report.out, g, node_span(mod, params.at[i]), "declared here");
		return false;
	}
	return ok;
}

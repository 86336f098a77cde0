/* A functional layer that is used as a value although arguments are missing: the call that made it is the error. */
#include <string.h>
#include "base/buf.h"
#include "frontend/unit/emit.h"

/* "`x`", "`b`, `x`": the arguments without a default that were not given. *n: their number. */
static const char *missing_names(struct emitter *e, struct value layer, uint32_t *n)
{
	const struct func *fn = layer.u.seq->at[0].u.partial->fn;
	const struct ast *t = &fn->mod->ast;
	struct ast_nodes params = ast_fn(t, fn->node).params;
	struct buf b = {0};
	*n = 0;
	for (uint32_t i = 0; i < params.n; i++) {
		if (layer.u.seq->at[i + 1].kind != V_VOID || ast_b(t, params.at[i]))
			continue;
		buf_printf(&b, "%s`%s`", b.len ? ", " : "", name_text(e->f, token_name(e->f, fn->mod, ast_token(t, params.at[i]))));
		++*n;
	}
	return take_text(e, &b);
}

bool report_missing_arguments(struct emitter *e, struct value v, span used)
{
	uint32_t n;
	const struct partial *p = value_is_partial(v) ? v.u.seq->at[0].u.partial : NULL;
	if (!p || p->fn->local || p->use->called)
		return false;
	const char *names = missing_names(e, v, &n);
	if (p->use->reported) {
		e->report.errors++;
		return true;
	}
	p->use->reported = !e->report.suppressed;
	const char *name = name_text(e->f, p->fn->name);
	struct diag *g = report_error(e, DIAG_ARG_COUNT, p->at, "layer `%s` needs argument%s %s", name, n == 1 ? "" : "s", names);
	if (memcmp(&used, &p->at, sizeof used) != 0)
		diag_secondary(e->report.out, g, used, "it is used as a value here");
	diag_secondary(e->report.out, g, tok_span(p->fn->mod, ast_token(&p->fn->mod->ast, p->fn->node)), "declared here");
	diag_help(e->report.out, g, "a call with some of the arguments gives a layer that takes the others: call that, `layer(%s)`",
		  n == 1 ? "x" : "…");
	return true;
}

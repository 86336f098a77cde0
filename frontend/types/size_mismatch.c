/* Errors of sizes that do not fit a declared type, as in a call of a function or layer. */
#include "base/buf.h"
#include "frontend/types/type_state.h"
#include "frontend/unit/layer_pair.h"

/* Labels the arguments that bound the variables of a dimension. */
static void label_origins(struct sig *s, struct diag *g, dim pattern)
{
	for (uint32_t i = 0; i < s->vars.len; i++) {
		struct sig_var *v = &s->vars.at[i];
		if (v->kind != SV_DIM || !v->name || !v->bound || !v->bound_by || !dim_depends_on(s->dims, pattern, v->sym))
			continue;
		struct buf b = {0};
		dim_print(s->dims, v->value, &b);
		diag_secondary(s->e->report.out, g, v->bound_at, "`%s` is %s, from %s", name_text(s->e->f, v->name), b.at, v->bound_by);
		buf_free(&b);
	}
}

struct diag *sig_report_shape(struct sig *s, const struct sig_match_info *info, uint32_t axis, const char *word, const char *declared)
{
	struct emitter *e = s->e;
	const char *have = shape_text(e, &info->actual), *want = sig_pattern_text(s, info->type);
	enum diag_code code = s->result ? DIAG_RESULT_SHAPE : DIAG_ARG_SHAPE;
	const struct named_layer *giver = info->site.taker && info->tensor != HIR_NONE ? layer_of_result(e->b, info->tensor, axis) : NULL;
	struct diag *g = giver ? report_error(e, code, info->site.at, "%s gives %s, %s takes %s", layer_name(e, giver), have,
					      layer_name(e, info->site.taker), want)
			       : report_error(e, code, info->site.at, "%s has shape %s, but %s is %s", info->site.what, have, want, word);
	if (giver)
		label_layers(e, g, giver, have, info->site.taker, want);
	if (info->site.decl.source != SPAN_NO_SOURCE && !(giver && is_in_std(e, info->site.decl)))
		diag_secondary(e->report.out, g, info->site.decl, "%s", declared);
	if (info->tensor != HIR_NONE && !giver)
		label_origin(e, g, e->b, info->tensor, info->site.at);
	return g;
}

bool sig_report_equation(struct sig *s, const struct sig_equation *equation)
{
	struct emitter *e = s->e;
	struct sig_match_info *m = &s->matches.at[equation->match];
	struct diag *g = sig_report_shape(s, m, equation->axis, s->result ? "declared" : "expected", "declared here");
	struct buf want = {0}, have = {0};
	dim_print(s->dims, sig_substitute(s, equation->pattern), &want);
	dim_print(s->dims, equation->actual, &have);
	diag_label_primary(e->report.out, g, "dimension %u is %s, not %s", equation->axis, have.at, want.at);
	label_origins(s, g, equation->pattern);
	int64_t size;
	if (!e->checking && !dim_is_const(s->dims, equation->actual, &size))
		help_unknown_size(e, g, s->dims, equation->actual, sig_substitute(s, equation->pattern));
	buf_free(&want);
	buf_free(&have);
	return false;
}

/* The arguments of a module-form layer. */
#include "frontend/elab/function.h"

void pack_variadic_arguments(struct elab *e, struct args *args, uint32_t n_params)
{
	uint32_t first = n_params - 1, n = 0;
	while (first + n < args->n && !args->at[first + n].name)
		n++;
	if (!n || first + n < args->n || (n == 1 && (value_is_seq(args->at[first].v) || is_poison(args->at[first].v))))
		return;
	struct value list = value_seq(e->em.f->arena, V_LIST, n);
	for (uint32_t i = 0; i < n; i++)
		list.u.seq->at[i] = args->at[first + i].v;
	args->at[first].v = checked_list(&e->em, list, args->at[first].at);
	args->at[first].at.end = args->at[first + n - 1].at.end;
	args->n = first + 1;
}

bool report_tensor_argument(struct elab *e, struct item *it, const struct args *args, span at)
{
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	const struct ast *t = &it->mod->ast;
	const char *name = name_text(e->em.f, it->name), *text = e->frame->mod ? e->frame->mod->ast.tokens.src->text : "";
	uint32_t i = 0, n = 0;
	while (i < args->n && (args->at[i].v.kind != V_TENSOR || !type_of(&e->em, args->at[i].v.u.t)->rank || args->at[i].name))
		i++;
	if (i == args->n)
		return false;
	node_id type = i < decl.params.n ? ast_a(t, decl.params.at[i]) : AST_NONE;
	bool number = type && ast_kind(t, type) == NODE_TYPE_NAME && !ast_b(t, type) &&
		      dtype_find(name_text(e->em.f, node_name(e, it->mod, type))) != DT_COUNT;
	if (i < decl.params.n && !number)
		return false;
	struct diag *g = report_error(&e->em, DIAG_NOT_CALLABLE, args->at[i].at,
				      "a tensor is passed where layer `%s` is made, not where it is called", name);
	while (at.start + n < at.end && text[at.start + n] != '(')
		n++;
	if (args->n == 1 && i >= decl.params.n)
		diag_help(e->em.report.out, g, "write `%.*s()(x)`, or make it a member, `let name = %.*s()`, and call that: `name(x)`",
			  (int)n, text + at.start, (int)n, text + at.start);
	else
		diag_help(e->em.report.out, g, "make it in the layer's body, `let name = %.*s(…)`, and call that: `name(x)`", (int)n,
			  text + at.start);
	if (args->n == 1 && i >= decl.params.n && at.start + n < at.end)
		diag_edit(e->em.report.out, g, (span){at.source, at.start + n, at.start + n}, "()");
	return true;
}

bool report_run_time_argument(struct elab *e, struct value v, span at)
{
	if (value_contains(v, V_TENSOR) && !e->em.checking) {
		struct diag *g = report_error(&e->em, DIAG_TYPE_MISMATCH, at,
					      "an argument of a layer must be known at compile time, not %s", value_text(&e->em, v));
		diag_help(e->em.report.out, g, "make the layer first, `let fc = nn.Linear(64, 10)`, then call it: `fc(x)`");
		return true;
	}
	return false;
}

/* Lists that grow. */
#include "frontend/elab/expr.h"
#include <string.h>
#include "frontend/elab/locals.h"
#include "frontend/elab/unknown_list.h"
#include "frontend/rules/builtin.h"

name_id appended_list(struct elab *e, node_id call)
{
	node_id target = ast_a(elab_tree(e), call);
	if (ast_kind(elab_tree(e), target) != NODE_MEMBER || ast_kind(elab_tree(e), ast_a(elab_tree(e), target)) != NODE_NAME)
		return 0;
	const struct tokens *t = &elab_tree(e)->tokens;
	bool grows = token_is(t, ast_token(elab_tree(e), target), "append") || token_is(t, ast_token(elab_tree(e), target), "extend");
	return grows ? elab_name(e, ast_token(elab_tree(e), ast_a(elab_tree(e), target))) : 0;
}

bool exec_append(struct elab *e, node_id call, struct value *out)
{
	name_id name = appended_list(e, call);
	struct local *l = name ? local_find(e, name) : NULL;
	struct ast_nodes nodes = ast_nodes(elab_tree(e), ast_b(elab_tree(e), call));
	span at = elab_span(e, call);
	if (!l || l->constant || (l->value.kind != V_LIST && l->value.kind != V_STACKED && !is_unknown_list(l->value)))
		return false;
	if (nodes.n != 1 || ast_kind(elab_tree(e), nodes.at[0]) == NODE_NAMED_ARG)
		return false;
	bool extend = token_is(&elab_tree(e)->tokens, ast_token(elab_tree(e), ast_a(elab_tree(e), call)), "extend");
	struct value more = eval(e, nodes.at[0]);
	l = local_find(e, name);
	if (!extend) {
		struct value one = value_seq(e->em.f->arena, V_LIST, 1);
		one.u.seq->at[0] = more;
		more = one;
	}
	struct value list;
	bool unknown = e->em.checking && unknown_list_operator(e, TOK_PLUS, l->value, more, &list);
	l->value = unknown ? list
			   : apply_binary(&e->em, TOK_PLUS, l->value, more, at, elab_span(e, ast_a(elab_tree(e), call)),
					  elab_span(e, nodes.at[0]));
	l->at = at;
	*out = (struct value){.kind = V_VOID};
	return true;
}

bool report_stacked_escape(struct elab *e, struct value v, span at)
{
	if (v.kind != V_STACKED && !(value_is_seq(v) && (value_contains(v, V_STACKED) || value_contains(v, V_COLLECTED))))
		return false;
	struct diag *g =
		report_error(&e->em, DIAG_RUNTIME_LOOP, at, "a list whose length is known only at run time cannot leave its function");
	diag_help(e->em.report.out, g, "make it a tensor: `stack(xs)`, or `concat(xs)` along a dimension that the elements have");
	return true;
}

/* Lists that grow: `xs.append(x)`, and what a run-time loop collects, a V_SERIES. */
#include "frontend/elab/list.h"
#include <string.h>

static const struct ast *tree(struct elab *e) { return &e->frame->mod->ast; }

name_id list_grown(struct elab *e, node_id call)
{
	node_id target = ast_a(tree(e), call);
	if (ast_kind(tree(e), target) != NODE_MEMBER || ast_kind(tree(e), ast_a(tree(e), target)) != NODE_NAME)
		return 0;
	const struct tokens *t = &tree(e)->tokens;
	bool grows = token_is(t, ast_token(tree(e), target), "append") || token_is(t, ast_token(tree(e), target), "extend");
	return grows ? elab_name(e, ast_token(tree(e), ast_a(tree(e), target))) : 0;
}

static struct value stacked(struct elab *e, struct value list, span at)
{
	struct arg one = {.v = list, .at = at};
	struct args args = {1, &one};
	return call_builtin(e, BI_STACK, &args, at);
}

/* As a tensor whose first dimension counts the elements. */
static struct value series_tensor(struct elab *e, struct value v, span at)
{
	return v.kind == V_SERIES ? value_tensor(v.u.t) : stacked(e, v, at);
}

struct value series_join(struct elab *e, struct value a, struct value b, span at)
{
	if ((value_is_seq(a) && !a.u.seq->n) || (value_is_seq(b) && !b.u.seq->n))
		return value_is_seq(a) && !a.u.seq->n ? b : a;
	struct value both = value_seq(e->f->arena, V_LIST, 2);
	both.u.seq->at[0] = series_tensor(e, a, at);
	both.u.seq->at[1] = series_tensor(e, b, at);
	if (is_poison(both.u.seq->at[0]) || is_poison(both.u.seq->at[1]))
		return VALUE_POISON;
	struct arg one = {.v = both, .at = at};
	struct args args = {1, &one};
	struct value v = call_builtin(e, BI_CONCAT, &args, at);
	return v.kind == V_TENSOR ? (struct value){.kind = V_SERIES, .u.t = v.u.t} : v;
}

bool list_grows(struct elab *e, node_id call, struct value *out)
{
	name_id name = list_grown(e, call);
	struct local *l = name ? local_find(e, name) : NULL;
	struct ast_nodes nodes = ast_nodes(tree(e), ast_b(tree(e), call));
	span at = elab_span(e, call);
	if (!l || l->constant || (l->value.kind != V_LIST && l->value.kind != V_SERIES))
		return false;
	if (nodes.n != 1 || ast_kind(tree(e), nodes.at[0]) == NODE_NAMED_ARG)
		return false;
	bool extend = token_is(&tree(e)->tokens, ast_token(tree(e), ast_a(tree(e), call)), "extend");
	struct value more = eval(e, nodes.at[0]);
	l = local_find(e, name);
	if (!extend) {
		struct value one = value_seq(e->f->arena, V_LIST, 1);
		one.u.seq->at[0] = more;
		more = one;
	}
	l->value = value_binary(e, TOK_PLUS, l->value, more, at, elab_span(e, ast_a(tree(e), call)), elab_span(e, nodes.at[0]));
	l->at = at;
	*out = (struct value){.kind = V_VOID};
	return true;
}

bool series_leaves(struct elab *e, struct value v, span at)
{
	if (v.kind != V_SERIES && !(value_is_seq(v) && (value_holds(v, V_SERIES) || value_holds(v, V_EARLIER))))
		return false;
	struct diag *g = elab_error(e, DIAG_RUNTIME_LOOP, at, "a list whose length only the run knows stays in its function");
	diag_help(e->out, g, "make it a tensor: `stack(xs)`, or `concat(xs)` along a dimension that the elements have");
	return true;
}

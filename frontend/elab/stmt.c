/* Statements, blocks and conditions. */
#include "frontend/elab/stmt.h"
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/elab/check_loop.h"
#include "frontend/elab/join.h"
#include "frontend/elab/local_fn.h"
#include "frontend/elab/locals.h"
#include "frontend/types/sig.h"

/* ---- if ---- */

/* The remaining statements of a block. */
struct items {
	const node_id *at;
	uint32_t n;
	bool value_wanted; /* the value of the last is used */
};

static struct value exec_branch(struct elab *e, node_id n, enum flow *flow)
{
	*flow = FLOW_NEXT;
	if (n == AST_NONE)
		return (struct value){.kind = V_VOID};
	if (ast_kind(elab_tree(e), n) == NODE_BLOCK)
		return eval_block(e, n, flow);
	return ast_kind(elab_tree(e), n) == NODE_IF ? eval_if(e, n, flow) : eval(e, n);
}

/* Checking: executes both branches of an unknown condition and joins their results. `at_run_time`: it is known only at run time. */
static struct value check_branches(struct elab *e, const struct ast_if *f, bool at_run_time, enum flow *flow)
{
	span at = elab_span(e, f->cond);
	bool wanted = e->value_wanted;
	struct local *before, *after;
	uint32_t n;
	enum flow fa, fb;
	bool returned = e->frame->returned;
	locals_snapshot(e, &before, &n);
	e->em.conditional++;
	e->value_wanted = wanted;
	struct value a = exec_branch(e, f->then, &fa), first = e->frame->result;
	e->frame->returned = returned;
	locals_snapshot(e, &after, &n);
	locals_restore(e, before, n);
	e->value_wanted = wanted;
	struct value b = exec_branch(e, f->otherwise, &fb);
	e->em.conditional--;
	if (fa == FLOW_NEXT && fb == FLOW_NEXT)
		locals_join(e, after, n, at_run_time ? JOIN_BRANCH : JOIN_COMPILE_TIME, at);
	else if (fa == FLOW_NEXT)
		locals_restore(e, after, n);
	*flow = fa == fb ? fa : FLOW_NEXT;
	e->unknown_exits += is_exit(fa) || is_exit(fb);
	if (at_run_time && *flow == FLOW_NEXT && (fa == FLOW_RETURN || fb == FLOW_RETURN) && e->frame->result.kind != V_VOID)
		e->frame->conditional_result_at = e->frame->result_at;
	if (*flow != FLOW_RETURN && !returned && e->frame->returned)
		e->frame->result = VALUE_POISON;
	if (*flow == FLOW_RETURN) {
		e->frame->returned = true;
		e->frame->result = value_join(e, first, e->frame->result, at_run_time ? JOIN_BRANCH : JOIN_COMPILE_TIME, NULL, at);
	} else {
		e->frame->returned = returned;
	}
	if (fa != FLOW_NEXT || fb != FLOW_NEXT)
		return fa == FLOW_NEXT ? a : fb == FLOW_NEXT ? b : VALUE_POISON;
	return value_join(e, a, b, at_run_time && wanted ? JOIN_BRANCH : JOIN_COMPILE_TIME, NULL, at);
}

static struct value run_items(struct elab *e, const struct items *items, enum flow *flow);

/* A run-time `if`. `rest` are the statements after it. If only one side always exits, they become part of the other side, and *rest_done
 * is set. */
static struct value runtime_if(struct elab *e, const struct ast_if *f, hir_ref cond, const struct items *rest, bool *rest_done,
			       enum flow *flow)
{
	struct branch br;
	node_id sides[2] = {f->then, f->otherwise};
	bool wanted = e->value_wanted;
	branch_open(e, &br, cond, elab_span(e, f->cond));
	for (uint32_t i = 0; i < 2; i++) {
		enum flow side_flow;
		branch_enter(&br, i);
		e->value_wanted = wanted;
		struct value v = exec_branch(e, sides[i], &side_flow);
		branch_leave(&br, i, v, side_flow);
	}
	bool first = is_exit(br.sides[0].flow), second = is_exit(br.sides[1].flow);
	if (rest && rest->n && first != second && e->em.report.errors == br.errors) {
		enum flow side_flow = br.sides[first].flow;
		branch_enter(&br, first);
		struct value v = run_items(e, rest, &side_flow);
		branch_leave(&br, first, v, side_flow);
		*rest_done = true;
	}
	return branch_merge(&br, flow);
}

static struct value eval_if_before(struct elab *e, node_id n, const struct items *rest, bool *rest_done, enum flow *flow)
{
	struct ast_if f = ast_if(elab_tree(e), n);
	bool wanted = e->value_wanted;
	struct value c = eval(e, f.cond);
	int known = decide_condition(&e->em, c, elab_span(e, f.cond), true);
	*flow = FLOW_NEXT;
	e->value_wanted = wanted;
	if (known >= 0)
		return exec_branch(e, known ? f.then : f.otherwise, flow);
	if (e->em.report.gave_up)
		return VALUE_POISON;
	if (!e->em.checking && c.kind == V_TENSOR && known == -1)
		return runtime_if(e, &f, c.u.t, rest, rest_done, flow);
	return check_branches(e, &f, c.kind == V_TENSOR && known == -1, flow);
}

struct value eval_if(struct elab *e, node_id n, enum flow *flow) { return eval_if_before(e, n, NULL, NULL, flow); }

/* ---- statements ---- */

static void exec_let(struct elab *e, node_id n)
{
	struct ast_let l = ast_let(elab_tree(e), n);
	if (!l.value) {
		local_push(e, elab_name(e, ast_token(elab_tree(e), l.pattern)), (struct value){.kind = V_UNSET, .u.i = l.type}, false);
		return;
	}
	struct value v = eval(e, l.value);
	if (l.type)
		v = sig_coerce(&e->em, e->frame->mod, l.type, v, elab_span(e, l.value), "the value", e->frame->self);
	if (v.kind == V_VOID)
		v = report_no_value(e, l.value);
	bind_pattern(e, l.pattern, v, elab_span(e, l.value), false);
}

static void exec_const(struct elab *e, node_id n)
{
	struct ast_const c = ast_const(elab_tree(e), n);
	struct value v = eval(e, c.value);
	if (c.type)
		v = sig_coerce(&e->em, e->frame->mod, c.type, v, elab_span(e, c.value), "the constant", e->frame->self);
	bind_name(e, c.name, v, true);
}

static enum flow exec_return(struct elab *e, node_id n)
{
	node_id value = ast_a(elab_tree(e), n);
	struct value v = value ? eval(e, value) : (struct value){.kind = V_VOID};
	e->frame->result = v;
	e->frame->result_at = elab_span(e, value ? value : n);
	e->frame->returned = true;
	return FLOW_RETURN;
}

enum flow exec(struct elab *e, node_id n, struct value *value)
{
	struct value v = {.kind = V_VOID};
	enum flow flow = FLOW_NEXT;
	switch (ast_kind(elab_tree(e), n)) {
	case NODE_LET: exec_let(e, n); break;
	case NODE_CONST: exec_const(e, n); break;
	case NODE_ASSIGN: exec_assign(e, n); break;
	case NODE_FN: exec_fn(e, n); break;
	case NODE_ALIAS: exec_alias(e, n); break;
	case NODE_FOR: flow = exec_for(e, n); break;
	case NODE_WHILE: flow = exec_while(e, n); break;
	case NODE_BREAK: note_loop_exit(e); return FLOW_BREAK;
	case NODE_CONTINUE: note_loop_exit(e); return FLOW_CONTINUE;
	case NODE_RETURN: return exec_return(e, n);
	case NODE_ASSERT: flow = exec_assert(e, n); break;
	case NODE_IF: v = eval_if(e, n, &flow); break;
	case NODE_BLOCK: v = eval_block(e, n, &flow); break;
	default: v = eval(e, n); break;
	}
	if (value)
		*value = v;
	return e->frame->returned ? FLOW_RETURN : flow;
}

/* Statements after an exit that is known only at run time. */
static struct value exec_guarded_items(struct elab *e, const struct items *items, enum flow *flow)
{
	struct branch br;
	hir_ref live;
	*flow = FLOW_NEXT;
	if (!exit_is_conditional(e, true, &live))
		return run_items(e, items, flow);
	branch_open(e, &br, live, elab_span(e, items->at[0]));
	br.value_wanted = items->value_wanted;
	branch_enter(&br, 0);
	exits_clear(e, true);
	struct value v = run_items(e, items, flow);
	branch_leave(&br, 0, v, *flow);
	branch_enter(&br, 1);
	br.sides[1].exited = true;
	*flow = exit_taken(e, true);
	branch_leave(&br, 1, (struct value){.kind = V_VOID}, *flow);
	return branch_merge(&br, flow);
}

static struct value run_items(struct elab *e, const struct items *items, enum flow *flow)
{
	struct value v = {.kind = V_VOID};
	for (uint32_t i = 0; i < items->n && !e->em.report.gave_up; i++) {
		struct items rest = {items->at + i + 1, items->n - i - 1, items->value_wanted},
			     left = {items->at + i, items->n - i, items->value_wanted};
		bool rest_done = false;
		if (*flow == FLOW_MAYBE)
			return exec_guarded_items(e, &left, flow);
		if (*flow != FLOW_NEXT || !count_step(&e->em, elab_span(e, items->at[i])))
			break;
		e->value_wanted = items->value_wanted && !rest.n;
		if (ast_kind(elab_tree(e), items->at[i]) == NODE_IF)
			v = eval_if_before(e, items->at[i], &rest, &rest_done, flow);
		else
			*flow = exec(e, items->at[i], &v);
		if (e->frame->returned)
			*flow = FLOW_RETURN;
		if (rest_done)
			break;
	}
	return v;
}

struct value eval_block(struct elab *e, node_id block, enum flow *flow)
{
	*flow = FLOW_NEXT;
	if (ast_kind(elab_tree(e), block) != NODE_BLOCK)
		return VALUE_POISON;
	struct ast_nodes nodes = ast_nodes(elab_tree(e), ast_a(elab_tree(e), block));
	struct items items = {nodes.at, nodes.n, e->value_wanted};
	uint32_t mark = e->locals.len;
	e->em.report.depth++;
	struct value v = run_items(e, &items, flow);
	e->em.report.depth--;
	e->locals.len = mark;
	return e->em.report.gave_up ? VALUE_POISON : v;
}

/* Loops and comprehensions. A loop over elements known at compile time is unrolled; any other is a run-time loop (runtime_loop.c). */
#include "frontend/elab/stmt.h"
#include "frontend/elab/branch.h"
#include "frontend/elab/check_loop.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/runtime_loop.h"
#include "frontend/elab/unknown_list.h"

static enum flow loop_body(struct elab *e, node_id body)
{
	enum flow flow;
	e->value_wanted = false;
	eval_block(e, body, &flow);
	return flow;
}

/* ---- unrolled ---- */

/* Executes an iteration that may not run, because an earlier one may have left the loop. */
static enum flow exec_guarded_iteration(struct elab *e, hir_ref live, node_id pattern, struct value item, node_id body)
{
	struct branch br;
	enum flow flow;
	branch_open(e, &br, live, elab_span(e, body));
	br.value_wanted = false;
	branch_enter(&br, 0);
	exits_clear(e, true);
	bind_pattern(e, pattern, body_import_value(e, item), SPAN_NONE, false);
	flow = loop_body(e, body);
	branch_leave(&br, 0, (struct value){.kind = V_VOID}, flow == FLOW_CONTINUE ? FLOW_NEXT : flow);
	branch_enter(&br, 1);
	br.sides[1].exited = true;
	flow = exit_taken(e, false);
	branch_leave(&br, 1, (struct value){.kind = V_VOID}, flow);
	branch_merge(&br, &flow);
	return flow;
}

static enum flow unroll(struct elab *e, const struct ast_for *f, struct value list)
{
	uint32_t mark = e->locals.len;
	for (uint32_t i = 0; i < list.u.seq->n && !e->em.report.gave_up; i++) {
		hir_ref live;
		enum flow flow;
		exit_local(e, EXIT_SKIPPED)->value = value_bool(false);
		if (exit_is_conditional(e, false, &live)) {
			flow = exec_guarded_iteration(e, live, f->pattern, list.u.seq->at[i], f->body);
		} else {
			bind_pattern(e, f->pattern, list.u.seq->at[i], elab_span(e, f->iter), false);
			flow = loop_body(e, f->body);
			e->locals.len = mark;
		}
		if (flow == FLOW_RETURN || flow == FLOW_BREAK)
			return flow;
	}
	return FLOW_NEXT;
}

/* True if a loop over a range exits under a condition known only at run time: then it is not unrolled. */
static bool exits_at_run_time(struct elab *e, const struct ast_for *f, struct value first)
{
	struct branch br;
	if (!has_early_exit(e, f->body))
		return false;
	suppress_diags(&e->em);
	branch_open(e, &br, HIR_NONE, elab_span(e, f->body));
	branch_enter(&br, 0);
	bind_pattern(e, f->pattern, body_import_value(e, first), SPAN_NONE, false);
	enum flow flow = loop_body(e, f->body);
	bool depends = flow == FLOW_MAYBE && e->em.report.errors == br.errors && exit_is_conditional(e, false, NULL);
	e->em.report.errors = br.errors;
	branch_leave(&br, 0, VALUE_POISON, FLOW_NEXT);
	branch_discard(&br);
	restore_diags(&e->em);
	return depends;
}

/* Tries a loop over a known range as a run-time loop. False: its body needs the numbers at compile time. */
static bool try_runtime_loop(struct elab *e, const struct runtime_loop *loop, enum flow *flow)
{
	struct local *before;
	uint32_t n, errors = e->em.report.errors;
	locals_snapshot(e, &before, &n);
	suppress_diags(&e->em);
	bool ok = emit_runtime_loop(e, loop, flow) && e->em.report.errors == errors && !e->em.report.gave_up;
	restore_diags(&e->em);
	if (ok)
		return true;
	e->em.report.errors = errors;
	for (uint32_t i = 0; i < n; i++)
		e->locals.at[e->frame->base + i] = before[i];
	return false;
}

static node_id loop_attribute(const struct elab *e, const struct ast_for *f, const char *name)
{
	return attr_find(e->frame->mod, f->attrs, name);
}

/* The range of a run-time loop in a check: its numbers are unknown. */
static struct value forget_range(struct elab *e, struct value v)
{
	struct range *r = ARENA_NEW(e->em.f->arena, struct range);
	struct hir_type t = {.elem = range_counter_type(&e->em, v.u.range)};
	*r = *v.u.range;
	r->from = value_tensor(emit_unknown_tensor(&e->em, &t, SPAN_NONE));
	return (struct value){.kind = V_RANGE, .u.range = r};
}

/* Reports an attribute that the loop over v cannot have. */
static bool check_loop_attributes(struct elab *e, const struct ast_for *f, struct value v)
{
	node_id unrolled = loop_attribute(e, f, "unroll"), kept = loop_attribute(e, f, "loop");
	bool at_run_time = v.kind == V_RANGE && (value_contains(v, V_TENSOR) || (value_contains(v, V_DIM) && !e->em.checking));
	if (unrolled && at_run_time) {
		struct diag *g = report_error(&e->em, DIAG_LOOP_ATTR, elab_span(e, f->iter),
					      "this loop cannot be unrolled: its range is known only at run time");
		diag_secondary(e->em.report.out, g, elab_span(e, unrolled), "unrolling is demanded here");
		diag_help(e->em.report.out, g, "remove `@unroll`, or loop over a range of numbers known at compile time");
		return false;
	}
	bool unknown = is_poison(v);
	if (!kept || v.kind == V_RANGE || (unknown && !is_unknown_list(v)))
		return true;
	struct diag *g = report_error(&e->em, DIAG_LOOP_ATTR, elab_span(e, f->iter), "`@loop` needs a range, not %s",
				      unknown ? "a list" : value_text(&e->em, v));
	diag_secondary(e->em.report.out, g, elab_span(e, kept), "a loop at run time is demanded here");
	diag_help(e->em.report.out, g,
		  "a list is known at compile time only: remove `@loop`, or make it a tensor and loop over its indices");
	return false;
}

static enum flow exec_for_in(struct elab *e, const struct ast_for *f, struct value v)
{
	struct runtime_loop loop = {
		.range = v.kind == V_RANGE ? v.u.range : NULL, .pattern = f->pattern, .body = f->body, .at = elab_span(e, f->iter)};
	struct value list;
	enum flow flow = FLOW_NEXT;
	bool unknown, known = v.kind != V_RANGE || (v.u.range->from.kind == V_INT && v.u.range->to.kind == V_INT);
	if (!known || (loop.range && loop_attribute(e, f, "loop"))) {
		emit_runtime_loop(e, &loop, &flow);
		return flow;
	}
	if (!list_elements(&e->em, v, elab_span(e, f->iter), &list, &unknown))
		return check_loop(e, &(struct unknown_loop){VALUE_POISON, f->pattern, f->body, false, elab_span(e, f->iter)});
	if (loop_attribute(e, f, "unroll"))
		return unroll(e, f, list);
	if (loop.range && list.u.seq->n > 4 && e->frame->mod->std && has_append(e, f->body) && try_runtime_loop(e, &loop, &flow))
		return flow; /* a sequence */
	if (loop.range && list.u.seq->n > 4 && exits_at_run_time(e, f, list.u.seq->at[0]) && try_runtime_loop(e, &loop, &flow))
		return flow;
	return unroll(e, f, list);
}

/* The flow after a loop. */
static enum flow after_loop(struct elab *e, enum flow flow, uint32_t mark)
{
	e->locals.len = mark;
	if (flow == FLOW_RETURN)
		return flow;
	return exit_is_conditional(e, false, NULL) && exit_local(e, EXIT_RETURNED) && exit_local(e, EXIT_RETURNED)->value.kind == V_TENSOR
		       ? FLOW_MAYBE
		       : FLOW_NEXT;
}

enum flow exec_for(struct elab *e, node_id n)
{
	struct ast_for f = ast_for(elab_tree(e), n);
	struct value v = eval(e, f.iter), list;
	bool unknown;
	uint32_t mark = e->locals.len;
	enum flow flow;
	node_id kept = loop_attribute(e, &f, "loop");
	if (!check_loop_attributes(e, &f, v))
		v = VALUE_POISON;
	if (e->em.checking && v.kind == V_RANGE && kept)
		v = forget_range(e, v);
	uint32_t reported = diags_count(e->em.report.out);
	bool at_run_time = v.kind == V_RANGE && value_contains(v, V_TENSOR);
	if (e->em.checking && (at_run_time || !list_elements(&e->em, v, elab_span(e, f.iter), &list, &unknown))) {
		flow = check_loop(e, &(struct unknown_loop){v, f.pattern, f.body, at_run_time, elab_span(e, f.iter)});
	} else {
		exits_declare(e, EXIT_LEFT, EXIT_SKIPPED);
		flow = after_loop(e, exec_for_in(e, &f, v), mark);
	}
	if (kept)
		diags_secondary(e->em.report.out, reported, elab_span(e, kept), "this makes it a loop at run time");
	return flow;
}

/* ---- while ---- */

/* Executes an iteration whose condition and exits are known at compile time. False: they are not, and nothing was executed. */
static bool exec_known_iteration(struct elab *e, node_id cond, node_id body, enum flow *flow, bool *stop)
{
	struct branch br;
	branch_open(e, &br, HIR_NONE, elab_span(e, cond));
	branch_enter(&br, 0);
	br.sides[0].b.executed = true;
	exit_local(e, EXIT_SKIPPED)->value = value_bool(false);
	struct value c = eval(e, cond);
	int known = decide_condition(&e->em, c, elab_span(e, cond), true);
	*flow = known == 1 ? loop_body(e, body) : FLOW_NEXT;
	*stop = known == 0 || known == -2 || is_poison(c) || e->em.report.gave_up;
	if (*flow == FLOW_CONTINUE)
		*flow = FLOW_NEXT;
	branch_leave(&br, 0, VALUE_POISON, *flow);
	if (e->em.report.errors != br.errors) {
		*stop = true;
		*flow = FLOW_NEXT;
		branch_discard(&br);
		forget_assigned_locals(e, body);
		return true;
	}
	bool decided = *stop || (known == 1 && *flow != FLOW_MAYBE);
	if (!decided) {
		branch_discard(&br);
		return false;
	}
	branch_inline(&br);
	if (*flow == FLOW_RETURN && exit_local(e, EXIT_RESULT)) {
		e->frame->returned = true;
		e->frame->result = exit_local(e, EXIT_RESULT)->value;
		e->frame->result_at = exit_local(e, EXIT_RESULT)->at;
	}
	return true;
}

static enum flow exec_while_in(struct elab *e, node_id n, node_id cond, node_id body)
{
	struct runtime_loop loop = {.cond = cond, .body = body, .at = elab_span(e, cond)};
	enum flow flow = FLOW_NEXT;
	for (bool stop = false; !stop;) {
		if (!count_step(&e->em, elab_span(e, n)))
			return FLOW_NEXT;
		if (!exec_known_iteration(e, cond, body, &flow, &stop)) {
			emit_runtime_loop(e, &loop, &flow);
			return flow;
		}
		if (flow == FLOW_RETURN || flow == FLOW_BREAK)
			return flow;
	}
	return FLOW_NEXT;
}

static enum flow check_while(struct elab *e, node_id n, node_id cond, node_id body)
{
	for (;;) {
		if (!count_step(&e->em, elab_span(e, n)))
			return FLOW_NEXT;
		struct value v = eval(e, cond);
		int c = decide_condition(&e->em, v, elab_span(e, cond), true);
		if (c < 0)
			return check_loop(
				e, &(struct unknown_loop){VALUE_POISON, AST_NONE, body, v.kind == V_TENSOR && c == -1, elab_span(e, cond)});
		if (!c)
			return FLOW_NEXT;
		uint32_t exits = e->unknown_exits;
		enum flow flow = loop_body(e, body);
		if (flow == FLOW_RETURN)
			return flow;
		if (e->unknown_exits != exits) /* the trip count is unknown */
			forget_assigned_locals(e, body);
		if (flow == FLOW_BREAK || e->unknown_exits != exits)
			return FLOW_NEXT;
	}
}

enum flow exec_while(struct elab *e, node_id n)
{
	node_id cond = ast_a(elab_tree(e), n), body = ast_b(elab_tree(e), n);
	uint32_t mark = e->locals.len;
	if (e->em.checking)
		return check_while(e, n, cond, body);
	exits_declare(e, EXIT_LEFT, EXIT_SKIPPED);
	return after_loop(e, exec_while_in(e, n, cond, body), mark);
}

/* ---- comprehensions ---- */

struct comprehension {
	node_id elem;
	struct ast_nodes clauses;
	struct value first; /* the iterable of the first clause */
	VEC(struct value) out;
	bool unknown;     /* its length */
	uint32_t varying; /* symbols from this one on differ between the elements */
};

static void eval_clause(struct elab *e, struct comprehension *c, uint32_t k)
{
	if (k == c->clauses.n) {
		struct value v = eval(e, c->elem);
		vec_push(&c->out, v);
		if (c->out.len > 1000000)
			report_error(&e->em, DIAG_ELAB_STEPS, elab_span(e, c->elem), "the list has more than 1000000 elements"),
				e->em.report.gave_up = true;
		return;
	}
	node_id n = c->clauses.at[k];
	if (ast_kind(elab_tree(e), n) == NODE_COMP_IF) {
		int known = decide_condition(&e->em, eval(e, ast_a(elab_tree(e), n)), elab_span(e, ast_a(elab_tree(e), n)), true);
		if (known == -1 && !e->em.checking)
			report_error(&e->em, DIAG_RUNTIME_IF, elab_span(e, ast_a(elab_tree(e), n)),
				     "the length of a list must be known at compile time");
		if (known < 0 && !c->unknown)
			c->varying = dims_syms(e->em.b->dims);
		c->unknown = c->unknown || known < 0;
		if (known)
			eval_clause(e, c, k + 1);
		return;
	}
	struct value v = k ? eval(e, ast_b(elab_tree(e), n)) : c->first, list;
	bool unknown;
	uint32_t mark = e->locals.len;
	if (!list_elements(&e->em, v, elab_span(e, ast_b(elab_tree(e), n)), &list, &unknown)) {
		uint32_t now = dims_syms(e->em.b->dims);
		c->varying = c->unknown && c->varying < now ? c->varying : now;
		c->unknown = true;
		list = value_seq(e->em.f->arena, V_LIST, 1);
		list.u.seq->at[0] = e->em.checking ? unknown_element(e, v) : VALUE_POISON;
	}
	for (uint32_t i = 0; i < list.u.seq->n && !e->em.report.gave_up; i++) {
		bind_pattern(e, ast_a(elab_tree(e), n), list.u.seq->at[i], elab_span(e, ast_b(elab_tree(e), n)), false);
		eval_clause(e, c, k + 1);
		e->locals.len = mark;
	}
}

/* `[f(i) for i in 0..n]`, where n is a size known only at run time: a run-time loop that collects. */
static struct value eval_collecting_loop(struct elab *e, const struct comprehension *c)
{
	struct runtime_loop loop = {.range = c->first.u.range,
				    .pattern = ast_a(elab_tree(e), c->clauses.at[0]),
				    .body = c->elem,
				    .collects = true,
				    .at = elab_span(e, ast_b(elab_tree(e), c->clauses.at[0]))};
	uint32_t mark = e->locals.len;
	enum flow flow;
	exits_declare(e, EXIT_LEFT, EXIT_SKIPPED);
	local_push(e, intern_str(e->em.f->names, "[]"), value_seq(e->em.f->arena, V_LIST, 0), false);
	struct value v = emit_runtime_loop(e, &loop, &flow) ? e->locals.at[e->locals.len - 1].value : VALUE_POISON;
	e->locals.len = mark;
	return v;
}

/* True for a comprehension over one range with a size known only at run time. */
static bool is_collecting_loop(const struct elab *e, const struct comprehension *c)
{
	struct value v = c->first;
	return !e->em.checking && c->clauses.n == 1 && v.kind == V_RANGE && value_contains(v, V_DIM) && !value_contains(v, V_TENSOR);
}

struct value eval_comprehension(struct elab *e, node_id n)
{
	struct comprehension c = {.elem = ast_a(elab_tree(e), n), .clauses = ast_nodes(elab_tree(e), ast_b(elab_tree(e), n))};
	c.first = eval(e, ast_b(elab_tree(e), c.clauses.at[0]));
	if (is_collecting_loop(e, &c))
		return eval_collecting_loop(e, &c);
	eval_clause(e, &c, 0);
	struct value v = value_seq(e->em.f->arena, V_LIST, c.out.len);
	for (uint32_t i = 0; i < c.out.len; i++)
		v.u.seq->at[i] = c.out.at[i];
	vec_free(&c.out);
	if (c.unknown)
		return e->em.checking ? forget_length(e, v, c.varying) : VALUE_POISON;
	return checked_list(&e->em, v, elab_span(e, n));
}

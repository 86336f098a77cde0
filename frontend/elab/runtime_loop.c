/* Run-time loops. The body is a unit: its inputs are the carried locals, its outputs are their next values and whether there is another
 * iteration. So the condition is elaborated twice: before the loop, and at the end of the body. The locals that the body's tree assigns
 * to are carried. Numbers known at compile time become scalars of the type that the body assigns. If that differs from the assumed type,
 * the body is elaborated again. */
#include "frontend/elab/runtime_loop.h"
#include "frontend/elab/branch.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/stmt.h"
#include "frontend/rules/builtin.h"

enum { MAX_ATTEMPTS = 8 };

/* ---- conditions ---- */

static hir_ref compare_counter(struct loop_state *c, hir_ref counter, hir_ref limit)
{
	struct hir_type t = {.elem = DT_BOOL};
	struct hir_arg args[2] = {arg_tensor(counter), arg_tensor(limit)};
	return emit_builtin(&c->e->em, c->loop->range->step > 0 ? BI_LT : BI_GT, &t, args, 2, c->loop->at);
}

/* The condition of a `while` as a bool scalar, and whether it is known to hold; HIR_NONE: reported. */
static hir_ref while_condition(struct loop_state *c, bool *holds)
{
	struct elab *e = c->e;
	span at = elab_span(e, c->loop->cond);
	struct value v = eval(e, c->loop->cond);
	int known = decide_condition(&e->em, v, at, true);
	*holds = known == 1;
	if (known >= 0)
		return emit_bool(&e->em, known, at);
	return v.kind == V_TENSOR && known == -1 ? v.u.t : HIR_NONE;
}

static hir_ref first_condition(struct loop_state *c)
{
	struct elab *e = c->e;
	const struct range *r = c->loop->range;
	if (!r)
		return while_condition(c, &c->runs);
	struct value bounds[2] = {r->from, r->to};
	hir_ref refs[2];
	for (int i = 0; i < 2; i++) {
		bool scalar = bounds[i].kind != V_TENSOR;
		refs[i] = scalar ? emit_scalar(&e->em, bounds[i], DT_INT64, c->loop->at)
				 : emit_cast(&e->em, bounds[i].u.t, DT_INT64, c->loop->at);
	}
	c->counter = refs[0];
	c->limit = refs[1];
	c->counter_type = range_counter_type(&e->em, r);
	return compare_counter(c, refs[0], refs[1]);
}

/* The condition of another iteration, at the end of the body. */
static hir_ref next_condition(struct loop_state *c, enum flow flow, hir_ref counter, hir_ref limit)
{
	struct elab *e = c->e;
	hir_ref live = HIR_NONE, go;
	bool holds;
	c->may_exit = true;
	if (flow == FLOW_BREAK || flow == FLOW_RETURN)
		return emit_bool(&e->em, false, c->loop->at);
	bool depends = exit_is_conditional(e, false, &live);
	c->may_exit = depends;
	if (c->loop->range) {
		struct hir_type t = {.elem = DT_INT64};
		hir_ref step = emit_scalar(&e->em, value_int(c->loop->range->step), DT_INT64, c->loop->at);
		struct hir_arg args[2] = {arg_tensor(counter), arg_tensor(step)};
		c->next_counter = emit_builtin(&e->em, BI_ADD, &t, args, 2, c->loop->at);
		go = compare_counter(c, c->next_counter, limit);
		return depends ? emit_logic(&e->em, BI_LOGICAL_AND, live, go, c->loop->at) : go;
	}
	if (!depends)
		return while_condition(c, &holds);
	struct branch br;
	enum flow ignored;
	branch_open(e, &br, live, elab_span(e, c->loop->cond));
	br.value_wanted = true;
	branch_enter(&br, 0);
	exits_clear(e, false);
	go = while_condition(c, &holds);
	branch_leave(&br, 0, go == HIR_NONE ? VALUE_POISON : value_tensor(go), FLOW_NEXT);
	branch_enter(&br, 1);
	branch_leave(&br, 1, value_bool(false), FLOW_NEXT);
	struct value v = branch_merge(&br, &ignored);
	return v.kind == V_TENSOR ? v.u.t : v.kind == V_BOOL ? emit_bool(&e->em, v.u.b, c->loop->at) : HIR_NONE;
}

/* ---- one elaboration of the body ---- */

struct loop_body {
	hir_ref first;            /* before the loop */
	hir_ref counter_in, next; /* in the body */
	struct value returned, result;
	span result_at;
};

static void elaborate_body(struct loop_state *c, struct loop_body *r)
{
	struct elab *e = c->e;
	struct hir_type t = {.elem = DT_INT64};
	hir_ref limit = HIR_NONE;
	enum flow flow;
	if (c->loop->range) {
		r->counter_in = c->counter_in = emit_input(&e->em, "i", &t, false, c->loop->at);
		limit = body_import_value(e, value_tensor(c->limit)).u.t;
		struct value i = value_tensor(emit_cast(&e->em, r->counter_in, c->counter_type, c->loop->at));
		bind_pattern(e, c->loop->pattern, i, SPAN_NONE, false);
	}
	e->value_wanted = false;
	if (c->loop->collects) {
		struct value one = value_seq(e->em.f->arena, V_LIST, 1);
		one.u.seq->at[0] = eval(e, c->loop->body);
		struct local *list = local_at(c, c->n - 1);
		list->value = apply_binary(&e->em, TOK_PLUS, list->value, one, c->loop->at, c->loop->at, c->loop->at);
		flow = FLOW_NEXT;
	} else {
		eval_block(e, c->loop->body, &flow);
	}
	e->locals.len = e->frame->base + c->n;
	struct local *returned = exit_local(e, EXIT_RETURNED), *result = exit_local(e, EXIT_RESULT);
	if (flow == FLOW_RETURN && result) {
		returned->value = value_bool(true);
		result->value = e->frame->result;
		result->at = e->frame->result_at;
	}
	e->frame->returned = false;
	r->returned = returned ? returned->value : value_bool(false);
	r->result = result ? result->value : (struct value){.kind = V_VOID};
	r->result_at = result ? result->at : SPAN_NONE;
	if (e->em.report.gave_up)
		return;
	struct local *after; /* undoes changes of locals by the condition */
	uint32_t n;
	locals_snapshot(e, &after, &n);
	r->next = next_condition(c, flow, r->counter_in, limit);
	for (uint32_t i = 0; i < n; i++)
		e->locals.at[e->frame->base + i] = after[i];
	if (c->loop->range && c->next_counter == HIR_NONE)
		c->next_counter = r->counter_in;
}

/* Carries a result that the body returns. Its initial value is a placeholder. */
static struct value carry_result(struct loop_state *c, struct value v)
{
	struct elab *e = c->e;
	if (value_is_seq(v)) {
		struct value out = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			out.u.seq->at[i] = carry_result(c, v.u.seq->at[i]);
		return out;
	}
	if (v.kind != V_TENSOR && !value_is_scalar(v))
		return v;
	struct carried_tensor l = {.local = UINT32_MAX};
	l.out = v.kind == V_TENSOR ? v.u.t : emit_scalar(&e->em, v, scalar_type(v), c->loop->at);
	l.type = *type_of(&e->em, l.out);
	l.in = emit_input(&e->em, "result", &l.type, false, c->loop->at);
	e->em.b = c->body.outer;
	l.init = emit_placeholder(e, &l.type, c->loop->at);
	e->em.b = &c->body;
	vec_push(&c->leaves, l);
	return value_tensor(c->leaves.len - 1);
}

/* Carries locals without a value that an iteration assigns to, if there is one. Returns by local what is carried, or V_VOID. */
static struct value *carry_unset(struct loop_state *c)
{
	struct value *carried = ARENA_ARRAY(c->e->em.f->arena, struct value, c->n + 1);
	for (uint32_t i = 0; i < c->n; i++) {
		struct value v = local_at(c, i)->value;
		bool is_set = c->runs && c->before[i].value.kind == V_UNSET && (v.kind == V_TENSOR || value_is_scalar(v));
		carried[i] = is_set ? carry_result(c, v) : (struct value){.kind = V_VOID};
	}
	return carried;
}

static void runtime_loop_emit_loop(struct loop_state *c, struct loop_body *r, enum flow *flow)
{
	struct elab *e = c->e;
	bool may_return = r->returned.kind == V_TENSOR || (r->returned.kind == V_BOOL && r->returned.u.b);
	struct value returned = may_return ? carry_result(c, r->returned) : r->returned,
		     result = may_return ? carry_result(c, r->result) : r->result;
	struct value *unset = carry_unset(c);
	uint32_t n = c->leaves.len, counted = c->loop->range != NULL;
	hir_ref *inits = ARENA_ARRAY(e->em.f->arena, hir_ref, n + 1), *ins = ARENA_ARRAY(e->em.f->arena, hir_ref, n + 1);
	hir_ref *outs = ARENA_ARRAY(e->em.f->arena, hir_ref, n + 2), *results = ARENA_ARRAY(e->em.f->arena, hir_ref, n + 2);
	outs[0] = r->next;
	for (uint32_t i = 0; i < n; i++) {
		inits[i + counted] = c->leaves.at[i].init;
		ins[i + counted] = c->leaves.at[i].in;
		outs[i + counted + 1] = c->leaves.at[i].out;
	}
	if (counted) {
		inits[0] = c->counter;
		ins[0] = r->counter_in;
		outs[1] = c->next_counter;
	}
	struct body_spec spec = {ins, n + counted, outs, n + counted + 1, "loop", c->loop->at};
	struct body_unit body = body_unit(e, &c->body, &spec);
	for (uint32_t i = 0; i < c->n; i++) /* spans of the assignments */
		c->before[i].at = c->assigned[i] ? local_at(c, i)->at : c->before[i].at;
	loop_leave_body(c);
	body_emit_loop(e, r->first, inits, n + counted, &body, results, c->loop->at);
	for (uint32_t i = 0; i < n; i++)
		c->leaves.at[i].out = results[i + counted];
	for (uint32_t i = 0; i < c->n; i++) {
		struct local *l = local_at(c, i);
		*l = c->before[i];
		if (c->assigned[i] && c->trees[i].kind == V_STACKED)
			l->value = growing_list_result(c, i);
		else if (c->assigned[i])
			l->value = value_map_tensors(&e->em, c->trees[i], carried_result, c);
		else if (unset[i].kind != V_VOID)
			l->value = value_map_tensors(&e->em, unset[i], carried_result, c);
	}
	*flow = FLOW_NEXT;
	if (!may_return)
		return;
	*flow = FLOW_MAYBE;
	exit_local(e, EXIT_RETURNED)->value = value_map_tensors(&e->em, returned, carried_result, c);
	exit_local(e, EXIT_RESULT)->value = value_map_tensors(&e->em, result, carried_result, c);
	exit_local(e, EXIT_RESULT)->at = r->result_at;
}

/* 1: emitted; 0: to be elaborated again; -1: reported. */
static int elaborate_loop(struct loop_state *c, enum flow *flow)
{
	struct elab *e = c->e;
	uint32_t errors = e->em.report.errors;
	struct loop_body r = {.counter_in = HIR_NONE, .next = HIR_NONE};
	c->again = false;
	c->next_counter = HIR_NONE;
	if (!loop_reset_locals(c))
		return -1;
	r.first = first_condition(c);
	if (r.first == HIR_NONE || e->em.report.errors != errors)
		return -1;
	loop_enter_body(c);
	elaborate_body(c, &r);
	bool ok = e->em.report.errors == errors && !e->em.report.gave_up && r.next != HIR_NONE && loop_end_locals(c);
	if (ok && !c->again) {
		runtime_loop_emit_loop(c, &r, flow);
		return 1;
	}
	loop_leave_body(c);
	return ok && e->em.report.errors == errors ? 0 : -1;
}

bool emit_runtime_loop(struct elab *e, const struct runtime_loop *loop, enum flow *flow)
{
	struct loop_state c = {.e = e, .loop = loop};
	int done = 0;
	locals_snapshot(e, &c.before, &c.n);
	c.assigned = ARENA_ARRAY(e->em.f->arena, bool, c.n + 1);
	c.trees = ARENA_ARRAY(e->em.f->arena, struct value, c.n + 1);
	c.growth = ARENA_ARRAY(e->em.f->arena, struct list_growth, c.n + 1);
	find_assigned_locals(e, loop->body, c.assigned, c.n);
	if (loop->collects)
		c.assigned[c.n - 1] = true;
	if (loop->cond)
		find_assigned_locals(e, loop->cond, c.assigned, c.n);
	*flow = FLOW_NEXT;
	for (uint32_t attempt = 0; !done && attempt < MAX_ATTEMPTS; attempt++)
		done = elaborate_loop(&c, flow);
	for (uint32_t i = 0; i < c.n && done != 1; i++) {
		*local_at(&c, i) = c.before[i];
		if (c.assigned[i])
			local_at(&c, i)->value = VALUE_POISON;
	}
	if (!done)
		report_error(
			&e->em, DIAG_LOOP_TYPES, loop->at,
			"the types of the values that this loop changes cannot be inferred: declare them, as in `let sum: float32 = 0`");
	vec_free(&c.leaves);
	map_free(&c.types);
	return done == 1;
}

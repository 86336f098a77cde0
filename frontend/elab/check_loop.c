/* Loops whose trip count is unknown, by a search for types that hold at the start of each iteration. It begins with the types before the loop.
 * The body is executed with them; where a local's type then differs, what differs becomes unknown, and the body is executed again. Errors are
 * those of the first execution: what it does, a loop that runs at all does. */
#include "frontend/elab/check_loop.h"
#include <string.h>
#include "frontend/elab/join.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/stmt.h"
#include "frontend/elab/unknown_list.h"

enum { MOST_EXECUTIONS = 4 };

struct checked_loop {
	struct checked_loop *outer;
	const struct frame *frame;
	struct local *start; /* at the start of an iteration */
	const bool *assigned;
	uint32_t n;
	struct value *items; /* an element of each kind that the list may have */
	uint32_t n_items;
	struct join join;
};

struct value unknown_element(struct elab *e, struct value list)
{
	if (list.kind != V_RANGE)
		return unknown_list_item(e, list);
	if (value_contains(list, V_TENSOR)) {
		struct hir_type t = {.elem = range_counter_type(&e->em, list.u.range)};
		return value_tensor(emit_unknown_tensor(&e->em, &t, SPAN_NONE));
	}
	struct value i = {.kind = V_DIM, .u.d = dim_new_sym(e->em.b->dims, "i")};
	bool literal = value_is_literal(list.u.range->from) && value_is_literal(list.u.range->to);
	return literal ? i : value_with_type(i, range_counter_type(&e->em, list.u.range));
}

/* What is assumed of a local that the loop assigns to when its first iteration starts. The body is checked for all numbers. */
static struct value value_at_start(struct elab *e, struct value v, uint32_t own, bool at_run_time)
{
	bool integer = v.kind == V_INT || v.kind == V_DIM;
	if (v.kind == V_TENSOR || v.kind == V_LAYER || v.kind == V_UNSET || is_unknown_list(v))
		return v;
	if (v.kind == V_LIST)
		return forget_length(e, v, own);
	if (integer && !at_run_time)
		return (struct value){.kind = V_DIM, .typed = v.typed, .u.d = joined_size(e)};
	if (v.kind != V_TUPLE || value_is_partial(v))
		return VALUE_POISON;
	struct value out = value_seq(e->em.f->arena, V_TUPLE, v.u.seq->n);
	for (uint32_t i = 0; i < out.u.seq->n; i++)
		out.u.seq->at[i] = value_at_start(e, v.u.seq->at[i], own, at_run_time);
	return out;
}

static void join_with_start(struct checked_loop *c)
{
	const struct elab *e = c->join.e;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->assigned[i])
			c->start[i].value = join_values(&c->join, c->start[i].value, e->locals.at[e->frame->base + i].value);
}

void note_loop_exit(struct elab *e)
{
	if (e->loop && e->loop->frame == e->frame)
		join_with_start(e->loop);
}

static void execute_body(struct elab *e, const struct unknown_loop *loop, struct checked_loop *c, struct value item)
{
	bool returned = e->frame->returned;
	enum flow flow;
	memcpy(e->locals.at + e->frame->base, c->start, c->n * sizeof *c->start);
	e->loop = c;
	if (loop->pattern)
		bind_pattern(e, loop->pattern, item, SPAN_NONE, false);
	e->em.conditional++;
	e->value_wanted = false;
	eval_block(e, loop->body, &flow);
	e->em.conditional--;
	e->frame->returned = returned;
	e->locals.len = e->frame->base + c->n;
	e->loop = c->outer;
}

/* Executes the body once for each kind of element, and joins what it leaves; the last time is left to the caller. The kinds are not in the order
 * of the elements, so that an error of one means nothing. */
static void execute_kinds(struct elab *e, const struct unknown_loop *loop, struct checked_loop *c, bool quiet)
{
	quiet = quiet || c->n_items > 1;
	if (quiet)
		suppress_diags(&e->em);
	for (uint32_t k = 0; k < c->n_items; k++) {
		if (k)
			join_with_start(c);
		execute_body(e, loop, c, c->items[k]);
	}
	if (quiet)
		restore_diags(&e->em);
}

/* Reports the errors of the body that do not depend on the element. */
static void report_errors(struct elab *e, const struct unknown_loop *loop, const struct checked_loop *c)
{
	struct checked_loop alone = *c;
	locals_snapshot(e, &alone.start, &alone.n);
	for (uint32_t i = 0; i < alone.n; i++)
		alone.start[i] = c->start[i];
	execute_body(e, loop, &alone, VALUE_POISON);
}

/* Reports locals whose type a run-time loop changes, and makes them unknown. */
static void report_changed_types(struct elab *e, struct checked_loop *c, const struct local *before)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct local *now = &e->locals.at[e->frame->base + i];
		if (c->assigned[i] && is_poison(value_join(e, before[i].value, now->value, JOIN_LOOP, now, c->join.at)))
			c->start[i].value = VALUE_POISON;
	}
}

/* True for tensors of one type: the later one, which the last iteration made, tells more about its origin. */
static bool have_one_type(struct elab *e, struct value a, struct value b)
{
	if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		return false;
	return type_of(&e->em, a.u.t)->elem == type_of(&e->em, b.u.t)->elem &&
	       hir_same_shape(type_of(&e->em, a.u.t), type_of(&e->em, b.u.t));
}

static void make_items(struct elab *e, struct value list, struct checked_loop *c)
{
	uint32_t kinds = unknown_list_kinds(list);
	c->n_items = kinds > 1 ? kinds : 1;
	c->items = ARENA_ARRAY(e->em.f->arena, struct value, c->n_items);
	for (uint32_t k = 0; k < c->n_items; k++)
		c->items[k] = kinds > 1 ? unknown_list_item_of(e, list, k) : unknown_element(e, list);
}

enum flow check_loop(struct elab *e, const struct unknown_loop *loop)
{
	struct checked_loop c = {.outer = e->loop, .frame = e->frame};
	struct local *before;
	locals_snapshot(e, &before, &c.n);
	locals_snapshot(e, &c.start, &c.n);
	bool *assigned = ARENA_ARRAY(e->em.f->arena, bool, c.n + 1);
	find_assigned_locals(e, loop->body, assigned, c.n);
	c.assigned = assigned;
	c.join = (struct join){.e = e, .at = loop->at, .own = dims_syms(e->em.b->dims)};
	for (uint32_t i = 0; i < c.n; i++)
		if (assigned[i])
			c.start[i].value = value_at_start(e, c.start[i].value, c.join.own, loop->at_run_time);
	make_items(e, loop->list, &c);
	if (c.n_items > 1)
		report_errors(e, loop, &c);
	for (int i = 0; i < MOST_EXECUTIONS && !(i && !c.join.changed); i++) {
		c.join.changed = false;
		execute_kinds(e, loop, &c, i > 0);
		if (!i && loop->at_run_time)
			report_changed_types(e, &c, before);
		join_with_start(&c);
	}
	for (uint32_t i = 0; i < c.n; i++) {
		struct local *now = &e->locals.at[e->frame->base + i];
		if (assigned[i] && (c.join.changed || !have_one_type(e, now->value, c.start[i].value)))
			now->value = c.join.changed ? VALUE_POISON : c.start[i].value;
	}
	return FLOW_NEXT;
}

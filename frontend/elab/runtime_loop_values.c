/* The carried values of a run-time loop: before it, in its body, and at the end of the body. */
#include "frontend/elab/branch.h"
#include "frontend/elab/runtime_loop.h"

/* ---- carried values ---- */

/* Makes a carried tensor of each tensor and scalar in v; *out is v with their indices. False: v contains other values. */
static bool make_tree(struct loop_state *state, struct value v, uint32_t local, uint32_t *number, struct value *out)
{
	struct elab *e = state->e;
	if (value_is_seq(v)) {
		*out = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			if (!make_tree(state, v.u.seq->at[i], local, number, &out->u.seq->at[i]))
				return false;
		return true;
	}
	if (v.kind != V_TENSOR && !value_is_scalar(v))
		return false;
	struct carried_tensor l = {.local = local, .number = (*number)++, .literal = v};
	uint64_t known;
	if (v.kind == V_TENSOR) {
		l.init = v.u.t;
		l.literal.kind = V_VOID;
	} else {
		bool has = map_get(&state->types, map_key_u64((uint64_t)local << 32 | l.number), &known);
		dtype t = has ? (dtype)known : v.kind == V_INT && (v.u.i < INT32_MIN || v.u.i > INT32_MAX) ? DT_INT64 : scalar_type(v);
		l.init = scalar_tensor(&e->em, v, t, state->before[local].at);
		if (l.init == HIR_NONE)
			return false;
	}
	l.type = *type_of(&e->em, l.init);
	vec_push(&state->leaves, l);
	*out = value_tensor(state->leaves.len - 1);
	return true;
}

static hir_ref leaf_init(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].init; }
static hir_ref leaf_in(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].in; }
hir_ref carried_result(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].out; }

bool loop_reset_locals(struct loop_state *state)
{
	struct elab *e = state->e;
	state->leaves.len = 0;
	e->locals.len = e->frame->base + state->n;
	for (uint32_t i = 0; i < state->n; i++) {
		uint32_t number = 0, mark = state->leaves.len;
		*local_at(state, i) = state->before[i];
		if (!state->assigned[i])
			continue;
		if (state->growth[i].each || state->before[i].value.kind == V_STACKED) {
			if (!growing_list_start(state, i))
				return false;
			continue;
		}
		if (!make_tree(state, state->before[i].value, i, &number, &state->trees[i])) {
			state->assigned[i] = false;
			state->leaves.len = mark;
			continue;
		}
		local_at(state, i)->value = value_map_tensors(&e->em, state->trees[i], leaf_init, state);
	}
	return true;
}

void loop_enter_body(struct loop_state *state)
{
	struct elab *e = state->e;
	body_open(e, &state->body);
	e->em.report.depth += 4;
	for (uint32_t i = 0; i < state->leaves.len; i++) {
		struct carried_tensor *l = &state->leaves.at[i];
		l->in = emit_input(&e->em, name_text(e->em.f, state->before[l->local].name), &l->type, false, state->before[l->local].at);
	}
	for (uint32_t i = 0; i < state->n; i++) {
		struct local *l = local_at(state, i);
		bool grows = state->assigned[i] && state->trees[i].kind == V_STACKED;
		l->value = grows                ? earlier_items(e)
			   : state->assigned[i] ? value_map_tensors(&e->em, state->trees[i], leaf_in, state)
						: body_import_value(e, l->value);
	}
	exits_clear(e, true);
}

void loop_leave_body(struct loop_state *state)
{
	struct elab *e = state->e;
	e->em.b = &state->body;
	builder_close(&e->em);
	e->em.report.depth -= 4;
	e->frame->returned = false;
	e->locals.len = e->frame->base + state->n;
}

/* ---- values at the end of the body ---- */

static bool report_type_change(struct loop_state *state, const struct carried_tensor *tensor, struct value out)
{
	struct elab *e = state->e;
	const struct local *now = local_at(state, tensor->local), *was = &state->before[tensor->local];
	const char *starts = arena_printf(e->em.f->arena, "%s%s", dtype_text(tensor->type.elem), shape_text(&e->em, &tensor->type));
	span at = now->at.source != SPAN_NO_SOURCE ? now->at : state->loop->at;
	struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, at, "`%s` is a tensor %s when the loop starts, and %s after an iteration",
				      name_text(e->em.f, was->name), starts, value_text(&e->em, out));
	diag_label_primary(e->em.report.out, g, "%s", value_text(&e->em, out));
	if (was->at.source != SPAN_NO_SOURCE)
		diag_secondary(e->em.report.out, g, was->at, "its initial value is a tensor %s", starts);
	diag_secondary(e->em.report.out, g, state->loop->at, "this loop's trip count is known only at run time");
	if (out.kind == V_TENSOR && type_of(&e->em, out.u.t)->rank == tensor->type.rank &&
	    type_of(&e->em, out.u.t)->elem != tensor->type.elem)
		diag_help(e->em.report.out, g, "cast it: `%s(…)`", dtype_text(tensor->type.elem));
	else
		diag_help(
			e->em.report.out, g,
			"a value that a run-time loop changes keeps its type and shape: start with the full size, and fill it by `where`");
	return false;
}

static void assume_type(struct loop_state *state, const struct carried_tensor *tensor, dtype t)
{
	map_put(&state->types, map_key_u64((uint64_t)tensor->local << 32 | tensor->number), t);
	state->again = true;
}

/* Sets the value of carried tensor `tensor` at the end of the body. False: reported. */
static bool end_leaf(struct loop_state *state, struct carried_tensor *tensor, struct value v)
{
	struct elab *e = state->e;
	bool literal = tensor->literal.kind != V_VOID;
	if (v.kind == V_TENSOR) {
		struct hir_type t = *type_of(&e->em, v.u.t);
		if (hir_same_shape(&t, &tensor->type) && dtype_widens(t.elem, tensor->type.elem)) {
			tensor->out = emit_cast(&e->em, v.u.t, tensor->type.elem, state->loop->at);
			return true;
		}
		if (!literal || tensor->literal.typed || t.rank || !scalar_converts(tensor->literal, t.elem))
			return report_type_change(state, tensor, v);
		assume_type(state, tensor, t.elem);
		return true;
	}
	if (!value_is_scalar(v) || tensor->type.rank)
		return report_type_change(state, tensor, v);
	tensor->out = scalar_tensor(&e->em, v, tensor->type.elem, state->loop->at);
	if (tensor->out != HIR_NONE)
		return true;
	if (!literal || tensor->literal.typed || !scalar_converts(tensor->literal, scalar_type(v)))
		return report_type_change(state, tensor, v);
	assume_type(state, tensor, scalar_type(v));
	return true;
}

/* True if the body does not change the values of tree `t`. */
static bool runtime_loop_values_is_unchanged(struct loop_state *state, struct value t, struct value v)
{
	if (t.kind == V_TENSOR)
		return v.kind == V_TENSOR && v.u.t == state->leaves.at[t.u.t].in;
	if (t.kind != v.kind || t.u.seq->n != v.u.seq->n)
		return false;
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!runtime_loop_values_is_unchanged(state, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

/* True if list v begins with the unchanged elements of tree t. */
static bool runtime_loop_values_starts_with(struct loop_state *state, struct value t, struct value v)
{
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!runtime_loop_values_is_unchanged(state, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

static bool end_tree(struct loop_state *state, uint32_t local, struct value t, struct value v)
{
	struct elab *e = state->e;
	if (is_poison(v))
		return false;
	if (t.kind == V_TENSOR)
		return end_leaf(state, &state->leaves.at[t.u.t], v);
	if (t.kind == V_LIST && v.kind == V_LIST && v.u.seq->n > t.u.seq->n && state->loop->range &&
	    runtime_loop_values_starts_with(state, t, v) && growing_list_note(state, local, v, t.u.seq->n))
		return true;
	if (v.kind != t.kind || v.u.seq->n != t.u.seq->n) {
		struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, state->loop->at,
					      "`%s` is a %s of %u when the loop starts, and %s after an iteration",
					      name_text(e->em.f, state->before[local].name), t.kind == V_LIST ? "list" : "tuple",
					      t.u.seq->n, value_text(&e->em, v));
		diag_help(e->em.report.out, g, "a run-time loop cannot change the length of a list: collect the results in a tensor");
		return false;
	}
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!end_tree(state, local, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

bool loop_end_locals(struct loop_state *state)
{
	struct elab *e = state->e;
	bool ok = true;
	for (uint32_t i = 0; i < state->n; i++) {
		struct local *l = local_at(state, i);
		if (l->name == e->exit_names[EXIT_RETURNED] || l->name == e->exit_names[EXIT_RESULT] ||
		    l->name == e->exit_names[EXIT_LEFT] || l->name == e->exit_names[EXIT_SKIPPED])
			continue;
		if (state->assigned[i] && state->trees[i].kind == V_STACKED) {
			ok = growing_list_end(state, i, l->value) && ok;
		} else if (state->assigned[i] && runtime_loop_values_is_unchanged(state, state->trees[i], l->value)) {
			state->assigned[i] = false; /* the assignment is to another local of that name */
			state->again = true;
		} else if (state->assigned[i]) {
			ok = end_tree(state, i, state->trees[i], l->value) && ok;
		} else if (state->before[i].value.kind == V_UNSET) {
			continue; /* each iteration assigns to it before it reads it */
		} else if (l->state && !value_is_same(l->value, body_import_value(e, state->before[i].value))) {
			state->assigned[i] = state->again = true; /* by a call */
		} else if (!value_is_same(l->value, body_import_value(e, state->before[i].value)) &&
			   l->at.start != state->before[i].at.start && !is_poison(l->value) && !is_poison(state->before[i].value)) {
			struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, l->at, "`%s` is %s, which a run-time loop cannot change",
						      name_text(e->em.f, l->name), value_text(&e->em, state->before[i].value));
			diag_secondary(e->em.report.out, g, state->loop->at, "this loop's trip count is known only at run time");
			diag_help(e->em.report.out, g,
				  "only numbers and tensors can change in a run-time loop: iterate over a range of constants");
			ok = false;
		}
	}
	return ok;
}

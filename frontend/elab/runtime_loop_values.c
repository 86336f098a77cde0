/* The carried values of a run-time loop: before it, in its body, and at the end of the body. */
#include "frontend/elab/branch.h"
#include "frontend/elab/runtime_loop.h"

/* ---- carried values ---- */

/* Makes a carried tensor of each tensor and scalar in v; *out is v with their indices. False: v contains other values. */
static bool make_tree(struct loop_state *c, struct value v, uint32_t local, uint32_t *number, struct value *out)
{
	struct elab *e = c->e;
	if (value_is_seq(v)) {
		*out = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			if (!make_tree(c, v.u.seq->at[i], local, number, &out->u.seq->at[i]))
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
		bool has = map_get(&c->types, map_key_u64((uint64_t)local << 32 | l.number), &known);
		dtype t = has ? (dtype)known : v.kind == V_INT && (v.u.i < INT32_MIN || v.u.i > INT32_MAX) ? DT_INT64 : scalar_type(v);
		l.init = scalar_tensor(&e->em, v, t, c->before[local].at);
		if (l.init == HIR_NONE)
			return false;
	}
	l.type = *type_of(&e->em, l.init);
	vec_push(&c->leaves, l);
	*out = value_tensor(c->leaves.len - 1);
	return true;
}

static hir_ref leaf_init(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].init; }
static hir_ref leaf_in(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].in; }
hir_ref carried_result(void *ctx, hir_ref leaf) { return ((struct loop_state *)ctx)->leaves.at[leaf].out; }

bool loop_reset_locals(struct loop_state *c)
{
	struct elab *e = c->e;
	c->leaves.len = 0;
	e->locals.len = e->frame->base + c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t number = 0, mark = c->leaves.len;
		*local_at(c, i) = c->before[i];
		if (!c->assigned[i])
			continue;
		if (c->growth[i].each || c->before[i].value.kind == V_STACKED) {
			if (!growing_list_start(c, i))
				return false;
			continue;
		}
		if (!make_tree(c, c->before[i].value, i, &number, &c->trees[i])) {
			c->assigned[i] = false;
			c->leaves.len = mark;
			continue;
		}
		local_at(c, i)->value = value_map_tensors(&e->em, c->trees[i], leaf_init, c);
	}
	return true;
}

void loop_enter_body(struct loop_state *c)
{
	struct elab *e = c->e;
	body_open(e, &c->body);
	e->em.report.depth += 4;
	for (uint32_t i = 0; i < c->leaves.len; i++) {
		struct carried_tensor *l = &c->leaves.at[i];
		l->in = emit_input(&e->em, name_text(e->em.f, c->before[l->local].name), &l->type, false, c->before[l->local].at);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		struct local *l = local_at(c, i);
		bool grows = c->assigned[i] && c->trees[i].kind == V_STACKED;
		l->value = grows            ? earlier_items(e)
			   : c->assigned[i] ? value_map_tensors(&e->em, c->trees[i], leaf_in, c)
					    : body_import_value(e, l->value);
	}
	exits_clear(e, true);
}

void loop_leave_body(struct loop_state *c)
{
	struct elab *e = c->e;
	e->em.b = &c->body;
	builder_close(&e->em);
	e->em.report.depth -= 4;
	e->frame->returned = false;
	e->locals.len = e->frame->base + c->n;
}

/* ---- values at the end of the body ---- */

static bool report_type_change(struct loop_state *c, const struct carried_tensor *l, struct value out)
{
	struct elab *e = c->e;
	const struct local *now = local_at(c, l->local), *was = &c->before[l->local];
	const char *starts = arena_printf(e->em.f->arena, "%s%s", dtype_text(l->type.elem), shape_text(&e->em, &l->type));
	span at = now->at.source != SPAN_NO_SOURCE ? now->at : c->loop->at;
	struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, at, "`%s` is a tensor %s when the loop starts, and %s after an iteration",
				      name_text(e->em.f, was->name), starts, value_text(&e->em, out));
	diag_label_primary(e->em.report.out, g, "%s", value_text(&e->em, out));
	if (was->at.source != SPAN_NO_SOURCE)
		diag_secondary(e->em.report.out, g, was->at, "its initial value is a tensor %s", starts);
	diag_secondary(e->em.report.out, g, c->loop->at, "this loop's trip count is known only at run time");
	if (out.kind == V_TENSOR && type_of(&e->em, out.u.t)->rank == l->type.rank && type_of(&e->em, out.u.t)->elem != l->type.elem)
		diag_help(e->em.report.out, g, "cast it: `%s(…)`", dtype_text(l->type.elem));
	else
		diag_help(
			e->em.report.out, g,
			"a value that a run-time loop changes keeps its type and shape: start with the full size, and fill it by `where`");
	return false;
}

static void assume_type(struct loop_state *c, const struct carried_tensor *l, dtype t)
{
	map_put(&c->types, map_key_u64((uint64_t)l->local << 32 | l->number), t);
	c->again = true;
}

/* Sets the value of carried tensor `l` at the end of the body. False: reported. */
static bool end_leaf(struct loop_state *c, struct carried_tensor *l, struct value v)
{
	struct elab *e = c->e;
	bool literal = l->literal.kind != V_VOID;
	if (v.kind == V_TENSOR) {
		struct hir_type t = *type_of(&e->em, v.u.t);
		if (hir_same_shape(&t, &l->type) && dtype_widens(t.elem, l->type.elem)) {
			l->out = emit_cast(&e->em, v.u.t, l->type.elem, c->loop->at);
			return true;
		}
		if (!literal || l->literal.typed || t.rank || !scalar_converts(l->literal, t.elem))
			return report_type_change(c, l, v);
		assume_type(c, l, t.elem);
		return true;
	}
	if (!value_is_scalar(v) || l->type.rank)
		return report_type_change(c, l, v);
	l->out = scalar_tensor(&e->em, v, l->type.elem, c->loop->at);
	if (l->out != HIR_NONE)
		return true;
	if (!literal || l->literal.typed || !scalar_converts(l->literal, scalar_type(v)))
		return report_type_change(c, l, v);
	assume_type(c, l, scalar_type(v));
	return true;
}

/* True if the body does not change the values of tree `t`. */
static bool runtime_loop_values_is_unchanged(struct loop_state *c, struct value t, struct value v)
{
	if (t.kind == V_TENSOR)
		return v.kind == V_TENSOR && v.u.t == c->leaves.at[t.u.t].in;
	if (t.kind != v.kind || t.u.seq->n != v.u.seq->n)
		return false;
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!runtime_loop_values_is_unchanged(c, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

/* True if list v begins with the unchanged elements of tree t. */
static bool runtime_loop_values_starts_with(struct loop_state *c, struct value t, struct value v)
{
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!runtime_loop_values_is_unchanged(c, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

static bool end_tree(struct loop_state *c, uint32_t local, struct value t, struct value v)
{
	struct elab *e = c->e;
	if (is_poison(v))
		return false;
	if (t.kind == V_TENSOR)
		return end_leaf(c, &c->leaves.at[t.u.t], v);
	if (t.kind == V_LIST && v.kind == V_LIST && v.u.seq->n > t.u.seq->n && c->loop->range && runtime_loop_values_starts_with(c, t, v) &&
	    growing_list_note(c, local, v, t.u.seq->n))
		return true;
	if (v.kind != t.kind || v.u.seq->n != t.u.seq->n) {
		struct diag *g = report_error(
			&e->em, DIAG_LOOP_TYPES, c->loop->at, "`%s` is a %s of %u when the loop starts, and %s after an iteration",
			name_text(e->em.f, c->before[local].name), t.kind == V_LIST ? "list" : "tuple", t.u.seq->n, value_text(&e->em, v));
		diag_help(e->em.report.out, g, "a run-time loop cannot change the length of a list: collect the results in a tensor");
		return false;
	}
	for (uint32_t i = 0; i < t.u.seq->n; i++)
		if (!end_tree(c, local, t.u.seq->at[i], v.u.seq->at[i]))
			return false;
	return true;
}

bool loop_end_locals(struct loop_state *c)
{
	struct elab *e = c->e;
	bool ok = true;
	for (uint32_t i = 0; i < c->n; i++) {
		struct local *l = local_at(c, i);
		if (l->name == e->exit_names[EXIT_RETURNED] || l->name == e->exit_names[EXIT_RESULT] ||
		    l->name == e->exit_names[EXIT_LEFT] || l->name == e->exit_names[EXIT_SKIPPED])
			continue;
		if (c->assigned[i] && c->trees[i].kind == V_STACKED) {
			ok = growing_list_end(c, i, l->value) && ok;
		} else if (c->assigned[i] && runtime_loop_values_is_unchanged(c, c->trees[i], l->value)) {
			c->assigned[i] = false; /* the assignment is to another local of that name */
			c->again = true;
		} else if (c->assigned[i]) {
			ok = end_tree(c, i, c->trees[i], l->value) && ok;
		} else if (c->before[i].value.kind == V_UNSET) {
			continue; /* each iteration assigns to it before it reads it */
		} else if (l->state && !value_is_same(l->value, body_import_value(e, c->before[i].value))) {
			c->assigned[i] = c->again = true; /* by a call */
		} else if (!value_is_same(l->value, body_import_value(e, c->before[i].value)) && l->at.start != c->before[i].at.start &&
			   !is_poison(l->value) && !is_poison(c->before[i].value)) {
			struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, l->at, "`%s` is %s, which a run-time loop cannot change",
						      name_text(e->em.f, l->name), value_text(&e->em, c->before[i].value));
			diag_secondary(e->em.report.out, g, c->loop->at, "this loop's trip count is known only at run time");
			diag_help(e->em.report.out, g,
				  "only numbers and tensors can change in a run-time loop: iterate over a range of constants");
			ok = false;
		}
	}
	return ok;
}

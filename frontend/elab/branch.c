/* Branches under a run-time condition. */
#include "frontend/elab/branch.h"
#include <string.h>
#include "frontend/elab/join.h"
#include "frontend/elab/locals.h"

enum { SELECT_COST = 24 };

/* ---- sides ---- */

static void restore(struct elab *e, const struct local *from, uint32_t n)
{
	e->locals.len = e->frame->base + n;
	if (n)
		memcpy(e->locals.at + e->frame->base, from, n * sizeof *from);
}

void branch_open(struct elab *e, struct branch *br, hir_ref cond, span at)
{
	*br = (struct branch){.e = e, .cond = cond, .at = at, .errors = e->em.report.errors, .value_wanted = e->value_wanted};
	locals_snapshot(e, &br->before, &br->n);
	e->em.report.steps += br->n + 8;
}

void branch_enter(struct branch *br, uint32_t side)
{
	struct elab *e = br->e;
	struct branch_side *s = &br->sides[side];
	e->em.report.depth += 4;
	if (s->locals) {
		e->em.b = &s->b;
		restore(e, s->locals, s->n);
		return;
	}
	body_open(e, &s->b);
	body_import_locals(e);
}

void branch_leave(struct branch *br, uint32_t side, struct value v, enum flow flow)
{
	struct elab *e = br->e;
	struct branch_side *s = &br->sides[side];
	s->value = v;
	s->flow = flow;
	exit_note(e, flow, br->at);
	e->frame->returned = false;
	s->n = br->n;
	if (!s->locals)
		s->locals = ARENA_ARRAY(e->em.f->arena, struct local, br->n + 1);
	if (br->n)
		memcpy(s->locals, e->locals.at + e->frame->base, br->n * sizeof *s->locals);
	restore(e, br->before, br->n);
	e->em.b = s->b.outer;
	e->em.report.depth -= 4;
}

/* ---- merging ---- */

enum slot_kind { SLOT_SAME, SLOT_COND, SLOT_NOT_COND, SLOT_BOTH };
struct merged {
	enum slot_kind kind;
	hir_ref outer;   /* the node in the enclosing unit: of SLOT_SAME, and of all after the merge */
	hir_ref refs[2]; /* SLOT_BOTH: by side; HIR_NONE: never read */
	struct hir_type type;
};
struct merge {
	struct branch *br;
	VEC(struct merged) slots;
	const struct local *locals[2]; /* under merge, for messages; NULL: the value of the branch */
	bool failed;
};

static struct value branch_add_slot(struct merge *m, struct merged s)
{
	vec_push(&m->slots, s);
	return value_tensor(m->slots.len - 1);
}

static const char *side_text(struct merge *m, uint32_t side, struct value v)
{
	struct elab *e = m->br->e;
	struct builder *b = e->em.b;
	e->em.b = &m->br->sides[side].b;
	const char *text = value_text(&e->em, v);
	e->em.b = b;
	return text;
}

static span side_span(struct merge *m, uint32_t side, struct value v)
{
	const struct local *l = m->locals[side];
	if (l && l->at.source != SPAN_NO_SOURCE)
		return l->at;
	return v.kind == V_TENSOR ? m->br->sides[side].b.nodes.at[v.u.t].at : SPAN_NONE;
}

static struct value report_disagreement(struct merge *m, const struct value *v)
{
	struct elab *e = m->br->e;
	const char *name = m->locals[0] ? name_text(e->em.f, m->locals[0]->name) : NULL;
	struct branch_values both = {.what = NULL};
	if (name && *name == '$')
		both.what = arena_printf(e->em.f->arena, "the result of `%s`", name_text(e->em.f, e->frame->func->name));
	else if (name)
		both.what = arena_printf(e->em.f->arena, "`%s`", name);
	for (uint32_t i = 0; i < 2; i++) {
		both.texts[i] = side_text(m, i, v[i]);
		both.ats[i] = side_span(m, i, v[i]);
		both.elems[i] = v[i].kind == V_TENSOR ? m->br->sides[i].b.nodes.at[v[i].u.t].type.elem : DT_COUNT;
	}
	report_branch_values(e, m->br->at, &both);
	m->failed = true;
	return VALUE_POISON;
}

/* A value of one side as a tensor of element type t. */
static hir_ref side_cast(struct merge *m, uint32_t side, struct value v, dtype t)
{
	struct elab *e = m->br->e;
	struct builder *b = e->em.b;
	e->em.b = &m->br->sides[side].b;
	hir_ref r = v.kind == V_TENSOR ? emit_cast(&e->em, v.u.t, t, m->br->at) : scalar_tensor(&e->em, v, t, m->br->at);
	e->em.b = b;
	return r;
}

static struct value merge_tensors(struct merge *m, const struct value *v)
{
	struct hir_type t[2];
	hir_ref outer[2];
	bool known = true;
	for (uint32_t i = 0; i < 2; i++) {
		const struct builder *b = &m->br->sides[i].b;
		t[i] = b->nodes.at[v[i].u.t].type;
		known = body_import_source(b, v[i].u.t, &outer[i]) && known;
	}
	if (known && outer[0] == outer[1])
		return branch_add_slot(m, (struct merged){.kind = SLOT_SAME, .outer = outer[0]});
	dtype elem = dtype_widens(t[0].elem, t[1].elem) ? t[1].elem : dtype_widens(t[1].elem, t[0].elem) ? t[0].elem : DT_COUNT;
	if (!hir_same_shape(&t[0], &t[1]) || elem == DT_COUNT)
		return report_disagreement(m, v);
	t[0].elem = elem;
	return branch_add_slot(
		m, (struct merged){.kind = SLOT_BOTH, .refs = {side_cast(m, 0, v[0], elem), side_cast(m, 1, v[1], elem)}, .type = t[0]});
}

/* Merges two scalars of which at least one is known at compile time. */
static struct value merge_scalars(struct merge *m, const struct value *v)
{
	if (v[0].kind == V_BOOL && v[1].kind == V_BOOL)
		return branch_add_slot(m, (struct merged){.kind = v[0].u.b ? SLOT_COND : SLOT_NOT_COND});
	dtype t[2];
	for (uint32_t i = 0; i < 2; i++) {
		const struct hir_type *have = v[i].kind == V_TENSOR ? &m->br->sides[i].b.nodes.at[v[i].u.t].type : NULL;
		if (have && have->rank)
			return report_disagreement(m, v);
		t[i] = have ? have->elem : scalar_type(v[i]);
	}
	for (uint32_t i = 0; i < 2; i++) /* a literal takes the other's type if it fits */
		if (v[i].kind != V_TENSOR && !v[i].typed && scalar_converts(v[i], t[1 - i]))
			t[i] = t[1 - i];
	dtype elem = dtype_widens(t[0], t[1]) ? t[1] : dtype_widens(t[1], t[0]) ? t[0] : DT_COUNT;
	hir_ref refs[2] = {HIR_NONE, HIR_NONE};
	for (uint32_t i = 0; i < 2 && elem != DT_COUNT; i++)
		refs[i] = side_cast(m, i, v[i], elem);
	if (refs[0] == HIR_NONE || refs[1] == HIR_NONE)
		return report_disagreement(m, v);
	return branch_add_slot(m, (struct merged){.kind = SLOT_BOTH, .refs = {refs[0], refs[1]}, .type = {.elem = elem}});
}

/* A value that only one side has; the other is never read. */
static struct value merge_one_side(struct merge *m, uint32_t side, struct value v)
{
	hir_ref outer;
	if (value_is_seq(v)) {
		struct value out = value_seq(m->br->e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			out.u.seq->at[i] = merge_one_side(m, side, v.u.seq->at[i]);
		return out;
	}
	if (v.kind != V_TENSOR)
		return v.kind == V_RANGE && value_contains(v, V_TENSOR) ? VALUE_POISON : v;
	const struct builder *b = &m->br->sides[side].b;
	if (body_import_source(b, v.u.t, &outer))
		return branch_add_slot(m, (struct merged){.kind = SLOT_SAME, .outer = outer});
	struct merged s = {.kind = SLOT_BOTH, .refs = {HIR_NONE, HIR_NONE}, .type = b->nodes.at[v.u.t].type};
	s.refs[side] = v.u.t;
	return branch_add_slot(m, s);
}

static struct value merge_values(struct merge *m, struct value a, struct value b)
{
	struct value v[2] = {a, b};
	if (is_poison(a) || is_poison(b))
		return VALUE_POISON;
	if (a.kind == V_UNSET || b.kind == V_UNSET)
		return a.kind == V_UNSET ? a : b;
	if (a.kind == V_TENSOR && b.kind == V_TENSOR)
		return merge_tensors(m, v);
	if (value_is_seq(a) && a.kind == b.kind && a.u.seq->n == b.u.seq->n) {
		struct value out = value_seq(m->br->e->em.f->arena, a.kind, a.u.seq->n);
		for (uint32_t i = 0; i < out.u.seq->n; i++)
			out.u.seq->at[i] = merge_values(m, a.u.seq->at[i], b.u.seq->at[i]);
		return out;
	}
	if (value_is_same(a, b))
		return a;
	if (a.kind == V_RANGE && b.kind == V_RANGE && a.u.range->step == b.u.range->step) {
		struct range *r = ARENA_NEW(m->br->e->em.f->arena, struct range);
		*r = (struct range){merge_values(m, a.u.range->from, b.u.range->from), merge_values(m, a.u.range->to, b.u.range->to),
				    a.u.range->step};
		return (struct value){.kind = V_RANGE, .u.range = r};
	}
	bool numbers = (a.kind == V_TENSOR || value_is_scalar(a)) && (b.kind == V_TENSOR || value_is_scalar(b));
	return numbers ? merge_scalars(m, v) : report_disagreement(m, v);
}

static struct value merge_local(struct merge *m, uint32_t i)
{
	const struct elab *e = m->br->e;
	const struct branch_side *s = m->br->sides;
	struct value a = s[0].locals[i].value, b = s[1].locals[i].value;
	name_id name = s[0].locals[i].name;
	m->locals[0] = &s[0].locals[i];
	m->locals[1] = &s[1].locals[i];
	if (name == e->exit_names[EXIT_RESULT]) {
		if (a.kind == V_VOID || b.kind == V_VOID)
			return a.kind == V_VOID && b.kind == V_VOID ? a
			       : a.kind == V_VOID                   ? merge_one_side(m, 1, b)
								    : merge_one_side(m, 0, a);
	} else if (name != e->exit_names[EXIT_RETURNED] && !s[0].locals[i].state &&
		   (s[0].flow == FLOW_RETURN || s[1].flow == FLOW_RETURN)) {
		return s[0].flow == FLOW_RETURN ? merge_one_side(m, 1, b)
						: merge_one_side(m, 0, a); /* after a return, locals are never read */
	}
	return merge_values(m, a, b);
}

static struct value merge_results(struct merge *m)
{
	const struct branch_side *s = m->br->sides;
	m->locals[0] = m->locals[1] = NULL;
	bool exited[2] = {s[0].exited || is_exit(s[0].flow), s[1].exited || is_exit(s[1].flow)};
	if (exited[0] && exited[1])
		return (struct value){.kind = V_VOID};
	if (exited[0] || exited[1])
		return exited[0] ? merge_one_side(m, 1, s[1].value) : merge_one_side(m, 0, s[0].value);
	if (s[0].value.kind == V_VOID || s[1].value.kind == V_VOID || !m->br->value_wanted)
		return (struct value){.kind = V_VOID};
	return merge_values(m, s[0].value, s[1].value);
}

/* ---- selects and branches ---- */

static void emit_selects(struct merge *m)
{
	struct elab *e = m->br->e;
	uint32_t n = m->slots.len;
	for (uint32_t i = 0; i < 2; i++) {
		hir_ref *refs = ARENA_ARRAY(e->em.f->arena, hir_ref, n + 1);
		uint32_t used = 0;
		for (uint32_t k = 0; k < n; k++)
			if (m->slots.at[k].kind == SLOT_BOTH && m->slots.at[k].refs[i] != HIR_NONE)
				refs[used++] = m->slots.at[k].refs[i];
		body_inline(e, &m->br->sides[i].b, refs, used, false);
		used = 0;
		for (uint32_t k = 0; k < n; k++)
			if (m->slots.at[k].kind == SLOT_BOTH && m->slots.at[k].refs[i] != HIR_NONE)
				m->slots.at[k].refs[i] = refs[used++];
	}
	for (uint32_t k = 0; k < n; k++) {
		struct merged *s = &m->slots.at[k];
		if (s->kind != SLOT_BOTH)
			continue;
		struct hir_arg args[3] = {arg_tensor(m->br->cond), arg_tensor(s->refs[0]), arg_tensor(s->refs[1])};
		s->outer = s->refs[0] == HIR_NONE || s->refs[0] == s->refs[1] ? s->refs[1]
			   : s->refs[1] == HIR_NONE                           ? s->refs[0]
						    : emit_builtin(&e->em, BI_WHERE, &s->type, args, 3, m->br->at);
	}
}

static void branch_emit(struct merge *m)
{
	struct elab *e = m->br->e;
	struct body_unit units[2];
	uint32_t n = 0;
	hir_ref *refs = ARENA_ARRAY(e->em.f->arena, hir_ref, m->slots.len + 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct builder *outer = e->em.b;
		n = 0;
		e->em.b = &m->br->sides[i].b;
		for (uint32_t k = 0; k < m->slots.len; k++) {
			struct merged *s = &m->slots.at[k];
			if (s->kind == SLOT_BOTH)
				refs[n++] = s->refs[i] == HIR_NONE ? emit_placeholder(e, &s->type, m->br->at) : s->refs[i];
		}
		struct body_spec spec = {
			.outputs = refs, .n_outputs = n, .what = i ? "branch if false" : "branch if true", .at = m->br->at};
		units[i] = body_unit(e, &m->br->sides[i].b, &spec);
		e->em.b = outer;
	}
	if (!n && !units[0].unit->effects && !units[1].unit->effects)
		return;
	body_emit_if(e, m->br->cond, &units[0], &units[1], refs, m->br->at);
	n = 0;
	for (uint32_t k = 0; k < m->slots.len; k++)
		if (m->slots.at[k].kind == SLOT_BOTH)
			m->slots.at[k].outer = refs[n++];
}

static hir_ref merged_node(void *ctx, hir_ref slot)
{
	struct merge *m = ctx;
	struct merged *s = &m->slots.at[slot];
	if (s->kind == SLOT_COND)
		return m->br->cond;
	if (s->kind == SLOT_NOT_COND) {
		s->kind = SLOT_SAME;
		s->outer = emit_not(&m->br->e->em, m->br->cond, m->br->at);
	}
	return s->outer;
}

static enum flow join_flows(enum flow a, enum flow b) { return a == b ? a : FLOW_MAYBE; }

static void close_sides(struct branch *br)
{
	struct builder *outer = br->e->em.b;
	for (uint32_t i = 2; i-- > 0;) {
		if (!br->sides[i].locals)
			continue;
		br->sides[i].b.outer = outer;
		br->e->em.b = &br->sides[i].b;
		builder_close(&br->e->em);
	}
}

static struct value abandon_merge(struct branch *br, enum flow *flow)
{
	struct elab *e = br->e;
	for (uint32_t i = 0; i < br->n; i++) /* locals that a side changed are unknown */
		for (uint32_t k = 0; k < 2; k++)
			if (br->sides[k].locals && br->sides[k].locals[i].at.start != br->before[i].at.start)
				e->locals.at[e->frame->base + i].value = VALUE_POISON;
	*flow = join_flows(br->sides[0].flow, br->sides[1].flow);
	if (*flow == FLOW_MAYBE)
		*flow = FLOW_NEXT;
	if (*flow == FLOW_RETURN) {
		e->frame->returned = true;
		e->frame->result = VALUE_POISON;
	}
	exits_clear(e, true);
	close_sides(br);
	return VALUE_POISON;
}

struct value branch_merge(struct branch *br, enum flow *flow)
{
	struct elab *e = br->e;
	struct merge m = {.br = br};
	struct value *locals = ARENA_ARRAY(e->em.f->arena, struct value, br->n + 1);
	uint32_t cost = 0;
	if (e->em.report.errors != br->errors || e->em.report.gave_up)
		return abandon_merge(br, flow);
	for (uint32_t i = 0; i < br->n; i++)
		locals[i] = merge_local(&m, i);
	struct value v = merge_results(&m);
	if (m.failed) {
		vec_free(&m.slots);
		return abandon_merge(br, flow);
	}
	if (body_is_cheap(e, &br->sides[0].b, &cost) && body_is_cheap(e, &br->sides[1].b, &cost) && cost <= SELECT_COST)
		emit_selects(&m);
	else
		branch_emit(&m);
	for (uint32_t i = 0; i < br->n; i++) {
		struct local *l = &e->locals.at[e->frame->base + i];
		const struct branch_side *s = &br->sides[br->sides[0].locals[i].at.start == br->before[i].at.start];
		l->value = value_map_tensors(&e->em, locals[i], merged_node, &m);
		l->at = s->locals[i].at;
	}
	v = value_map_tensors(&e->em, v, merged_node, &m);
	*flow = join_flows(br->sides[0].flow, br->sides[1].flow);
	if (*flow == FLOW_RETURN) {
		e->frame->returned = true;
		e->frame->result = exit_local(e, EXIT_RESULT)->value;
		e->frame->result_at = exit_local(e, EXIT_RESULT)->at;
	}
	vec_free(&m.slots);
	close_sides(br);
	return v;
}

/* ---- one side alone ---- */

void branch_discard(struct branch *br) { close_sides(br); }

struct inlining {
	hir_ref *refs;
	uint32_t n;
	bool collect;
};

/* Called first to collect the tensors, then, in the same order, to replace them. */
static hir_ref collect_or_replace(void *ctx, hir_ref r)
{
	struct inlining *k = ctx;
	if (k->collect)
		k->refs[k->n] = r;
	return k->refs[k->n++];
}

static uint32_t branch_count_tensors(const struct branch_side *s)
{
	uint32_t n = value_count(s->value);
	for (uint32_t i = 0; i < s->n; i++)
		n += value_count(s->locals[i].value) + 2;
	return n;
}

struct value branch_inline(struct branch *br)
{
	struct elab *e = br->e;
	struct branch_side *s = &br->sides[!br->sides[0].locals];
	struct inlining k = {.refs = ARENA_ARRAY(e->em.f->arena, hir_ref, branch_count_tensors(s) + 2), .collect = true};
	for (uint32_t i = 0; i < s->n; i++)
		value_map_tensors(&e->em, s->locals[i].value, collect_or_replace, &k);
	value_map_tensors(&e->em, s->value, collect_or_replace, &k);
	body_inline(e, &s->b, k.refs, k.n, true);
	k.collect = false;
	k.n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		struct local *l = &e->locals.at[e->frame->base + i];
		*l = s->locals[i];
		l->value = value_map_tensors(&e->em, s->locals[i].value, collect_or_replace, &k);
	}
	struct value v = value_map_tensors(&e->em, s->value, collect_or_replace, &k);
	close_sides(br);
	return v;
}

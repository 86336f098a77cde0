/* Frames and their locals, and the values of locals after a branch or loop that is checked. */
#include "frontend/elab/locals.h"
#include <string.h>

void frame_push(struct elab *e, struct frame *fr)
{
	fr->up = e->frame;
	fr->base = e->locals.len;
	fr->site.up = e->em.report.site;
	fr->site.self = fr->self;
	e->frame = fr;
	e->em.report.site = &fr->site;
}

void frame_pop(struct elab *e)
{
	e->locals.len = e->frame->base;
	e->em.report.site = e->frame->site.up;
	e->frame = e->frame->up;
}

void local_push(struct elab *e, name_id name, struct value v, bool constant)
{
	struct local l = {.name = name, .constant = constant, .value = v, .at = SPAN_NONE};
	vec_push(&e->locals, l);
	while (e->em.f->elab.most_locals.len <= name)
		vec_push(&e->em.f->elab.most_locals, 0);
	if (e->em.f->elab.most_locals.at[name] < e->locals.len)
		e->em.f->elab.most_locals.at[name] = e->locals.len;
}

void local_note_type_error(struct elab *e, span at)
{
	const struct source *s = at.source == SPAN_NO_SOURCE ? NULL : sources_get(e->em.f->sources, at.source);
	for (uint32_t i = e->locals.len; s && e->em.checking && i-- > 0;) {
		struct local *l = &e->locals.at[i];
		const char *name = name_text(e->em.f, l->name);
		if (strlen(name) != at.end - at.start || memcmp(name, s->text + at.start, at.end - at.start) != 0)
			continue;
		if (++l->type_errors >= MOST_REPEATED)
			l->value = VALUE_POISON;
		return;
	}
}

struct local *local_find(struct elab *e, name_id name)
{
	uint32_t most = name < e->em.f->elab.most_locals.len ? e->em.f->elab.most_locals.at[name] : 0;
	for (uint32_t i = most < e->locals.len ? most : e->locals.len; i-- > e->frame->base;)
		if (e->locals.at[i].name == name)
			return &e->locals.at[i];
	return NULL;
}

void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n)
{
	*n = e->locals.len - e->frame->base;
	*copy = ARENA_ARRAY(e->em.f->arena, struct local, *n + 1);
	if (*n)
		memcpy(*copy, e->locals.at + e->frame->base, *n * sizeof **copy);
}

/* True if the values certainly differ in type or shape. */
static bool always_differ(struct elab *e, struct value a, struct value b, enum join_kind how)
{
	bool numbers = (a.kind == V_TENSOR || value_is_scalar(a)) && (b.kind == V_TENSOR || value_is_scalar(b));
	if (value_is_seq(a) && a.kind == b.kind)
		return a.u.seq->n != b.u.seq->n;
	if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		return !numbers && (a.kind == V_TENSOR || b.kind == V_TENSOR || (a.kind == V_LAYER && b.kind == V_LAYER));
	const struct hir_type *ta = type_of(&e->em, a.u.t), *tb = type_of(&e->em, b.u.t);
	bool differ = ta->rank != tb->rank;
	differ = differ || (!dtype_widens(tb->elem, ta->elem) && (how == JOIN_LOOP || !dtype_widens(ta->elem, tb->elem)));
	for (uint32_t i = 0; i < ta->rank && i < tb->rank; i++)
		differ = differ || dim_compare(e->em.b->dims, ta->dims[i], tb->dims[i]) < 0;
	return differ;
}

void report_branch_values(struct elab *e, span cond, const struct branch_values *v)
{
	bool tensors[2] = {v->elems[0] != DT_COUNT, v->elems[1] != DT_COUNT};
	const char *kind = tensors[0] || tensors[1] ? "types" : "values";
	struct diag *g =
		v->what ? report_error(&e->em, DIAG_BRANCH_TYPES, cond, "branches of a run-time `if` give %s different %s: %s and %s",
				       v->what, kind, v->texts[0], v->texts[1])
			: report_error(&e->em, DIAG_BRANCH_TYPES, cond, "branches of a run-time `if` have different %s: %s and %s", kind,
				       v->texts[0], v->texts[1]);
	diag_label_primary(e->em.report.out, g, "this condition is known only at run time");
	for (uint32_t i = 0; i < 2; i++)
		if (v->ats[i].source != SPAN_NO_SOURCE)
			diag_secondary(e->em.report.out, g, v->ats[i], "%s", v->texts[i]);
	if (tensors[0] && tensors[1] && v->elems[0] != v->elems[1])
		diag_help(e->em.report.out, g, "cast one of them: `%s(…)`", dtype_text(v->elems[0]));
	else if (tensors[0] || tensors[1])
		diag_help(e->em.report.out, g, "give both branches the same type and shape; `where(c, a, b)` broadcasts");
	else
		diag_help(e->em.report.out, g,
			  "only numbers and tensors can be chosen at run time: let the condition depend on constants and shapes only");
}

static void report_loop_values(struct elab *e, span loop, const struct branch_values *v)
{
	struct diag *g = report_error(&e->em, DIAG_LOOP_TYPES, loop, "%s is %s when the loop starts, and %s after an iteration",
				      v->what ? v->what : "this value", v->texts[0], v->texts[1]);
	diag_label_primary(e->em.report.out, g, "this loop's trip count is known only at run time");
	for (uint32_t i = 0; i < 2; i++)
		if (v->ats[i].source != SPAN_NO_SOURCE)
			diag_secondary(e->em.report.out, g, v->ats[i], "%s", v->texts[i]);
	if (v->elems[0] == DT_COUNT || v->elems[1] == DT_COUNT)
		diag_help(e->em.report.out, g, "only numbers and tensors can change in a run-time loop: iterate over a range of constants");
	else if (v->elems[0] != v->elems[1])
		diag_help(e->em.report.out, g, "cast it: `%s(…)`", dtype_text(v->elems[0]));
	else
		diag_help(
			e->em.report.out, g,
			"a value that a run-time loop changes keeps its type and shape: start with the full size, and fill it by `where`");
}

static void report_difference(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *l, span at)
{
	const struct value v[2] = {a, b};
	struct branch_values both = {.what = l ? arena_printf(e->em.f->arena, "`%s`", name_text(e->em.f, l->name)) : NULL};
	for (uint32_t i = 0; i < 2; i++) {
		bool tensor = v[i].kind == V_TENSOR;
		both.texts[i] = value_text(&e->em, v[i]);
		both.ats[i] = tensor ? node_at(&e->em, v[i].u.t)->at : SPAN_NONE;
		both.elems[i] = tensor ? type_of(&e->em, v[i].u.t)->elem : DT_COUNT;
	}
	if (how == JOIN_LOOP)
		report_loop_values(e, at, &both);
	else
		report_branch_values(e, at, &both);
}

/* One of two tensors of equal element type and rank: sizes that differ become unknown. */
static struct value either_tensor(struct elab *e, const struct hir_type *a, const struct hir_type *b, span at)
{
	struct hir_type t = *a;
	for (uint32_t i = 0; i < t.rank; i++)
		if (!dim_eq(t.dims[i], b->dims[i]))
			t.dims[i] = dim_new_sym(e->em.b->dims, "?");
	return value_tensor(emit_unknown_tensor(&e->em, &t, at));
}

struct value value_join(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *l, span at)
{
	if (value_is_same(a, b))
		return a;
	if (is_poison(a) || is_poison(b))
		return VALUE_POISON;
	if ((how == JOIN_BRANCH || how == JOIN_LOOP) && always_differ(e, a, b, how)) {
		report_difference(e, a, b, how, l, at);
		return VALUE_POISON;
	}
	if (a.kind != V_TENSOR || b.kind != V_TENSOR)
		return VALUE_POISON;
	const struct hir_type ta = *type_of(&e->em, a.u.t), tb = *type_of(&e->em, b.u.t);
	bool loop = how == JOIN_LOOP || how == JOIN_COMPILE_TIME_LOOP; /* sizes that one iteration keeps, a second one may change */
	bool known = ta.elem == tb.elem && (loop ? hir_same_shape(&ta, &tb) : ta.rank == tb.rank);
	return known ? either_tensor(e, &ta, &tb, at) : VALUE_POISON;
}

void locals_join(struct elab *e, const struct local *before, uint32_t n, enum join_kind how, span at)
{
	for (uint32_t i = 0; i < n; i++) {
		struct local *now = &e->locals.at[e->frame->base + i];
		now->value = value_join(e, before[i].value, now->value, how, now, at);
	}
}

void locals_restore(struct elab *e, const struct local *from, uint32_t n)
{
	if (n)
		memcpy(e->locals.at + e->frame->base, from, n * sizeof *from);
}

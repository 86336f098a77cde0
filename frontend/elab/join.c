/* Joins of values, and the errors of those that a run-time branch or loop cannot join. */
#include "frontend/elab/join.h"
#include "frontend/elab/function.h"
#include "frontend/elab/unknown_list.h"

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

static void report_difference(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *local, span at)
{
	const struct value v[2] = {a, b};
	struct branch_values both = {.what = local ? arena_printf(e->em.f->arena, "`%s`", name_text(e->em.f, local->name)) : NULL};
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

/* ---- the join ---- */

dim joined_size(struct elab *e)
{
	vec_push(&e->em.b->joined, dims_syms(e->em.b->dims));
	return dim_new_sym(e->em.b->dims, "?");
}

/* True for a symbol that this join made, so that it covers every size. */
static bool covers_all(const struct join *j, dim d)
{
	const struct builder *b = j->e->em.b;
	uint32_t sym;
	if (!dim_is_sym(b->dims, d, &sym) || sym < j->own)
		return false;
	for (uint32_t i = b->joined.len; i-- > 0 && b->joined.at[i] >= sym;)
		if (b->joined.at[i] == sym)
			return true;
	return false;
}

static struct value join_to_poison(struct join *j)
{
	j->changed = true;
	return VALUE_POISON;
}

static struct value join_tensors(struct join *j, struct value a, struct value b)
{
	struct emitter *em = &j->e->em;
	struct hir_type t = *type_of(em, a.u.t);
	const struct hir_type *other = type_of(em, b.u.t);
	if (t.elem != other->elem || t.rank != other->rank)
		return join_to_poison(j);
	for (uint32_t i = 0; i < t.rank; i++) {
		if (dim_eq(t.dims[i], other->dims[i]) || covers_all(j, t.dims[i]) || j->how != JOIN_COMPILE_TIME)
			continue; /* at run time they are equal, or it is an error */
		other = type_of(em, b.u.t);
		t.dims[i] = joined_size(j->e);
		j->changed = true;
	}
	return value_tensor(emit_unknown_tensor(em, &t, j->at));
}

/* Numbers that a run-time loop or branch changes are tensors, whose element type the elaboration of an entry finds. */
static struct value join_integers(struct join *j, struct value a, struct value b)
{
	if (j->how != JOIN_COMPILE_TIME || a.typed != b.typed)
		return join_to_poison(j);
	if (a.kind == V_DIM && covers_all(j, a.u.d))
		return a;
	j->changed = true;
	return (struct value){.kind = V_DIM, .typed = a.typed, .u.d = joined_size(j->e)};
}

static struct value join_elements(struct join *j, struct value a, struct value b)
{
	struct value out = value_seq(j->e->em.f->arena, a.kind, a.u.seq->n);
	for (uint32_t i = 0; i < out.u.seq->n; i++)
		out.u.seq->at[i] = join_values(j, a.u.seq->at[i], b.u.seq->at[i]);
	return out;
}

/* Two instances of one layer: an instance whose arguments are joined. */
static struct value join_layers(struct join *j, struct value a, struct value b)
{
	const struct instance *x = a.u.layer, *y = b.u.layer;
	struct join args = *j;
	if (x->item != y->item || x->generic || y->generic)
		return join_to_poison(j);
	uint32_t n = instance_arguments(x);
	struct value *joined = ARENA_ARRAY(j->e->em.f->arena, struct value, n + 1);
	args.changed = x->given != y->given;
	for (uint32_t i = 0; i < n; i++)
		joined[i] = join_values(&args, x->members[i].value, y->members[i].value);
	if (!args.changed)
		return a;
	j->changed = true;
	return instantiate_again(j->e, x, joined);
}

static bool join_is_integer(struct value v) { return v.kind == V_INT || v.kind == V_DIM; }

struct value join_values(struct join *j, struct value a, struct value b)
{
	bool lists = (is_unknown_list(a) || a.kind == V_LIST) && (is_unknown_list(b) || b.kind == V_LIST);
	if (lists && (is_poison(a) || is_poison(b) || (a.u.seq->n != b.u.seq->n && j->how == JOIN_COMPILE_TIME)))
		return join_unknown_lists(j, a, b);
	if (value_is_same(a, b) && !is_unknown_list(a))
		return a;
	if (is_poison(a) || is_poison(b)) {
		j->changed = j->changed || !is_poison(a) || a.u.element;
		return VALUE_POISON;
	}
	if (a.kind == V_UNSET || b.kind == V_UNSET) /* a layer that is used may decide otherwise */
		return j->how == JOIN_COMPILE_TIME ? join_to_poison(j) : a.kind == V_UNSET ? a : b;
	if (j->how != JOIN_COMPILE_TIME && always_differ(j->e, a, b, j->how)) {
		report_difference(j->e, a, b, j->how, j->local, j->at);
		return join_to_poison(j);
	}
	if (a.kind == V_TENSOR && b.kind == V_TENSOR)
		return join_tensors(j, a, b);
	if (join_is_integer(a) && join_is_integer(b))
		return join_integers(j, a, b);
	if (value_is_seq(a) && a.kind == b.kind && a.u.seq->n == b.u.seq->n)
		return join_elements(j, a, b);
	if (a.kind == V_LAYER && b.kind == V_LAYER)
		return join_layers(j, a, b);
	return join_to_poison(j);
}

struct value value_join(struct elab *e, struct value a, struct value b, enum join_kind how, const struct local *local, span at)
{
	struct join j = {.e = e, .how = how, .local = local, .at = at, .own = UINT32_MAX};
	return join_values(&j, a, b);
}

void locals_join(struct elab *e, const struct local *before, uint32_t n, enum join_kind how, span at)
{
	for (uint32_t i = 0; i < n; i++) {
		struct local *now = &e->locals.at[e->frame->base + i];
		now->value = value_join(e, before[i].value, now->value, how, now, at);
	}
}

/* Members of values: `x.shape`, `layer.weight`, `module.f`, `float32.max`. */
#include "frontend/elab/expr.h"
#include <string.h>
#include "frontend/elab/function.h"
#include "frontend/elab/index_value.h"
#include "frontend/habits/habits.h"
#include "frontend/names/index_note.h"

static struct value tensor_shape(struct elab *e, hir_ref r)
{
	struct hir_type t = *type_of(&e->em, r);
	struct value v = value_seq(e->em.f->arena, V_LIST, t.rank);
	for (uint32_t i = 0; i < t.rank; i++)
		v.u.seq->at[i] = value_dim(e->em.b->dims, t.dims[i]);
	return v;
}

static struct value tensor_size(struct elab *e, hir_ref r, span at)
{
	struct hir_type t = *type_of(&e->em, r);
	dim d = dim_const(e->em.b->dims, 1);
	for (uint32_t i = 0; i < t.rank; i++)
		d = dim_mul(e->em.b->dims, d, t.dims[i]);
	if (dims_overflowed(e->em.b->dims))
		return report_poison(&e->em, DIAG_CONST_ARITH, at, "the number of elements overflows 64 bits");
	return value_dim(e->em.b->dims, d);
}

static bool scalar_member(struct elab *e, struct value v, const char *name, struct value *out)
{
	if (!strcmp(name, "shape"))
		return *out = value_seq(e->em.f->arena, V_LIST, 0), true;
	if (!strcmp(name, "dtype"))
		return *out = (struct value){.kind = V_DTYPE, .u.dt = scalar_type(v)}, true;
	if (!strcmp(name, "rank") || !strcmp(name, "size"))
		return *out = value_int(*name == 's'), true;
	return false;
}

/* `norm.weight`: a parameter in a member whose name begins with `_`, as in the names of parameters. */
static bool hidden_param(struct elab *e, const struct instance *in, name_id name, span at, struct value *out)
{
	for (uint32_t i = 0; i < in->n_members; i++) {
		const struct member *holder = &in->members[i];
		if (holder->kind != M_VALUE || holder->value.kind != V_LAYER || holder->is_arg || *name_text(e->em.f, holder->name) != '_')
			continue;
		struct instance *inner = holder->value.u.layer;
		struct member *m = instance_member(inner, name);
		if (m && m->kind == M_PARAM)
			return *out = member_value(e, inner, m, at), true;
		if (hidden_param(e, inner, name, at, out))
			return true;
	}
	return false;
}

/* `linear.bias`: the parameter in the member `_bias`, or none, in place of the argument `bias`, a bool. */
static bool hidden_value(struct elab *e, const struct instance *in, name_id name, span at, struct value *out)
{
	const char *hidden = text_join(&e->em, "_", name_text(e->em.f, name), "", "");
	const struct member *holder = instance_member(in, intern_str(e->em.f->names, hidden));
	if (holder && holder->kind == M_VALUE && holder->value.kind == V_NONE)
		return *out = holder->value, true;
	return hidden_param(e, in, name, at, out);
}

/* A member of a value. False: it has none of the name. */
bool value_member(struct elab *e, struct value v, name_id name, span at, struct value *out)
{
	const char *text = name_text(e->em.f, name);
	if (v.kind == V_TENSOR) {
		if (!strcmp(text, "shape"))
			return *out = tensor_shape(e, v.u.t), true;
		if (!strcmp(text, "dtype"))
			return *out = (struct value){.kind = V_DTYPE, .u.dt = type_of(&e->em, v.u.t)->elem}, true;
		if (!strcmp(text, "rank"))
			return *out = value_int(type_of(&e->em, v.u.t)->rank), true;
		if (!strcmp(text, "size"))
			return *out = tensor_size(e, v.u.t, at), true;
	} else if (value_is_scalar(v)) {
		return scalar_member(e, v, text, out);
	} else if (v.kind == V_LAYER) {
		struct member *m = instance_member(v.u.layer, name);
		if ((!m || m->is_arg) && hidden_value(e, v.u.layer, name, at, out))
			return true;
		if (m)
			return *out = member_value(e, v.u.layer, m, at), true;
		if (v.u.layer->failed)
			return *out = VALUE_POISON, true;
	} else if (v.kind == V_DTYPE) {
		return number_limit(v.u.dt, text, out);
	} else if (v.kind == V_TYPE) {
		return v.u.item && alias_member(e, v.u.item, text, out);
	} else if (v.kind == V_MODULE) {
		struct item *it = module_find(v.u.mod, name);
		if (it)
			return *out = item_value(e, it, at), true;
		if (v.u.mod->loading || v.u.mod->failed)
			return *out = VALUE_POISON, true;
	}
	return false;
}

static void member_names(struct elab *e, struct value v, void (*add)(void *, const char *), void *ctx)
{
	if (v.kind == V_TENSOR) {
		add(ctx, "shape"), add(ctx, "dtype"), add(ctx, "rank"), add(ctx, "size");
		for (uint32_t i = 0; i < e->em.f->prelude.names.len; i++)
			add(ctx, e->em.f->prelude.names.at[i]);
	} else if (v.kind == V_DTYPE) {
		static const char *const limits[] = {"inf", "nan", "max", "min", "eps"};
		struct value limit;
		for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
			if (number_limit(v.u.dt, limits[i], &limit))
				add(ctx, limits[i]);
	} else if (v.kind == V_LAYER) {
		for (uint32_t i = 0; i < v.u.layer->n_members; i++)
			add(ctx, name_text(e->em.f, v.u.layer->members[i].name));
	} else if (v.kind == V_MODULE) {
		for (uint32_t i = 0; i < v.u.mod->n_items; i++)
			if (v.u.mod->items[i].name)
				add(ctx, name_text(e->em.f, v.u.mod->items[i].name));
	}
}

struct name_list {
	VEC(const char *) at;
};
static void member_add_name(void *ctx, const char *s)
{
	struct name_list *l = ctx;
	vec_push(&l->at, s);
}

/* Help for `x.fc()`, where `fc` is a layer: call it with the tensor. */
static bool member_as_method(struct elab *e, struct diag *g, struct value object, node_id n, name_id name)
{
	const struct tokens *t = &elab_tree(e)->tokens;
	struct value callee;
	token_id open = ast_token(elab_tree(e), n) + 1;
	suppress_diags(&e->em);
	bool layer = object.kind == V_TENSOR && name_lookup(e, name, SPAN_NONE, &callee) && callee.kind == V_LAYER;
	restore_diags(&e->em);
	if (!layer)
		return false;
	span whole = elab_span(e, n), left = elab_span(e, ast_a(elab_tree(e), n));
	const char *x = arena_strndup(e->em.f->arena, t->src->text + left.start, left.end - left.start),
		   *callee_name = name_text(e->em.f, name);
	diag_help(e->em.report.out, g, "call the layer with its input: `%s(%s)`", callee_name, left.end - left.start <= 40 ? x : "x");
	if (open + 1 >= t->len || token_kind(t, open) != TOK_LPAREN || token_kind(t, open + 1) != TOK_RPAREN)
		return true;
	whole.end = t->ends[open + 1];
	diag_edit(e->em.report.out, g, whole, arena_printf(e->em.f->arena, "%s(%s)", callee_name, x));
	return true;
}

/* Help for `x.relu`, where `relu` is a function that is not called. */
static bool method_without_call(struct elab *e, struct diag *g, struct value object, node_id n, name_id name)
{
	struct value callee;
	span at = tok_span(e->frame->mod, ast_token(elab_tree(e), n));
	if (object.kind != V_TENSOR || !prelude_lookup(e, name, &callee) || callee.kind != V_BUILTIN)
		return false;
	diag_help(e->em.report.out, g, "`%s` is a function; call it: `.%s()`", name_text(e->em.f, name), name_text(e->em.f, name));
	diag_guess(e->em.report.out, g, (span){at.source, at.end, at.end}, "()");
	return true;
}

/* Help for `float32.infinity`, `int8.lowest` and other names of a limit. */
static void element_type_help(struct elab *e, struct diag *g, dtype t, span at, const char *name)
{
	struct value limit;
	const char *other = !strcmp(name, "lowest") ? "min" : !strcmp(name, "infinity") ? "inf" : !strcmp(name, "epsilon") ? "eps" : name;
	if (number_limit(t, other, &limit)) {
		diag_help(e->em.report.out, g, "its name here is `%s.%s`", dtype_text(t), other);
		diag_edit(e->em.report.out, g, at, other);
		return;
	}
	diag_help(e->em.report.out, g,
		  t == DT_TRIT ? "`random_ternary([3, 4])` makes random trits" : "to cast, call the type: `float32(x)`");
}

struct value report_no_member(struct elab *e, struct value v, node_id n, name_id name)
{
	if (report_missing_arguments(&e->em, v, elab_span(e, ast_a(elab_tree(e), n))))
		return VALUE_POISON;
	if (v.kind == V_MODULE) /* reported by the resolver */
		return VALUE_POISON;
	span at = tok_span(e->frame->mod, ast_token(elab_tree(e), n));
	const char *what = v.kind == V_LAYER    ? arena_printf(e->em.f->arena, "layer `%s`", name_text(e->em.f, v.u.layer->item->name))
			   : v.kind == V_MODULE ? arena_printf(e->em.f->arena, "module `%s`", v.u.mod->path)
						: value_text(&e->em, v);
	struct diag *g = report_error(&e->em, DIAG_UNKNOWN_MEMBER, at, "%s has no member `%s`", what, name_text(e->em.f, name));
	if (v.kind == V_TYPE)
		diag_cause(e->em.report.out, g, "member of a type"); /* `Image.shape` and `Image.dtype` are one mistake */
	struct name_list l = {0};
	unsigned use = v.kind == V_TENSOR                                           ? HABIT_TENSOR
		       : v.kind == V_LIST || v.kind == V_TUPLE || v.kind == V_RANGE ? HABIT_LIST
		       : v.kind == V_STR                                            ? HABIT_TEXT
		       : v.kind == V_LAYER                                          ? HABIT_INSTANCE
										    : 0;
	member_names(e, v, member_add_name, &l);
	if (v.kind == V_LAYER_CLASS)
		diag_help(e->em.report.out, g, "this is a layer, not an instance: make one, `let layer = %s(…)`, and use that",
			  name_text(e->em.f, v.u.item->name));
	else if (v.kind == V_TYPE)
		diag_help(e->em.report.out, g,
			  "`.shape`, `.dtype` and `.rank` are members of a tensor, `x.shape`, or of an alias whose sizes are numbers");
	else if (v.kind == V_DTYPE)
		element_type_help(e, g, v.u.dt, at, name_text(e->em.f, name));
	else if (!method_without_call(e, g, v, n, name) && !member_as_method(e, g, v, n, name) &&
		 !habit_name_help(e->em.report.out, g, &elab_tree(e)->tokens, ast_token(elab_tree(e), n), use))
		diag_did_you_mean(e->em.report.out, g, at, name_text(e->em.f, name), l.at.at, l.at.len);
	vec_free(&l.at);
	return VALUE_POISON;
}

/* Candidates for an editor's completion after the dot. */
void offer_value_members(struct elab *e, node_id n, struct value object)
{
	if (index_asked(e->em.f, tok_span(e->frame->mod, ast_token(elab_tree(e), n))) && !e->em.report.suppressed)
		index_offer_members(e, object);
}

#include "frontend/elab/states.h"
#include <string.h>
#include "frontend/elab/expr.h"
#include "frontend/elab/locals.h"
#include "frontend/rules/builtin.h"
#include "frontend/types/sig.h"

/* Checking: a value of unknown filled length. */
static struct value unknown_state(struct elab *e, const struct layer_param *p, span at)
{
	struct hir_type t = p->type;
	for (uint32_t i = 0; i < t.rank && p->dims != e->em.b->dims; i++) {
		int64_t v;
		if (!dim_is_const(p->dims, t.dims[i], &v))
			return VALUE_POISON;
		t.dims[i] = dim_const(e->em.b->dims, v);
	}
	if (p->axis != STATE_FIXED)
		t.dims[p->axis] = dim_new_sym(e->em.b->dims, name_text(e->em.f, p->capacity));
	return value_tensor(emit_unknown_tensor(&e->em, &t, at));
}

static struct builder *unit_builder(const struct elab *e)
{
	struct builder *b = e->em.b;
	while (b->body)
		b = b->outer;
	return b;
}

void state_touch(struct elab *e, const struct layer_param *p) { map_put(&unit_builder(e)->touched, map_key_u64(p->id), 1); }

bool state_is_touched(const struct elab *e, const struct layer_param *p)
{
	return map_get(&unit_builder(e)->touched, map_key_u64(p->id), NULL);
}

/* The local of a state; NULL: it has no value here (reported). */
static struct local *find_local(struct elab *e, const struct layer_param *p, span at)
{
	struct local *l = local_find(e, p->local);
	if (l)
		return l;
	struct diag *g = report_error(&e->em, DIAG_STATE_USE, at, "state `%s` has no value here", name_text(e->em.f, p->name));
	diag_secondary(e->em.report.out, g, p->at, "declared here");
	diag_help(e->em.report.out, g, "a state exists while its model runs: use it in the functions of its layer");
	return NULL;
}

static struct local *state_local(struct elab *e, const struct layer_param *p, span at)
{
	struct local *l = find_local(e, p, at);
	if (l)
		state_touch(e, p);
	return l;
}

bool state_is_known(struct elab *e, const struct layer_param *p, struct value *v)
{
	const struct local *l = p->has_type ? local_find(e, p->local) : NULL;
	*v = l ? l->value : VALUE_POISON;
	return l;
}

void state_set(struct elab *e, const struct layer_param *p, struct value v, span at)
{
	struct local *l = state_local(e, p, at);
	l->value = v;
	l->at = at;
}

struct value state_value(struct elab *e, struct layer_param *p, span at)
{
	if (!p->has_type)
		return VALUE_POISON;
	if (e->em.checking)
		return unknown_state(e, p, at);
	const struct local *l = state_local(e, p, at);
	return l ? l->value : VALUE_POISON;
}

struct layer_param *find_state(struct elab *e, name_id name)
{
	const struct member *m = e->frame->self && !local_find(e, name) ? instance_member(e->frame->self, name) : NULL;
	return m && m->kind == M_STATE ? m->param : NULL;
}

/* ---- changes ---- */

/* Converts a value to the declared type, in which the size that grows is any. False: reported, or not known. */
static bool fits_state(struct elab *e, const struct layer_param *p, struct value *v, span at, const char *what)
{
	struct module *mod = p->owner->item->mod;
	struct sig s;
	sig_open(&s, &e->em, mod, p->owner);
	struct type *t = sig_type(&s, ast_const(&mod->ast, p->node).type);
	bool ok = sig_match(&s, t, v, &(struct sig_site){what, at, t->at, NULL}) && sig_solve(&s);
	sig_close(&s);
	return ok && v->kind == V_TENSOR;
}

void assign_state(struct elab *e, struct layer_param *p, struct value v, span at)
{
	if (!p->has_type || !fits_state(e, p, &v, at, text_join(&e->em, "the value of state `", name_text(e->em.f, p->name), "`", "")) ||
	    e->em.checking)
		return;
	if (find_local(e, p, at))
		state_set(e, p, v, at);
}

/* The state that a call appends to, or NULL. */
static struct layer_param *appended_state(struct elab *e, node_id call)
{
	node_id target = ast_a(elab_tree(e), call);
	if (ast_kind(elab_tree(e), target) != NODE_MEMBER || !token_is(&elab_tree(e)->tokens, ast_token(elab_tree(e), target), "append"))
		return NULL;
	node_id object = ast_a(elab_tree(e), target);
	return ast_kind(elab_tree(e), object) == NODE_NAME ? find_state(e, elab_name(e, ast_token(elab_tree(e), object))) : NULL;
}

/* The arguments of an append: the rows, and the dimension. False: reported. */
static bool append_arguments(struct elab *e, node_id call, node_id *rows, node_id *along)
{
	struct ast_nodes args = ast_nodes(elab_tree(e), ast_b(elab_tree(e), call));
	*rows = *along = AST_NONE;
	for (uint32_t i = 0; i < args.n; i++) {
		node_id n = args.at[i];
		bool named = ast_kind(elab_tree(e), n) == NODE_NAMED_ARG;
		token_id name = ast_token(elab_tree(e), n);
		const struct tokens *t = &elab_tree(e)->tokens;
		if (!named && !i)
			*rows = n;
		else if (!*along && *rows && (named ? token_is(t, name, "dim") || token_is(t, name, "axis") : i == 1))
			*along = named ? ast_a(elab_tree(e), n) : n;
		else
			args.n = *rows = 0;
	}
	if (*rows)
		return true;
	struct diag *g = report_error(&e->em, DIAG_STATE_USE, elab_span(e, call), "`append` of a state takes a tensor and a dimension");
	diag_help(e->em.report.out, g, "write `k.append(x, dim=2)`");
	return false;
}

/* Checks that a state grows along the dimension with its capacity. */
static bool append_dim_fits(struct elab *e, const struct layer_param *p, node_id call, node_id along)
{
	const char *name = name_text(e->em.f, p->name);
	span at = elab_span(e, along ? along : call);
	if (p->axis == STATE_FIXED) {
		struct diag *g = report_error(&e->em, DIAG_STATE_USE, at, "state `%s` has no capacity, so it cannot grow", name);
		diag_secondary(e->em.report.out, g, p->at, "declared here");
		diag_help(e->em.report.out, g, "give one dimension a capacity, `cap T`; `%s = …` replaces the value", name);
		return false;
	}
	struct value v = along ? eval(e, along) : value_int(p->axis);
	if (is_poison(v) || (v.kind == V_INT && (v.u.i == p->axis || v.u.i + p->type.rank == p->axis)))
		return true;
	struct diag *g = report_error(&e->em, DIAG_STATE_USE, at, "state `%s` grows along dimension %u, which has the capacity `%s`", name,
				      p->axis, name_text(e->em.f, p->capacity));
	diag_secondary(e->em.report.out, g, p->at, "declared here");
	diag_edit(e->em.report.out, g, at, arena_printf(e->em.f->arena, "%u", p->axis));
	return false;
}

static void states_append(struct elab *e, struct layer_param *p, struct value rows, span at)
{
	struct local *l = e->em.checking ? NULL : state_local(e, p, at);
	if (!l)
		return;
	struct value both = value_seq(e->em.f->arena, V_LIST, 2);
	both.u.seq->at[0] = l->value;
	both.u.seq->at[1] = rows;
	struct arg list[2] = {{.v = both, .at = at}, {.v = value_int(p->axis), .at = at}};
	struct args args = {2, list};
	state_set(e, p, call_builtin(&e->em, BI_CONCAT, &args, at), at);
}

bool exec_state_append(struct elab *e, node_id call)
{
	struct layer_param *p = appended_state(e, call);
	node_id rows, along;
	if (!p)
		return false;
	if (!append_arguments(e, call, &rows, &along))
		return true;
	struct value v = eval(e, rows);
	if (!append_dim_fits(e, p, call, along) || !p->has_type)
		return true;
	const char *what = text_join(&e->em, "the value appended to state `", name_text(e->em.f, p->name), "`", "");
	if (fits_state(e, p, &v, elab_span(e, rows), what))
		states_append(e, p, v, elab_span(e, call));
	return true;
}

/* ---- main ---- */

static struct value zeros_of(struct elab *e, const struct layer_param *p)
{
	struct value shape = value_seq(e->em.f->arena, V_LIST, p->type.rank);
	for (uint32_t i = 0; i < p->type.rank; i++)
		shape.u.seq->at[i] = value_dim(p->dims, p->type.dims[i]);
	struct arg list[2] = {{.v = shape, .at = p->at}, {.v = {.kind = V_DTYPE, .u.dt = p->type.elem}, .at = p->at}};
	list[1].name = intern_str(e->em.f->names, "dtype");
	struct args args = {2, list};
	return call_builtin(&e->em, BI_ZEROS, &args, p->at);
}

/* The initial value in the declaration of a state. */
static struct value declared_value(struct elab *e, struct layer_param *p, node_id value)
{
	struct module *m = p->owner->item->mod;
	struct frame fr = {.site.at = SPAN_NONE, .mod = m, .self = p->owner};
	uint64_t seed = e->em.seed;
	frame_push(e, &fr);
	const char *name = name_text(e->em.f, p->name);
	e->em.seed = hash_bytes(name, strlen(name)).lo | 1;
	struct value v = eval(e, value);
	bool fits = fits_state(e, p, &v, node_span(m, value), "the initial value");
	e->em.seed = seed;
	frame_pop(e);
	return fits ? v : VALUE_POISON;
}

void state_begin(struct elab *e, struct layer_param *p)
{
	if (e->em.checking || !p->has_type || local_find(e, p->local))
		return;
	node_id value = ast_const(&p->owner->item->mod->ast, p->node).value;
	local_push(e, p->local, value ? declared_value(e, p, value) : zeros_of(e, p), false);
	e->locals.at[e->locals.len - 1].state = true;
}

/* ---- units ---- */

void states_enter(struct elab *e, const struct unit_states *states)
{
	e->frame->states = states;
	for (uint32_t i = 0; states && i < states->n; i++) {
		local_push(e, states->at[i]->local, states->values[i], false);
		e->locals.at[e->locals.len - 1].state = true;
	}
}

void states_leave(struct elab *e)
{
	const struct unit_states *states = e->frame->states;
	for (uint32_t i = 0; states && i < states->n; i++) {
		const struct local *l = local_find(e, states->at[i]->local);
		states->values[i] = l ? l->value : VALUE_POISON;
	}
}

bool states_are_known(struct elab *e, const struct instance *in)
{
	struct value v;
	for (uint32_t i = 0; in && in->states && i < in->states->n; i++)
		if (state_is_known(e, in->states->at[i], &v))
			return true;
	return false;
}

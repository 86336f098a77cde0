/* The values of names. */
#include "frontend/elab/expr.h"
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/states.h"
#include "frontend/elab/unit.h"
#include "frontend/types/sig.h"

/* ---- items ---- */

struct func *item_func(struct frontend *f, struct item *it)
{
	if (!it->checked.func) {
		it->checked.func = ARENA_NEW(f->session, struct func);
		*it->checked.func = (struct func){.mod = it->mod, .item = it, .node = it->node, .name = it->name};
	}
	return it->checked.func;
}

/* The number of constants of one `let` or `const`, and the first of them. */
static uint32_t constants_of_let(struct item *it, struct item **first)
{
	uint32_t n = 1;
	*first = item_first(it);
	while (*first + n < it->mod->items + it->mod->n_items && (*first)[n].node == it->node)
		n++;
	return n;
}

/* Evaluates a `const` or `let` into locals of the frame. */
static void exec_constant(struct elab *e, struct item *it)
{
	const struct ast *t = &it->mod->ast;
	if (ast_kind(t, it->node) == NODE_LET) {
		exec(e, it->node, NULL);
		return;
	}
	struct ast_const c = ast_const(t, it->node);
	struct value v = eval(e, c.value);
	if (c.type)
		v = sig_coerce(&e->em, e->frame->mod, c.type, v, elab_span(e, c.value), "constant", NULL);
	index_note_value(e, c.name, v);
	local_push(e, it->name, v, true);
}

/* Evaluates the n constants from `first` on. Random values in them are seeded by the first name, so that every use has the same ones. */
static void eval_constants(struct elab *e, struct item *first, uint32_t n, struct value *out)
{
	struct frame fr = {.site.at = SPAN_NONE, .mod = first->mod};
	struct param_list *main_params = e->main_params;
	const char *name = name_text(e->em.f, token_name(e->em.f, first->mod, first->name_token));
	uint64_t seed = e->em.seed;
	frame_push(e, &fr);
	e->em.report.depth++;
	e->em.seed = hash_bytes(name, strlen(name)).lo | 1;
	e->main_params = NULL;
	exec_constant(e, first);
	for (uint32_t i = 0; i < n; i++) {
		const struct local *l = local_find(e, token_name(e->em.f, first->mod, first[i].name_token));
		out[i] = l && !is_poison(l->value) ? l->value : VALUE_POISON;
	}
	e->main_params = main_params;
	e->em.seed = seed;
	e->em.report.depth--;
	frame_pop(e);
}

/* Evaluates constants once, with errors shown, in a unit of their own. Those that contain tensors are evaluated again in each unit that
 * uses them. */
static void eval_constants_once(struct elab *e, struct item *first, uint32_t n)
{
	struct builder scratch;
	struct arena *work = e->em.f->arena;
	struct value *values = ARENA_ARRAY(e->em.f->session, struct value, n);
	int suppressed = e->em.report.suppressed;
	struct reads reads;
	e->em.f->arena = e->em.f->session;
	for (uint32_t i = 0; i < n; i++)
		first[i].checked.state = ITEM_BUSY;
	e->em.report.suppressed = 0;
	e->em.report.out = e->em.f->diags;
	builder_open(&e->em, &scratch);
	reads_open(&e->em, &reads);
	eval_constants(e, first, n, values);
	struct item_reads read = reads_close(&e->em);
	builder_close(&e->em);
	e->em.f->arena = work;
	e->em.report.suppressed = suppressed;
	if (suppressed)
		e->em.report.out = e->em.report.discarded;
	for (uint32_t i = 0; i < n; i++) {
		first[i].checked.value = &values[i];
		first[i].checked.reads = read;
		first[i].checked.state = ITEM_DONE;
		if (value_contains(values[i], V_TENSOR))
			values[i].kind = V_VOID;
	}
}

static struct value const_value(struct elab *e, struct item *it, span at)
{
	if (it->checked.state == ITEM_BUSY) {
		struct diag *g = report_error(&e->em, DIAG_RECURSION, tok_span(it->mod, it->name_token),
					      "constant `%s` is defined in terms of itself", name_text(e->em.f, it->name));
		diag_secondary(e->em.report.out, g, at, "used here");
		return VALUE_POISON;
	}
	struct item *first;
	uint32_t n = constants_of_let(it, &first);
	if (it->checked.state == ITEM_NEW)
		eval_constants_once(e, first, n);
	if (it->checked.value->kind != V_VOID)
		return *it->checked.value;
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, n);
	eval_constants(e, first, n, values);
	return values[it - first];
}

struct value item_value(struct elab *e, struct item *it, span at)
{
	it = item_resolve_import(e->em.f, it);
	if (!it || it->has_syntax_error)
		return VALUE_POISON;
	reads_note(&e->em, it, it->kind == ITEM_FN || it->kind == ITEM_LAYER ? READ_INTERFACE : READ_WHOLE);
	switch (it->kind) {
	case ITEM_FN:
	case ITEM_LAYER: return (struct value){.kind = V_FN, .u.fn = item_func(e->em.f, it)};
	case ITEM_MODULE_LAYER: return (struct value){.kind = V_LAYER_CLASS, .u.item = it};
	case ITEM_CONST: return const_value(e, it, at);
	case ITEM_TYPE: return (struct value){.kind = V_TYPE, .u.item = it};
	case ITEM_IMPORT: return it->import.target ? (struct value){.kind = V_MODULE, .u.mod = it->import.target} : VALUE_POISON;
	case ITEM_FROM:
	case ITEM_MAIN: break;
	}
	return VALUE_POISON;
}

/* ---- members ---- */

/* A lazy member that was evaluated in the current unit or, if that is a body, in an enclosing one. */
static struct value *find_lazy_member(struct elab *e, const struct instance *in, name_id name)
{
	struct builder *b = e->em.b;
	for (uint32_t i = b->lazies.len; i-- > 0;)
		if (b->lazies.at[i].owner == in && b->lazies.at[i].name == name)
			return &b->lazies.at[i].value;
	if (!b->body)
		return NULL;
	e->em.b = b->outer;
	const struct value *outer = find_lazy_member(e, in, name);
	e->em.b = b;
	if (!outer)
		return NULL;
	struct lazy_member l = {.owner = in, .name = name, .value = body_import_value(e, *outer)};
	vec_push(&b->lazies, l);
	return &b->lazies.at[b->lazies.len - 1].value;
}

/* Evaluates a layer's `let` with tensors in the current unit. */
static void eval_lazy_members(struct elab *e, struct instance *in, node_id node)
{
	struct frame fr = {.site.at = SPAN_NONE, .mod = in->item->mod, .self = in};
	frame_push(e, &fr);
	e->em.report.depth++;
	exec(e, node, NULL);
	for (uint32_t i = fr.base; i < e->locals.len; i++) {
		struct lazy_member l = {.owner = in, .name = e->locals.at[i].name, .value = e->locals.at[i].value};
		vec_push(&e->em.b->lazies, l);
	}
	e->em.report.depth--;
	frame_pop(e);
}

struct value member_value(struct elab *e, struct instance *in, struct member *member, span at)
{
	reads_note(&e->em, in->item, READ_WHOLE);
	switch (member->kind) {
	case M_VALUE:
	case M_FN: return member->value;
	case M_PARAM: return param_value(e, member->param, at);
	case M_STATE: return state_value(e, member->param, at);
	case M_LAZY: break;
	}
	struct value *v = find_lazy_member(e, in, member->name);
	if (!v && count_step(&e->em, at)) {
		eval_lazy_members(e, in, member->node);
		v = find_lazy_member(e, in, member->name);
	}
	return v ? *v : VALUE_POISON;
}

/* ---- look-up ---- */

bool prelude_lookup(struct elab *e, name_id name, struct value *out)
{
	uint64_t i;
	if (!map_get(&e->em.f->prelude.by_name, map_key_u64(name), &i))
		return false;
	*out = e->em.f->prelude.values.at[i];
	return true;
}

bool name_lookup_static(struct elab *e, struct module *mod, struct instance *self, name_id name, span at, struct value *out)
{
	struct member *m = self ? instance_member(self, name) : NULL;
	if (m) {
		*out = member_value(e, self, m, at);
		return true;
	}
	struct item *it = module_find(mod, name);
	if (it) {
		*out = item_value(e, it, at);
		return true;
	}
	return prelude_lookup(e, name, out);
}

bool name_lookup(struct elab *e, name_id name, span at, struct value *out)
{
	struct local *l = local_find(e, name);
	if (l) {
		if (l->value.kind == V_POISON && l->value.typed) {
			struct diag *g = report_error(&e->em, DIAG_ARG_SHAPE, at, "`%s` cannot be inferred from the arguments of this call",
						      name_text(e->em.f, name));
			diag_help(e->em.report.out, g,
				  "a size is inferred from the shape of an argument that is linear in it: `[N]`, `[2 * N + 1]`");
			l->value = VALUE_POISON;
		}
		if (l->value.kind == V_UNSET && e->em.checking && e->em.conditional) /* a use may have assigned to it */
			return *out = VALUE_POISON, true;
		if (l->value.kind == V_UNSET) {
			struct diag *g = report_error(&e->em, DIAG_UNSET, at, "`%s` has no value here", name_text(e->em.f, name));
			diag_secondary(e->em.report.out, g, elab_span(e, (node_id)l->value.u.i), "declared without a value here");
			diag_help(e->em.report.out, g, "assign to it on every path before this use");
			l->value = VALUE_POISON;
		}
		*out = l->value;
		return true;
	}
	return name_lookup_static(e, e->frame->mod, e->frame->self, name, at, out);
}

/* ---- prelude ---- */

static void prelude_add(struct frontend *f, const char *name, struct value v)
{
	if (!map_put(&f->prelude.by_name, map_key_u64(intern_str(f->names, name)), f->prelude.values.len))
		return;
	vec_push(&f->prelude.values, v);
	vec_push(&f->prelude.names, name);
}

void prelude_init(struct frontend *f)
{
	static const char *const specials[SP_COUNT] = {"print", "len", "shape", "range", "enumerate", "zip", "reversed", "str", "ntuple"};
	for (int i = 0; i < SP_COUNT; i++)
		prelude_add(f, specials[i], (struct value){.kind = V_SPECIAL, .u.special = (enum special)i});
	for (int i = 0; i < BI_COUNT; i++)
		prelude_add(f, builtin_name((enum builtin)i), (struct value){.kind = V_BUILTIN, .u.builtin = (enum builtin)i});
	for (int t = 0; t < DT_COUNT; t++)
		prelude_add(f, dtype_text((dtype)t), (struct value){.kind = V_DTYPE, .u.dt = (dtype)t});
	prelude_add(f, "int", (struct value){.kind = V_DTYPE, .u.dt = DT_INT32});
	prelude_add(f, "float", (struct value){.kind = V_DTYPE, .u.dt = DT_FLOAT32});
}

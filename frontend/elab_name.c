/* What names stand for. */
#include <string.h>
#include "frontend/elab_body.h"
#include "frontend/index_note.h"
#include "frontend/sig.h"

void local_push(struct elab *e, name_id name, struct value v, bool constant)
{
	struct local l = {.name = name, .constant = constant, .value = v, .at = SPAN_NONE};
	vec_push(&e->locals, l);
	while (e->f->highest.len <= name)
		vec_push(&e->f->highest, 0);
	if (e->f->highest.at[name] < e->locals.len)
		e->f->highest.at[name] = e->locals.len;
}

void local_blame(struct elab *e, span at)
{
	const struct source *s = at.source == SPAN_NO_SOURCE ? NULL : sources_get(e->f->sources, at.source);
	for (uint32_t i = e->locals.len; s && e->checking && i-- > 0;) {
		struct local *l = &e->locals.at[i];
		const char *name = name_text(e->f, l->name);
		if (strlen(name) != at.end - at.start || memcmp(name, s->text + at.start, at.end - at.start) != 0)
			continue;
		if (++l->blamed >= MOST_REPEATED)
			l->value = VALUE_POISON;
		return;
	}
}

struct local *local_find(struct elab *e, name_id name)
{
	uint32_t most = name < e->f->highest.len ? e->f->highest.at[name] : 0;
	for (uint32_t i = most < e->locals.len ? most : e->locals.len; i-- > e->frame->base;)
		if (e->locals.at[i].name == name)
			return &e->locals.at[i];
	return NULL;
}

/* ---- items ---- */

struct func *item_func(struct frontend *f, struct item *it)
{
	if (!it->func) {
		it->func = ARENA_NEW(f->lasting, struct func);
		*it->func = (struct func){.mod = it->mod, .item = it, .node = it->node, .name = it->name};
	}
	return it->func;
}

static struct value eval_const(struct elab *e, struct item *it)
{
	struct ast_const c = ast_const(&it->mod->ast, it->node);
	struct frame fr = {.up = e->frame, .mod = it->mod, .base = e->locals.len, .call_at = SPAN_NONE};
	e->frame = &fr;
	e->depth++;
	struct value v = eval(e, c.value);
	if (c.type)
		v = sig_coerce(e, c.type, v, elab_span(e, c.value), "constant", NULL);
	index_note_value(e, c.name, v);
	e->depth--;
	e->frame = fr.up;
	return v;
}

/* A constant is evaluated once, aloud, in a unit of its own; one that holds tensors is evaluated again where it is used. */
static struct value const_value(struct elab *e, struct item *it, span at)
{
	if (it->state == ITEM_BUSY) {
		struct diag *g = elab_error(e, DIAG_RECURSION, tok_span(it->mod, it->name_token), "constant `%s` is defined by itself",
					    name_text(e->f, it->name));
		diag_secondary(e->out, g, at, "used here");
		return VALUE_POISON;
	}
	if (it->state == ITEM_NEW) {
		struct builder scratch;
		struct arena *work = e->f->arena;
		int quiet = e->quiet;
		e->f->arena = e->f->lasting;
		it->state = ITEM_BUSY;
		e->quiet = 0;
		e->out = e->f->diags;
		struct reads reads;
		builder_open(e, &scratch);
		reads_open(e, &reads);
		it->value = eval_const(e, it);
		it->reads = reads_close(e);
		builder_close(e);
		e->f->arena = work;
		e->quiet = quiet;
		if (quiet)
			e->out = e->trash;
		it->state = ITEM_DONE;
		if (value_holds(it->value, V_TENSOR))
			it->value.kind = V_VOID;
	}
	return it->value.kind == V_VOID ? eval_const(e, it) : it->value;
}

struct value item_value(struct elab *e, struct item *it, span at)
{
	it = item_follow(e->f, it);
	if (!it || it->broken)
		return VALUE_POISON;
	reads_note(e, it, it->kind == ITEM_FN || it->kind == ITEM_LAYER ? READ_FACE : READ_WHOLE);
	switch (it->kind) {
	case ITEM_FN:
	case ITEM_LAYER: return (struct value){.kind = V_FN, .u.fn = item_func(e->f, it)};
	case ITEM_MODULE_LAYER: return (struct value){.kind = V_MAKER, .u.item = it};
	case ITEM_CONST: return const_value(e, it, at);
	case ITEM_TYPE: return (struct value){.kind = V_TYPE, .u.item = it};
	case ITEM_IMPORT: return it->target ? (struct value){.kind = V_MODULE, .u.mod = it->target} : VALUE_POISON;
	case ITEM_FROM:
	case ITEM_MAIN: break;
	}
	return VALUE_POISON;
}

/* ---- members ---- */

/* In the current unit, or around the body that it is. */
static struct value *lazy_find(struct elab *e, const struct instance *in, name_id name)
{
	struct builder *b = e->b;
	for (uint32_t i = b->lazies.len; i-- > 0;)
		if (b->lazies.at[i].owner == in && b->lazies.at[i].name == name)
			return &b->lazies.at[i].value;
	if (!b->body)
		return NULL;
	e->b = b->outer;
	const struct value *outer = lazy_find(e, in, name);
	e->b = b;
	if (!outer)
		return NULL;
	struct lazy_local l = {.owner = in, .name = name, .value = body_value(e, *outer)};
	vec_push(&b->lazies, l);
	return &b->lazies.at[b->lazies.len - 1].value;
}

/* Evaluates a body's tensor-valued `let` in the current unit. */
static void lazy_eval(struct elab *e, struct instance *in, node_id node)
{
	struct frame fr = {.up = e->frame, .mod = in->item->mod, .self = in, .base = e->locals.len, .call_at = SPAN_NONE};
	e->frame = &fr;
	e->depth++;
	exec(e, node, NULL);
	for (uint32_t i = fr.base; i < e->locals.len; i++) {
		struct lazy_local l = {.owner = in, .name = e->locals.at[i].name, .value = e->locals.at[i].value};
		vec_push(&e->b->lazies, l);
	}
	e->locals.len = fr.base;
	e->depth--;
	e->frame = fr.up;
}

struct value member_value(struct elab *e, struct instance *in, struct member *m, span at)
{
	reads_note(e, in->item, READ_WHOLE);
	switch (m->kind) {
	case M_VALUE:
	case M_FN: return m->value;
	case M_PARAM: return param_value(e, m->param, at);
	case M_LAZY: break;
	}
	struct value *v = lazy_find(e, in, m->name);
	if (!v && elab_step(e, at)) {
		lazy_eval(e, in, m->node);
		v = lazy_find(e, in, m->name);
	}
	return v ? *v : VALUE_POISON;
}

/* ---- look-up ---- */

bool prelude_lookup(struct elab *e, name_id name, struct value *out)
{
	uint64_t i;
	if (!map_get(&e->f->prelude, map_key_u64(name), &i))
		return false;
	*out = e->f->prelude_values.at[i];
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
			struct diag *g =
				elab_error(e, DIAG_ARG_SHAPE, at, "no argument of this call says what `%s` is", name_text(e->f, name));
			diag_help(e->out, g,
				  "a size is found from the shape of an argument, by an equation that is linear: `[N]`, `[2 * N + 1]`");
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
	if (!map_put(&f->prelude, map_key_u64(intern_str(f->names, name)), f->prelude_values.len))
		return;
	vec_push(&f->prelude_values, v);
	vec_push(&f->prelude_names, name);
}

void prelude_init(struct frontend *f)
{
	static const char *const specials[SP_COUNT] = {"print", "len", "shape", "range", "enumerate", "zip", "reversed", "str", "ntuple"};
	static const struct {
		const char *name;
		enum builtin bi;
	} builtins[] = {
#define BUILTIN(id, name, ...) {name, BI_##id},
#include "frontend/builtins.def"
#undef BUILTIN
	};
	for (int i = 0; i < SP_COUNT; i++)
		prelude_add(f, specials[i], (struct value){.kind = V_SPECIAL, .u.special = (enum special)i});
	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
		prelude_add(f, builtins[i].name, (struct value){.kind = V_BUILTIN, .u.builtin = builtins[i].bi});
	for (int t = 0; t < DT_COUNT; t++)
		prelude_add(f, dtype_text((dtype)t), (struct value){.kind = V_DTYPE, .u.dt = (dtype)t});
	prelude_add(f, "int", (struct value){.kind = V_DTYPE, .u.dt = DT_INT32});
	prelude_add(f, "float", (struct value){.kind = V_DTYPE, .u.dt = DT_FLOAT32});
}

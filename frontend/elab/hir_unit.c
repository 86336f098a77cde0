/* The current builder as a finished unit of the program. */
#include "frontend/elab/unit.h"
#include <string.h>
#include "frontend/elab/function.h"
#include "frontend/syntax/literal.h"

static int8_t opt_level(const struct module *m, node_id attr)
{
	const struct ast *t = &m->ast;
	uint64_t v;
	if (!attr || !ast_a(t, attr))
		return -1;
	struct ast_nodes args = ast_nodes(t, ast_a(t, attr));
	if (args.n != 1 || ast_kind(t, args.at[0]) != NODE_INT || !literal_int(&t->tokens, ast_token(t, args.at[0]), &v) || v > 3)
		return -1;
	return (int8_t)v;
}

static void set_attributes(struct hir_unit *u, const struct module *m, struct ast_nodes attrs)
{
	u->always_inline = u->always_inline || attr_find(m, attrs, "inline");
	u->never_inline = u->never_inline || attr_find(m, attrs, "noinline");
	if (attr_find(m, attrs, "opt"))
		u->opt = opt_level(m, attr_find(m, attrs, "opt"));
}

void unit_attributes(struct hir_unit *u, const struct func *fn)
{
	if (fn->self)
		set_attributes(u, fn->item->mod, ast_fn(&fn->item->mod->ast, fn->item->node).attrs);
	if (fn->node)
		set_attributes(u, fn->mod, ast_fn(&fn->mod->ast, fn->node).attrs);
}

static struct hir_value layer_value(struct elab *e, const char *name, struct value v);

static struct hir_value layer_list(struct elab *e, const char *name, struct value v)
{
	struct hir_value *items = ARENA_ARRAY(e->em.f->arena, struct hir_value, v.u.seq->n + 1);
	for (uint32_t i = 0; i < v.u.seq->n; i++)
		items[i] = layer_value(e, NULL, v.u.seq->at[i]);
	return (struct hir_value){.name = name, .kind = ARG_LIST, .u.list = items, .n = v.u.seq->n};
}

static struct hir_value layer_value(struct elab *e, const char *name, struct value v)
{
	switch (v.kind) {
	case V_NONE: return (struct hir_value){.name = name, .kind = ARG_NONE};
	case V_BOOL: return (struct hir_value){.name = name, .kind = ARG_BOOL, .u.i = v.u.b};
	case V_TRIT:
	case V_INT: return (struct hir_value){.name = name, .kind = ARG_INT, .u.i = v.u.i};
	case V_FLOAT: return (struct hir_value){.name = name, .kind = ARG_FLOAT, .u.f = v.u.f};
	case V_STR: return (struct hir_value){.name = name, .kind = ARG_STR, .u.s = v.u.s};
	case V_TUPLE:
	case V_LIST: return layer_list(e, name, v);
	default: return (struct hir_value){.name = name, .kind = ARG_TENSOR};
	}
}

/* The instance as its call made it. */
static const struct hir_layer *hir_unit_layer_of(struct elab *e, struct instance *in)
{
	if (in->made)
		return in->made;
	uint32_t n = instance_arguments(in);
	struct hir_layer *l = ARENA_NEW(e->em.f->arena, struct hir_layer);
	struct hir_value *args = ARENA_ARRAY(e->em.f->arena, struct hir_value, n + 1);
	for (uint32_t i = 0; i < n; i++)
		args[i] = layer_value(e, name_text(e->em.f, in->members[i].name), in->members[i].value);
	*l = (struct hir_layer){.name = name_text(e->em.f, in->item->name),
				.key = in->key,
				.standard = in->item->mod->std,
				.at = node_span(in->item->mod, in->item->node),
				.args = args,
				.n_args = n};
	return in->made = l;
}

void unit_set_function(struct elab *e, struct hir_unit *u, const struct func *fn)
{
	u->function = name_text(e->em.f, fn->name);
	u->layer = fn->self ? hir_unit_layer_of(e, fn->self) : NULL;
}

static void hir_unit_add_outputs(struct elab *e, struct value *v, struct hir_unit *u, uint32_t cap)
{
	if (value_is_seq(*v)) {
		struct value copy = value_seq(e->em.f->arena, v->kind, v->u.seq->n);
		for (uint32_t i = 0; i < copy.u.seq->n; i++) {
			copy.u.seq->at[i] = v->u.seq->at[i];
			hir_unit_add_outputs(e, &copy.u.seq->at[i], u, cap);
		}
		*v = copy;
	} else if (v->kind == V_TEXT) {
		struct value values = v->u.text->values;
		hir_unit_add_outputs(e, &values, u, cap);
		*v = template_with_values(&e->em, v->u.text, values);
	} else if (v->kind == V_TENSOR && u->n_outputs < cap) {
		u->outputs[u->n_outputs] = (struct hir_output){arena_printf(e->em.f->arena, "out%u", u->n_outputs), v->u.t, 0, false};
		v->u.t = u->n_outputs++;
	}
}

static uint32_t hir_unit_count_tensors(struct value v)
{
	uint32_t n = v.kind == V_TEXT ? v.u.text->values.u.seq->n : v.kind == V_TENSOR;
	if (value_is_seq(v))
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			n += hir_unit_count_tensors(v.u.seq->at[i]);
	return n;
}

void unit_copy_nodes(struct elab *e, struct hir_unit *u)
{
	const struct builder *b = e->em.b;
	u->n_inputs = b->inputs.len;
	u->n_nodes = b->nodes.len;
	u->n_args = b->args.len;
	COPY_ARRAY(u->inputs, b->inputs.at, u->n_inputs, struct hir_input);
	COPY_ARRAY(u->nodes, b->nodes.at, u->n_nodes, struct hir_node);
	COPY_ARRAY(u->args, b->args.at, u->n_args, struct hir_arg);
	u->effects = b->effects;
}

struct hir_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result)
{
	struct hir_unit *u = ARENA_NEW(e->em.f->arena, struct hir_unit);
	char hex[33];
	uint32_t outs = hir_unit_count_tensors(*result);
	hash_hex(identity, hex);
	*u = (struct hir_unit){.name = name,
			       .identity = identity,
			       .file = fn->mod->path,
			       .at = node_span(fn->mod, fn->node),
			       .opt = -1,
			       .dims = e->em.b->dims};
	u->definition_name = name_text(e->em.f, fn->item->name);
	unit_set_function(e, u, fn);
	u->symbol = arena_printf(e->em.f->arena, "%s_%.16s", u->definition_name, hex);
	u->definition = fn->item->tokens;
	unit_attributes(u, fn);
	u->outputs = ARENA_ARRAY(e->em.f->arena, struct hir_output, outs + 1);
	hir_unit_add_outputs(e, result, u, outs);
	if (u->n_outputs == 1)
		u->outputs[0].name = "out";
	unit_copy_nodes(e, u);
	builder_close(&e->em);
	return u;
}

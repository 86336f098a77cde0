/* The parameters and states of layer instances: their names, and their nodes in a unit. */
#include "frontend/elab/unit.h"
#include <string.h>
#include "frontend/elab/branch.h"

static const char *dotted(struct elab *e, const char *prefix, const char *name)
{
	return *prefix ? text_join(&e->em, prefix, ".", name, "") : name;
}

static const char *params_number(struct elab *e, uint32_t i)
{
	char digits[12], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + i % 10);
	while (i /= 10);
	return arena_strndup(e->em.f->arena, at, (size_t)(digits + sizeof digits - at));
}

/* `("_l0", cell)`: the string is a suffix of the names of the cell's parameters. */
static void collect_with_suffix(struct elab *e, const char *suffix, struct value cell, const char *prefix, struct param_list *out)
{
	uint32_t first = out->names.len, first_alias = out->aliases.len;
	collect_params(e, cell, prefix, out);
	for (uint32_t i = first; i < out->names.len; i++)
		out->names.at[i] = text_join(&e->em, out->names.at[i], suffix, "", "");
	for (uint32_t i = first_alias; i < out->aliases.len; i++) {
		const char **name = &out->aliases.at[i].name;
		*name = text_join(&e->em, *name, suffix, "", "");
	}
}

/* `("denselayer1", layer)`: the string replaces the layer's index in names, or is a suffix of them if it begins with `_`. */
static bool params_is_named(struct value v) { return v.kind == V_TUPLE && v.u.seq->n == 2 && v.u.seq->at[0].kind == V_STR; }

static void params_of_seq(struct elab *e, const struct seq *seq, const char *prefix, struct param_list *out)
{
	for (uint32_t i = 0; i < seq->n; i++) {
		struct value v = seq->at[i];
		if (params_is_named(v) && v.u.seq->at[0].u.s[0] == '_')
			collect_with_suffix(e, v.u.seq->at[0].u.s, v.u.seq->at[1], prefix, out);
		else if (params_is_named(v))
			collect_params(e, v.u.seq->at[1], dotted(e, prefix, v.u.seq->at[0].u.s), out);
		else if (value_contains(v, V_LAYER))
			collect_params(e, v, dotted(e, prefix, params_number(e, i)), out);
	}
}

static void add_param(struct param_list *out, struct layer_param *p, const char *name)
{
	uint64_t known;
	if (map_get(&out->seen, map_key_u64(p->id), &known)) {
		vec_push(&out->aliases, ((struct param_alias){(uint32_t)known, name}));
		return;
	}
	map_put(&out->seen, map_key_u64(p->id), out->at.len);
	vec_push(&out->at, p);
	vec_push(&out->names, name);
}

/* Arguments last: a sub-layer that was passed as an argument is named after the member that the body binds it to. */
static void params_of_instance(struct elab *e, const struct instance *in, const char *prefix, struct param_list *out)
{
	for (int args = 0; args < 2; args++)
		for (uint32_t i = 0; i < in->n_members; i++) {
			out->in_args = args == 1;
			const struct member *m = &in->members[i];
			const char *name = name_text(e->em.f, m->name);
			if (m->is_arg != (args == 1))
				continue;
			if (m->kind == (out->of_states ? M_STATE : M_PARAM))
				add_param(out, m->param, dotted(e, prefix, name));
			else if (m->kind == M_VALUE && (m->value.kind == V_LAYER || value_is_seq(m->value)))
				collect_params(e, m->value, *name == '_' ? prefix : dotted(e, prefix, name), out);
		}
}

void collect_params(struct elab *e, struct value v, const char *prefix, struct param_list *out)
{
	if (value_is_seq(v)) {
		params_of_seq(e, v.u.seq, prefix, out);
		return;
	}
	if (v.kind != V_LAYER)
		return;
	const struct param_tree *all = out->of_states ? v.u.layer->states : v.u.layer->params;
	hash128 key = map_key_u64((uint64_t)1 << 32 | v.u.layer->id);
	uint64_t listed = out->n_instances;
	if (!map_get(&out->seen, key, &listed)) {
		map_put(&out->seen, key, out->n_instances++);
	} else if (out->in_args) { /* it is named after a member already */
		vec_push(&out->repeats, (uint32_t)listed);
		return;
	}
	if (!all)
		params_of_instance(e, v.u.layer, prefix, out);
	for (uint32_t i = 0; all && i < all->n; i++)
		add_param(out, all->at[i], dotted(e, prefix, all->names[i]));
	for (uint32_t i = 0; all && i < all->n_aliases; i++)
		add_param(out, all->at[all->aliases[i].param], dotted(e, prefix, all->aliases[i].name));
	for (uint32_t i = 0; all && i < all->n_repeats; i++)
		vec_push(&out->repeats, all->repeats[i]);
}

/* Called after the body has run, when members no longer change. */
const struct param_tree *instance_params(struct elab *e, const struct instance *in, bool states)
{
	struct param_list l = {.of_states = states};
	struct param_tree *s = ARENA_NEW(e->em.f->arena, struct param_tree);
	params_of_instance(e, in, "", &l);
	s->n = l.at.len;
	s->n_aliases = l.aliases.len;
	s->n_repeats = l.repeats.len;
	COPY_ARRAY(s->at, l.at.at, s->n, struct layer_param *);
	COPY_ARRAY(s->names, l.names.at, s->n, const char *);
	COPY_ARRAY(s->aliases, l.aliases.at, s->n_aliases, struct param_alias);
	COPY_ARRAY(s->repeats, l.repeats.at, s->n_repeats, uint32_t);
	param_list_free(&l);
	return s;
}

void param_list_free(struct param_list *list)
{
	vec_free(&list->at);
	vec_free(&list->names);
	vec_free(&list->aliases);
	vec_free(&list->repeats);
	map_free(&list->seen);
}

void param_list_hash_aliases(struct hasher *h, const struct param_list *list)
{
	for (uint32_t i = 0; i < list->names.len && list->aliases.len; i++)
		hasher_add_str(h, list->names.at[i]);
	for (uint32_t i = 0; i < list->aliases.len; i++) {
		hasher_add_str(h, list->aliases.at[i].name);
		hasher_add_u64(h, list->aliases.at[i].param);
	}
	for (uint32_t i = 0; i < list->repeats.len; i++)
		hasher_add_u64(h, list->repeats.at[i]);
}

/* ---- paths of instances ---- */

static const char *path_in_layer(struct elab *e, const struct instance *layer, const struct instance *in, bool deep);

/* Returns NULL if the value does not contain the instance. deep: also in the layers that it contains. Only paths that exist are made into
 * text. */
static const char *path_in_value(struct elab *e, struct value v, const struct instance *in, bool deep)
{
	if (v.kind == V_LAYER)
		return v.u.layer == in ? "" : deep ? path_in_layer(e, v.u.layer, in, true) : NULL;
	for (uint32_t i = 0; value_is_seq(v) && i < v.u.seq->n; i++) {
		struct value one = v.u.seq->at[i];
		const char *rest = path_in_value(e, params_is_named(one) ? one.u.seq->at[1] : one, in, deep);
		if (!rest)
			continue;
		const char *name = params_is_named(one) ? one.u.seq->at[0].u.s : params_number(e, i);
		return *name == '_' ? rest : *rest ? dotted(e, name, rest) : name;
	}
	return NULL;
}

static const char *path_of_name(struct elab *e, name_id name, struct value v, const struct instance *in, bool deep)
{
	const char *rest = v.kind == V_LAYER || value_is_seq(v) ? path_in_value(e, v, in, deep) : NULL, *text = name_text(e->em.f, name);
	return !rest || *text == '_' ? rest : *rest ? dotted(e, text, rest) : text;
}

static const char *path_in_layer(struct elab *e, const struct instance *layer, const struct instance *in, bool deep)
{
	for (int args = 0; args < 2; args++)
		for (uint32_t i = 0; i < layer->n_members; i++) {
			const struct member *m = &layer->members[i];
			const char *path =
				m->kind == M_VALUE && m->is_arg == (args == 1) ? path_of_name(e, m->name, m->value, in, deep) : NULL;
			if (path)
				return path;
		}
	return NULL;
}

const char *layer_path(struct elab *e, const struct instance *in)
{
	const char *path = e->frame->self == in ? "" : NULL;
	for (int deep = 0; !path && deep < 2; deep++) {
		path = e->frame->self ? path_in_layer(e, e->frame->self, in, deep) : NULL;
		for (uint32_t i = e->frame->base; !path && i < e->locals.len; i++)
			path = path_of_name(e, e->locals.at[i].name, e->locals.at[i].value, in, deep);
	}
	return path ? path : "";
}

/* ---- nodes ---- */

/* A parameter inside a body: imported from the enclosing unit. */
static struct value body_param(struct elab *e, struct layer_param *p, span at)
{
	struct builder *b = e->em.b;
	e->em.b = b->outer;
	struct value v = param_value(e, p, at);
	e->em.b = b;
	return body_import_value(e, v);
}

struct value param_value(struct elab *e, struct layer_param *p, span at)
{
	uint64_t r;
	struct hir_type t = p->type;
	if (!p->has_type)
		return VALUE_POISON;
	if (map_get(&e->em.b->params, map_key_u64(p->id), &r))
		return value_tensor((hir_ref)r);
	if (e->em.b->body)
		return body_param(e, p, at);
	if (!e->em.b->open_params)
		return report_poison(&e->em, DIAG_UNSUPPORTED, at,
				     "parameter `%s` cannot be used here: this function does not belong to its layer",
				     name_text(e->em.f, p->name));
	if (p->dims != e->em.b->dims)
		for (uint32_t i = 0; i < t.rank; i++) {
			int64_t v;
			if (!dim_is_const(p->dims, t.dims[i], &v))
				return VALUE_POISON;
			t.dims[i] = dim_const(e->em.b->dims, v);
		}
	hir_ref in = emit_input(&e->em, name_text(e->em.f, p->name), &t, true, p->at);
	map_put(&e->em.b->params, map_key_u64(p->id), in);
	vec_push(&e->em.b->opened, p);
	return value_tensor(in);
}

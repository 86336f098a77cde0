/* The identity of a unit, its interface, and its name for people. */
#include "frontend/elab/unit.h"
#include <string.h>
#include "base/buf.h"

static void identity_hash_dim(struct hasher *h, const struct dims *d, dim x)
{
	struct dim_step steps[64];
	uint32_t n = dim_program(d, x, steps, 64);
	hasher_add_u64(h, n);
	for (uint32_t i = 0; i < n && i < 64; i++) {
		hasher_add_u64(h, steps[i].op);
		hasher_add_u64(h, (uint64_t)steps[i].value);
	}
	if (n > 64) {
		struct buf b = {0};
		dim_print(d, x, &b);
		hasher_add_str(h, b.at);
		buf_free(&b);
	}
}

/* t is an index into the spec's tensors, or, without a spec, into the unit's outputs. */
static void hash_tensor(struct hasher *h, const struct dims *d, const struct unit_spec *spec, hir_ref t)
{
	if (!spec) {
		hasher_add_u64(h, t);
		return;
	}
	const struct tensor_arg *l = &spec->tensors.at[t];
	hasher_add_u64(h, (uint64_t)l->type.elem << 16 | (uint64_t)l->type.rank << 8 | l->build_time);
	for (uint32_t i = 0; i < l->type.rank; i++)
		identity_hash_dim(h, d, l->type.dims[i]);
}

static void hash_value(struct elab *e, struct hasher *h, const struct dims *d, const struct unit_spec *spec, struct value v)
{
	value_hash(h, e->em.f, v);
	if (v.kind == V_DIM)
		identity_hash_dim(h, d, v.u.d);
	if (value_is_seq(v))
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			hash_value(e, h, d, spec, v.u.seq->at[i]);
	if (v.kind == V_TEXT)
		hash_value(e, h, d, spec, v.u.text->values);
	if (v.kind == V_RANGE) {
		hash_value(e, h, d, spec, v.u.range->from);
		hash_value(e, h, d, spec, v.u.range->to);
	}
	if (v.kind == V_TENSOR)
		hash_tensor(h, d, spec, v.u.t);
}

hash128 unit_identity(struct elab *e, const struct unit_spec *spec)
{
	struct hasher *h = hasher_new();
	item_hash_identity(h, e->em.f, spec->fn->item);
	hasher_add_str(h, name_text(e->em.f, spec->fn->name));
	if (spec->fn->self)
		hasher_add_hash(h, spec->fn->self->key);
	hasher_add_u64(h, spec->n_values);
	for (uint32_t i = 0; i < spec->n_values; i++)
		hash_value(e, h, spec->dims, spec, spec->values[i]);
	for (uint32_t i = 0; i < spec->states.names.len; i++)
		hasher_add_str(h, spec->states.names.at[i]);
	param_list_hash_aliases(h, &spec->params);
	param_list_hash_aliases(h, &spec->states);
	return hasher_finish(h);
}

hash128 unit_interface(struct elab *e, const struct elab_unit *info)
{
	const struct hir_unit *u = info->unit;
	struct hasher *h = hasher_new();
	hasher_add_u64(h, (uint64_t)u->n_outputs << 32 | (uint64_t)dims_syms(u->dims) << 1 | u->effects);
	for (uint32_t i = 0; i < u->n_outputs; i++) {
		const struct hir_type *t = &u->nodes[u->outputs[i].node].type;
		hasher_add_u64(h, (uint64_t)t->elem << 8 | t->rank);
		for (uint32_t k = 0; k < t->rank; k++)
			identity_hash_dim(h, u->dims, t->dims[k]);
	}
	hash_value(e, h, u->dims, NULL, info->result);
	for (uint32_t i = 0; info->spec && i < info->spec->states.at.len; i++) {
		hasher_add_u64(h, info->touched[i]);
		hash_value(e, h, u->dims, NULL, info->states[i]);
	}
	return hasher_finish(h);
}

static void print_leaf(const struct unit_spec *spec, const struct tensor_arg *arg, struct buf *b)
{
	buf_puts(b, " [");
	for (uint32_t i = 0; i < arg->type.rank; i++) {
		if (i)
			buf_puts(b, ", ");
		dim_print(spec->dims, arg->type.dims[i], b);
	}
	buf_putc(b, ']');
}

/* (n=2, flag=true): the arguments known at compile time. */
static void print_static_args(struct elab *e, const struct unit_spec *spec, struct buf *b)
{
	struct ast_fn decl = ast_fn(&spec->fn->mod->ast, spec->fn->node);
	bool any = false;
	for (uint32_t i = 0; i < spec->n_values; i++) {
		if (value_contains(spec->values[i], V_TENSOR))
			continue;
		buf_puts(b, any ? ", " : "(");
		any = true;
		buf_printf(b, "%s=", name_text(e->em.f, node_name(e, spec->fn->mod, decl.params.at[i])));
		value_print(e->em.f, spec->dims, spec->values[i], b);
	}
	if (any)
		buf_putc(b, ')');
}

const char *unit_name(struct elab *e, const struct unit_spec *spec)
{
	struct buf b = {0};
	const char *fn = name_text(e->em.f, spec->fn->name);
	if (spec->fn->self) {
		instance_print(e->em.f, spec->fn->self, &b);
		if (strcmp(fn, "forward"))
			buf_printf(&b, ".%s", fn);
	} else {
		buf_puts(&b, fn);
	}
	print_static_args(e, spec, &b);
	for (uint32_t i = 0; i < spec->tensors.len; i++)
		print_leaf(spec, &spec->tensors.at[i], &b);
	return take_text(&e->em, &b);
}

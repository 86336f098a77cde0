/* Nodes, values, and calls of other builtins. */
#include <string.h>
#include "frontend/rules/builtin.h"

struct hir_arg arg_float(double f) { return (struct hir_arg){.kind = ARG_FLOAT, .u.f = f}; }

struct hir_arg plain_arg(struct value v)
{
	switch (v.kind) {
	case V_INT: return arg_int(v.u.i);
	case V_FLOAT: return arg_float(v.u.f);
	case V_BOOL: return (struct hir_arg){.kind = ARG_BOOL, .u.i = v.u.b};
	case V_STR: return (struct hir_arg){.kind = ARG_STR, .u.s = v.u.s};
	case V_DIM: return arg_dim(v.u.d);
	default: return arg_none();
	}
}

struct hir_arg arg_sizes(struct emitter *e, const struct hir_type *t)
{
	struct hir_arg sizes[HIR_MAX_RANK];
	for (uint32_t k = 0; k < t->rank; k++)
		sizes[k] = arg_dim(t->dims[k]);
	return arg_list(e, sizes, t->rank);
}

struct value emit_call(struct emitter *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, size_t n, span at)
{
	return value_tensor(emit_builtin(e, bi, t, args, (uint32_t)n, at));
}

struct value emit_plain(struct emitter *e, struct builtin_call *c, const struct hir_type *t, hir_ref x)
{
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {arg_tensor(x)};
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
	return value_tensor(emit_builtin(e, c->bi, t, a, c->sig->n, c->at));
}

struct value emit_reshape(struct emitter *e, hir_ref x, const struct hir_type *t, span at)
{
	return EMIT_AT(at, BI_RESHAPE, t, arg_tensor(x), arg_sizes(e, t));
}

struct value emit_permute(struct emitter *e, hir_ref x, const uint32_t *order, span at)
{
	struct hir_type t = *type_of(e, x), out = t;
	struct hir_arg items[HIR_MAX_RANK];
	for (uint32_t i = 0; i < t.rank; i++) {
		out.dims[i] = t.dims[order[i]];
		items[i] = arg_int(order[i]);
	}
	return EMIT_AT(at, BI_PERMUTE, &out, arg_tensor(x), arg_list(e, items, t.rank));
}

struct value emit_two_results(struct emitter *e, hir_ref node, const struct hir_type *first, const struct hir_type *second, span at)
{
	return TUPLE(value_tensor(emit_result(e, node, 0, first, at)), value_tensor(emit_result(e, node, 1, second, at)));
}

struct value as_elem(struct emitter *e, struct value v, dtype t, span at)
{
	return v.kind == V_TENSOR ? value_tensor(emit_cast(e, v.u.t, t, at)) : v;
}

/* ---- values, calls of other builtins ---- */

static struct value seq_of(struct emitter *e, enum value_kind kind, const struct value *v, size_t n)
{
	struct value seq = value_seq(e->f->arena, kind, (uint32_t)n);
	if (n)
		memcpy(seq.u.seq->at, v, n * sizeof *v);
	return seq;
}

struct value list_of(struct emitter *e, const struct value *v, size_t n) { return seq_of(e, V_LIST, v, n); }
struct value tuple_of(struct emitter *e, const struct value *v, size_t n) { return seq_of(e, V_TUPLE, v, n); }

struct value list_of_sizes(struct emitter *e, const struct hir_type *t)
{
	struct value v[HIR_MAX_RANK];
	for (uint32_t k = 0; k < t->rank; k++)
		v[k] = value_dim(e->b->dims, t->dims[k]);
	return list_of(e, v, t->rank);
}

struct value compose(struct emitter *e, enum builtin bi, const struct value *v, size_t n, span at)
{
	struct arg given[BUILTIN_MAX_PARAMS];
	for (size_t k = 0; k < n; k++)
		given[k] = (struct arg){.v = v[k], .at = at};
	struct args args = {(uint32_t)n, given};
	return call_builtin(e, bi, &args, at);
}

struct value compose_pair(struct emitter *e, struct builtin_call *c, enum builtin bi, struct value a, struct value b)
{
	struct arg given[] = {{.v = a, .at = c->ats[0]}, {.v = b, .at = c->ats[1]}};
	struct args args = {2, given};
	return call_builtin(e, bi, &args, c->at);
}

/* Nodes of the unit under construction. */
#include <math.h>
#include <string.h>
#include "base/bug.h"
#include "frontend/unit/elab.h"

void builder_open(struct elab *e, struct builder *b)
{
	*b = (struct builder){.outer = e->b, .dims = dims_new(e->f->arena)};
	e->b = b;
}

void builder_close(struct elab *e)
{
	struct builder *b = e->b;
	e->b = b->outer;
	vec_free(&b->nodes);
	vec_free(&b->args);
	vec_free(&b->inputs);
	vec_free(&b->lazies);
	vec_free(&b->opened);
	map_free(&b->params);
	map_free(&b->imported);
	map_free(&b->origins);
}

struct hir_node *node_at(struct elab *e, hir_ref r) { return &e->b->nodes.at[r]; }

static hir_ref push(struct elab *e, struct hir_node n)
{
	vec_push(&e->b->nodes, n);
	return e->b->nodes.len - 1;
}

hir_ref emit_input(struct elab *e, const char *name, const struct hir_type *t, bool build_time, span at)
{
	struct hir_input in = {.name = name, .type = *t, .build_time = build_time};
	vec_push(&e->b->inputs, in);
	return push(e, (struct hir_node){.kind = HIR_INPUT, .build_time = build_time, .type = *t, .index = e->b->inputs.len - 1, .at = at});
}

hir_ref emit_const(struct elab *e, const struct hir_type *t, const void *data, span at)
{
	return push(e, (struct hir_node){.kind = HIR_CONST, .build_time = true, .type = *t, .data = data, .at = at});
}

hir_ref emit_unknown(struct elab *e, const struct hir_type *t, span at)
{
	return push(e, (struct hir_node){.kind = HIR_CONST, .type = *t, .at = at});
}

hir_ref emit_dim(struct elab *e, dim d, span at)
{
	int64_t v;
	struct hir_type t = {.elem = DT_INT64};
	if (dim_is_const(e->b->dims, d, &v)) {
		int64_t *data = ARENA_NEW(e->f->arena, int64_t);
		*data = v;
		return emit_const(e, &t, data, at);
	}
	return push(e, (struct hir_node){.kind = HIR_DIM, .type = t, .extent = d, .at = at});
}

/* ---- scalars ---- */

/* Round to nearest, ties to even, from the top bits of a float32. */
static uint16_t to_bfloat16(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	if ((u & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

static uint16_t to_float16(double d)
{
	uint16_t sign = signbit(d) ? 0x8000 : 0;
	double a = fabs(d);
	int exp;
	if (isnan(d))
		return 0x7e00;
	if (a >= 65520.0)
		return sign | 0x7c00;
	if (a < 0x1p-14)
		return (uint16_t)(sign | (uint16_t)nearbyint(a * 0x1p24));
	double m = frexp(a, &exp); /* a = m * 2^exp, m in [0.5, 1) */
	uint32_t bits = (uint32_t)nearbyint(m * 2048.0);
	return (uint16_t)(sign | (((uint32_t)(exp + 13) << 10) + bits));
}

static bool int_fits(int64_t i, dtype t)
{
	switch (t) {
	case DT_TRIT: return i >= -1 && i <= 1;
	case DT_INT8: return i >= INT8_MIN && i <= INT8_MAX;
	case DT_INT16: return i >= INT16_MIN && i <= INT16_MAX;
	case DT_INT32: return i >= INT32_MIN && i <= INT32_MAX;
	default: return true;
	}
}

static void store_int(int64_t i, dtype t, void *out)
{
	int8_t b = (int8_t)i;
	int16_t h = (int16_t)i;
	int32_t w = (int32_t)i;
	const void *from = t == DT_INT16 ? (void *)&h : t == DT_INT32 ? (void *)&w : t == DT_INT64 ? (void *)&i : (void *)&b;
	memcpy(out, from, dtype_size(t));
}

void float_bytes(double d, dtype t, void *out)
{
	float f = (float)d;
	uint16_t h = t == DT_FLOAT16 ? to_float16(d) : to_bfloat16(f);
	const void *from = t == DT_FLOAT64 ? (void *)&d : t == DT_FLOAT32 ? (void *)&f : (void *)&h;
	memcpy(out, from, dtype_size(t));
}

bool scalar_bytes(struct elab *e, struct value v, dtype t, void *out, span at)
{
	bool number = v.kind == V_INT || v.kind == V_FLOAT;
	if (dtype_class(t) == DTC_FLOAT && (number || v.kind == V_BOOL)) {
		float_bytes(number_value(v), t, out);
		return true;
	}
	if (t == DT_BOOL && v.kind == V_BOOL) {
		*(uint8_t *)out = v.u.b;
		return true;
	}
	bool trit = v.kind == V_TRIT && t == DT_TRIT;
	if (t != DT_BOOL && dtype_class(t) != DTC_FLOAT && (trit || v.kind == V_INT || (v.kind == V_BOOL && t != DT_TRIT))) {
		int64_t i = v.kind == V_BOOL ? v.u.b : v.u.i;
		if (int_fits(i, t)) {
			store_int(i, t, out);
			return true;
		}
		struct diag *g = elab_error(e, DIAG_LITERAL_RANGE, at, "%lld is not a value of type %s", (long long)i, dtype_text(t));
		if (t == DT_TRIT)
			diag_note(e->out, g, "a trit is -1, 0 or 1");
		else
			diag_note(e->out, g, "%s holds %lld to %lld; the cast of a value that only the run knows keeps its low bits",
				  dtype_text(t), (long long)(-1 - dtype_largest_int(t)), (long long)dtype_largest_int(t));
		return false;
	}
	struct diag *g =
		elab_error(e, DIAG_TYPE_MISMATCH, at, "%s where a value of type %s is needed", elab_value_text(e, v), dtype_text(t));
	if (v.kind == V_TRIT)
		diag_help(e->out, g, "convert it: `%s(…)`", dtype_text(t));
	return false;
}

hir_ref emit_scalar(struct elab *e, struct value v, dtype t, span at)
{
	struct hir_type type = {.elem = t};
	if (v.kind == V_DIM)
		return emit_cast(e, emit_dim(e, v.u.d, at), t, at);
	void *data = arena_alloc(e->f->arena, 8, 8);
	if (!scalar_bytes(e, v, t, data, at))
		return HIR_NONE;
	return emit_const(e, &type, data, at);
}

/* ---- builtins ---- */

static bool arg_build_time(struct elab *e, const struct hir_arg *a)
{
	if (a->kind == ARG_TENSOR)
		return e->b->nodes.at[a->u.tensor].build_time;
	if (a->kind == ARG_DIM)
		return dim_is_const(e->b->dims, a->u.d, NULL);
	if (a->kind == ARG_LIST)
		for (uint32_t i = 0; i < a->u.list.n; i++)
			if (!arg_build_time(e, &e->b->args.at[a->u.list.start + i]))
				return false;
	return true;
}

static bool type_constant(struct elab *e, const struct hir_type *t)
{
	for (uint32_t i = 0; i < t->rank; i++)
		if (!dim_is_const(e->b->dims, t->dims[i], NULL))
			return false;
	return true;
}

struct hir_arg arg_list(struct elab *e, const struct hir_arg *items, uint32_t n)
{
	uint32_t start = e->b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, items[i]);
	return (struct hir_arg){.kind = ARG_LIST, .u.list = {start, n}};
}

hir_ref emit_builtin(struct elab *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, uint32_t n, span at)
{
	struct hir_node node = {.kind = HIR_BUILTIN, .builtin = bi, .type = *t, .n_args = n, .at = at};
	node.build_time = type_constant(e, t);
	for (uint32_t i = 0; i < n; i++)
		node.build_time = node.build_time && arg_build_time(e, &args[i]);
	node.args = e->b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, args[i]);
	return push(e, node);
}

void emit_effect(struct elab *e, enum hir_kind kind, const struct hir_arg *args, uint32_t n, span at)
{
	struct hir_node node = {.kind = kind, .type = {.elem = DT_BOOL}, .args = e->b->args.len, .n_args = n, .at = at};
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, args[i]);
	e->b->effects = true;
	push(e, node);
}

hir_ref emit_result(struct elab *e, hir_ref source, uint32_t index, const struct hir_type *t, span at)
{
	bool build_time = e->b->nodes.at[source].build_time;
	return push(
		e, (struct hir_node){.kind = HIR_RESULT, .build_time = build_time, .type = *t, .index = index, .source = source, .at = at});
}

hir_ref emit_cast(struct elab *e, hir_ref r, dtype t, span at)
{
	struct hir_type type = *type_of(e, r);
	if (type.elem == t)
		return r;
	type.elem = t;
	struct hir_arg a = arg_tensor(r);
	return emit_builtin(e, BI_CAST, &type, &a, 1, at);
}

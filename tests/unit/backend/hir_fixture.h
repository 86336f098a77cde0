/* Core units made by hand, for the tests of lowering and planning. */
#ifndef TRIB_TESTS_HIR_FIXTURE_H
#define TRIB_TESTS_HIR_FIXTURE_H
#include <string.h>
#include "base/arena.h"
#include "frontend/hir/hir.h"

enum { HIR_CAP = 128 };

static inline struct hir_unit *hir_new(struct arena *a, const char *symbol)
{
	struct hir_unit *u = ARENA_NEW(a, struct hir_unit);
	*u = (struct hir_unit){.name = symbol,
			       .symbol = symbol,
			       .identity = hash_bytes(symbol, strlen(symbol)),
			       .at = SPAN_NONE,
			       .opt = -1,
			       .dims = dims_new(a)};
	u->inputs = ARENA_ARRAY(a, struct hir_input, HIR_CAP);
	u->outputs = ARENA_ARRAY(a, struct hir_output, HIR_CAP);
	u->nodes = ARENA_ARRAY(a, struct hir_node, HIR_CAP);
	u->args = ARENA_ARRAY(a, struct hir_arg, HIR_CAP * 4);
	return u;
}

/* The type of this shape; -1 means symbol 0. */
static inline struct hir_type hir_shape(struct hir_unit *u, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct hir_type t = {.elem = elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dims[k] < 0 ? dim_sym(u->dims, 0) : dim_const(u->dims, dims[k]);
	return t;
}
#define SHAPE(u, elem, ...) hir_shape((u), (elem), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

static inline hir_ref hir_node_new(struct hir_unit *u, enum hir_kind kind, struct hir_type t)
{
	struct hir_node *n = &u->nodes[u->n_nodes];
	*n = (struct hir_node){.kind = kind, .type = t, .args = u->n_args, .at = SPAN_NONE};
	return u->n_nodes++;
}

static inline hir_ref hir_input_new(struct hir_unit *u, const char *name, struct hir_type t, bool build_time)
{
	u->inputs[u->n_inputs] = (struct hir_input){.name = name, .type = t, .build_time = build_time};
	hir_ref r = hir_node_new(u, HIR_INPUT, t);
	u->nodes[r].build_time = build_time;
	u->nodes[r].index = u->n_inputs++;
	return r;
}

static inline hir_ref hir_const_f32(struct hir_unit *u, const float *v)
{
	hir_ref r = hir_node_new(u, HIR_CONST, (struct hir_type){.elem = DT_FLOAT32});
	u->nodes[r].data = v;
	return r;
}

#define T(ref) ((struct hir_arg){.kind = ARG_TENSOR, .u.tensor = (ref)})
#define I(v) ((struct hir_arg){.kind = ARG_INT, .u.i = (v)})
#define F(v) ((struct hir_arg){.kind = ARG_FLOAT, .u.f = (v)})
#define NONE ((struct hir_arg){.kind = ARG_NONE})

static inline hir_ref hir_apply(struct hir_unit *u, hir_ref r, const struct hir_arg *args, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		u->args[u->n_args++] = args[k];
	u->nodes[r].n_args = n;
	return r;
}

static inline hir_ref hir_builtin_new(struct hir_unit *u, enum builtin b, struct hir_type t, const struct hir_arg *args, uint32_t n)
{
	hir_ref r = hir_apply(u, hir_node_new(u, HIR_BUILTIN, t), args, n);
	u->nodes[r].builtin = b;
	return r;
}
#define BI(u, b, t, ...)                                                      \
	hir_builtin_new((u), (b), (t), (const struct hir_arg[]){__VA_ARGS__}, \
			sizeof((const struct hir_arg[]){__VA_ARGS__}) / sizeof(struct hir_arg))

static inline hir_ref hir_result_new(struct hir_unit *u, hir_ref source, uint32_t index, struct hir_type t)
{
	hir_ref r = hir_node_new(u, HIR_RESULT, t);
	u->nodes[r].source = source;
	u->nodes[r].index = index;
	return r;
}

static inline hir_ref hir_call_new(struct hir_unit *u, struct hir_unit *callee, const dim *syms, struct hir_type t,
				   const struct hir_arg *args, uint32_t n)
{
	hir_ref r = hir_apply(u, hir_node_new(u, HIR_CALL, t), args, n);
	u->nodes[r].callee = callee;
	u->nodes[r].callee_syms = syms;
	return hir_result_new(u, r, 0, t);
}

static inline void hir_output_new(struct hir_unit *u, hir_ref r)
{
	u->outputs[u->n_outputs++] = (struct hir_output){.name = "out", .node = r};
}
#endif

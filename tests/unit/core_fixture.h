/* Core units made by hand, for the tests of lowering and planning. */
#ifndef TRIB_TESTS_CORE_FIXTURE_H
#define TRIB_TESTS_CORE_FIXTURE_H
#include <string.h>
#include "base/arena.h"
#include "frontend/core.h"

enum { CORE_CAP = 128 };

static inline struct core_unit *core_new(struct arena *a, const char *symbol)
{
	struct core_unit *u = ARENA_NEW(a, struct core_unit);
	*u = (struct core_unit){.name = symbol,
				.symbol = symbol,
				.identity = hash_bytes(symbol, strlen(symbol)),
				.at = SPAN_NONE,
				.opt = -1,
				.dims = dims_new(a)};
	u->inputs = ARENA_ARRAY(a, struct core_input, CORE_CAP);
	u->outputs = ARENA_ARRAY(a, struct core_output, CORE_CAP);
	u->nodes = ARENA_ARRAY(a, struct core_node, CORE_CAP);
	u->args = ARENA_ARRAY(a, struct core_arg, CORE_CAP * 4);
	return u;
}

/* -1 stands for symbol 0. */
static inline struct core_type core_shape(struct core_unit *u, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct core_type t = {.elem = elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dims[k] < 0 ? dim_sym(u->dims, 0) : dim_const(u->dims, dims[k]);
	return t;
}
#define SHAPE(u, elem, ...) core_shape((u), (elem), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

static inline core_ref core_node_new(struct core_unit *u, enum core_kind kind, struct core_type t)
{
	struct core_node *n = &u->nodes[u->n_nodes];
	*n = (struct core_node){.kind = kind, .type = t, .args = u->n_args, .at = SPAN_NONE};
	return u->n_nodes++;
}

static inline core_ref core_input_new(struct core_unit *u, const char *name, struct core_type t, bool build_time)
{
	u->inputs[u->n_inputs] = (struct core_input){name, t, build_time};
	core_ref r = core_node_new(u, CORE_INPUT, t);
	u->nodes[r].index = u->n_inputs++;
	return r;
}

static inline core_ref core_const_f32(struct core_unit *u, const float *v)
{
	core_ref r = core_node_new(u, CORE_CONST, (struct core_type){.elem = DT_FLOAT32});
	u->nodes[r].data = v;
	return r;
}

#define T(ref) ((struct core_arg){.kind = ARG_TENSOR, .u.tensor = (ref)})
#define I(v) ((struct core_arg){.kind = ARG_INT, .u.i = (v)})
#define F(v) ((struct core_arg){.kind = ARG_FLOAT, .u.f = (v)})
#define NONE ((struct core_arg){.kind = ARG_NONE})

static inline core_ref core_apply(struct core_unit *u, core_ref r, const struct core_arg *args, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		u->args[u->n_args++] = args[k];
	u->nodes[r].n_args = n;
	return r;
}

static inline core_ref core_builtin_new(struct core_unit *u, enum builtin b, struct core_type t, const struct core_arg *args, uint32_t n)
{
	core_ref r = core_apply(u, core_node_new(u, CORE_BUILTIN, t), args, n);
	u->nodes[r].builtin = b;
	return r;
}
#define BI(u, b, t, ...)                                                        \
	core_builtin_new((u), (b), (t), (const struct core_arg[]){__VA_ARGS__}, \
			 sizeof((const struct core_arg[]){__VA_ARGS__}) / sizeof(struct core_arg))

static inline core_ref core_result_new(struct core_unit *u, core_ref source, uint32_t index, struct core_type t)
{
	core_ref r = core_node_new(u, CORE_RESULT, t);
	u->nodes[r].source = source;
	u->nodes[r].index = index;
	return r;
}

static inline core_ref core_call_new(struct core_unit *u, struct core_unit *callee, const dim *syms, struct core_type t,
				     const struct core_arg *args, uint32_t n)
{
	core_ref r = core_apply(u, core_node_new(u, CORE_CALL, t), args, n);
	u->nodes[r].callee = callee;
	u->nodes[r].callee_syms = syms;
	return core_result_new(u, r, 0, t);
}

static inline void core_output_new(struct core_unit *u, core_ref r) { u->outputs[u->n_outputs++] = (struct core_output){"out", r}; }
#endif

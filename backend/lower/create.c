/* Builtins that create tensors. */
#include "backend/lower/state.h"

static void create_fill(struct lower *l, ir_ref *r, double v)
{
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_broadcast(l->b, ir_build_const_float(l->b, t.elem, v), &t);
}

void lower_bi_zeros(struct lower *l, ir_ref *r) { create_fill(l, r, 0); }
void lower_bi_ones(struct lower *l, ir_ref *r) { create_fill(l, r, 1); }

void lower_bi_full(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref v = lower_tensor(l, 1);
	v = v == IR_NONE ? ir_build_const_float(l->b, t.elem, lower_float(l, 1)) : ir_build_cast(l->b, v, t.elem);
	r[0] = ir_build_broadcast(l->b, v, &t);
}

void lower_bi_eye(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_op2(l->b, OP_EQ, ir_build_iota(l->b, &t, DT_INT64, 0), ir_build_iota(l->b, &t, DT_INT64, 1));
}

/* start + i*step; floats in double precision, rounded once. */
void lower_bi_arange(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	bool whole = dtype_class(l->n->type.elem) != DTC_FLOAT;
	dtype e = whole ? l->n->type.elem : DT_FLOAT64;
	ir_ref start = whole ? ir_build_extent(l->b, lower_dim(l, 0), e) : ir_build_const_float(l->b, e, lower_float(l, 0));
	ir_ref step = whole ? ir_build_extent(l->b, lower_dim(l, 2), e) : ir_build_const_float(l->b, e, lower_float(l, 2));
	r[0] = ir_build_op2(l->b, OP_ADD, ir_build_op2(l->b, OP_MUL, ir_build_iota(l->b, &t, e, 0), step), start);
}

/* Computed from the nearer end in double precision and rounded once, so that both ends are exact. */
void lower_bi_linspace(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	double start = lower_float(l, 0), end = lower_float(l, 1);
	ir_ref i = ir_build_iota(l->b, &t, DT_FLOAT64, 0);
	ir_ref last = ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, t.dims[0], DT_FLOAT64), 1);
	ir_ref step = ir_build_op2(l->b, OP_DIV, ir_build_const_float(l->b, DT_FLOAT64, end - start), ir_build_op2c(l->b, OP_MAX, last, 1));
	ir_ref from_end = ir_build_op2(l->b, OP_MUL, ir_build_op2(l->b, OP_SUB, i, last), step);
	ir_ref low = ir_build_op2c(l->b, OP_ADD, ir_build_op2(l->b, OP_MUL, i, step), start),
	       high = ir_build_op2c(l->b, OP_ADD, from_end, end);
	ir_ref first = ir_build_op2(l->b, OP_EQ, i, ir_build_const_float(l->b, DT_FLOAT64, 0));
	ir_ref half = ir_build_op2(l->b, OP_LT, ir_build_op2(l->b, OP_ADD, i, i), last);
	r[0] = ir_build_select(l->b, ir_build_op2(l->b, OP_OR, first, half), low, high);
}

/* A call with a seed uses that seed. Calls without one use different streams of the seed of the build. */
static void random(struct lower *l, ir_ref *r, enum ir_distribution kind, uint32_t seed_arg, double f0, double f1)
{
	struct hir_type t = lower_node_type(l);
	if (!ir_type_const(l->f->dims, &t)) {
		lower_fail(l, "a random tensor is computed at build time: its shape must be known at compile time");
		return;
	}
	bool seeded = lower_has(l, seed_arg);
	int64_t seed = seeded ? lower_int(l, seed_arg) : 0;
	r[0] = ir_build(l->b, OP_RANDOM, &t, NULL, 0);
	ir_set_random(l->f, r[0], (struct ir_random){kind, seed, seeded ? -1 : l->streams++, {f0, f1}});
}

void lower_bi_rand(struct lower *l, ir_ref *r) { random(l, r, RANDOM_UNIFORM, 2, 0, 1); }
void lower_bi_randn(struct lower *l, ir_ref *r) { random(l, r, RANDOM_NORMAL, 2, 0, 1); }
void lower_bi_random_ternary(struct lower *l, ir_ref *r) { random(l, r, RANDOM_TRIT, 1, 1.0 / 3, 0); }

void lower_bi_ternary_weights(struct lower *l, ir_ref *r)
{
	double sparsity = lower_float(l, 1);
	bool balanced = lower_str_is(l, 2, "balanced");
	if (!balanced && sparsity < 1.0 / 3)
		sparsity = 1.0 / 3;
	random(l, r, balanced ? RANDOM_TRIT_BALANCED : RANDOM_TRIT, 3, sparsity, 0);
}

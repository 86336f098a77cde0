/* What an operation costs: steps, weighted by the work of one, and the bytes of operands and result. */
#include "backend/ir/ir.h"

struct cost {
	const struct ir_fn *f;
	const struct ir_inst *i;
	const int64_t *syms;
};

static double cost_size_of(const struct cost *c, dim d)
{
	int64_t n = dim_eval(c->f->dims, d, c->syms);
	return n < 0 ? 0 : (double)n;
}

static double elements(const struct cost *c, const struct hir_type *t)
{
	double n = 1;
	for (uint32_t k = 0; k < t->rank; k++)
		n *= cost_size_of(c, t->dims[k]);
	return n;
}

static const struct hir_type *cost_operand(const struct cost *c, uint32_t k)
{
	return ir_type_of(c->f, c->f->operands[c->i->operands + k]);
}

static double cost_none(const struct cost *c)
{
	(void)c;
	return 0;
}
static double cost_each(const struct cost *c) { return elements(c, &c->i->type); }
static double cost_all(const struct cost *c) { return elements(c, cost_operand(c, 0)); }
/* A multiplication and an addition for each product. */
static double cost_product(const struct cost *c)
{
	const struct hir_type *a = cost_operand(c, 0);
	return 2 * elements(c, &c->i->type) * cost_size_of(c, a->dims[a->rank - 1]);
}
/* The elements of the weights for one result channel. */
static double cost_conv(const struct cost *c)
{
	const struct hir_type *w = cost_operand(c, 1);
	return elements(c, &c->i->type) * cost_size_of(c, w->dims[1]) * cost_size_of(c, w->dims[2]) * cost_size_of(c, w->dims[3]);
}
static double cost_windows(const struct cost *c)
{
	const struct ir_pool *a = ir_pool(c->i);
	return a->kind == POOL_ADAPTIVE_AVERAGE ? cost_all(c) : cost_each(c) * (double)(a->kernel[0] * a->kernel[1]);
}
/* Two products and a softmax, of each pair of a query and a key. */
static double cost_attention(const struct cost *c)
{
	const struct hir_type *q = cost_operand(c, 0), *k = cost_operand(c, 1), t = c->i->type;
	double features = cost_size_of(c, t.dims[t.rank - 1]), pairs = 0;
	if (features > 0)
		pairs = elements(c, &t) / features * cost_size_of(c, k->dims[k->rank - 2]);
	return pairs * (2 * cost_size_of(c, q->dims[q->rank - 1]) + 2 * features + 20);
}

struct ir_cost ir_cost(const struct ir_fn *f, ir_ref r, const int64_t *syms)
{
	static double (*const steps_of[OP_COUNT])(const struct cost *c) = {
#define OP(id, text, signature, elements, traits, record, shape, work, cost) [OP_##id] = cost_##cost,
#include "backend/ir/ops.def"
#undef OP
	};
	struct cost c = {f, ir_at(f, r), syms};
	double steps = steps_of[c.i->op](&c);
	struct ir_cost cost = {steps * ir_op_work(c.i->op), 0};
	if (steps > 0)
		cost.bytes = elements(&c, &c.i->type) * (double)dtype_size(c.i->type.elem);
	for (uint32_t k = 0; k < c.i->n_operands; k++) {
		double n = elements(&c, cost_operand(&c, k));
		cost.bytes +=
			(n < steps ? n : steps) * (double)dtype_size(cost_operand(&c, k)->elem); /* a step reads one element of each */
	}
	return cost;
}

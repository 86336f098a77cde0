/* The hash of a function. Dims are hashed as programs, because their handles depend on the order in which they were made. */
#include "backend/ir/ir.h"
#include "base/vec.h"

static void hash_dim_steps(struct hasher *h, const struct dims *d, dim x)
{
	struct dim_step few[64], *steps = few;
	uint32_t n = dim_program(d, x, few, 64);
	VEC(struct dim_step) many = {0};
	if (n > 64) {
		vec_reserve(&many, n);
		steps = many.at;
		dim_program(d, x, steps, n);
	}
	hasher_add_u64(h, n);
	for (uint32_t k = 0; k < n; k++) {
		hasher_add_u64(h, steps[k].op);
		hasher_add_u64(h, steps[k].op == DIM_PUSH_CONST || steps[k].op == DIM_PUSH_SYM ? (uint64_t)steps[k].value : 0);
	}
	vec_free(&many);
}

static void hash_type(struct hasher *h, const struct dims *d, const struct hir_type *t)
{
	hasher_add_u64(h, (uint64_t)t->elem << 8 | t->rank);
	for (uint32_t k = 0; k < t->rank; k++)
		hash_dim_steps(h, d, t->dims[k]);
}

static void hash_inst(struct hasher *h, const struct ir_fn *f, const struct ir_inst *i)
{
	hasher_add_u64(h, (uint64_t)i->layout << 16 | i->op);
	hash_type(h, f->dims, &i->type);
	hasher_add_u64(h, i->n_operands);
	if (i->n_operands)
		hasher_add(h, f->operands + i->operands, i->n_operands * sizeof(ir_ref));
	ir_hash_attributes(h, f->dims, i, hash_dim_steps);
}

hash128 ir_hash(const struct ir_fn *f)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, f->name);
	hasher_add_u64(h, f->n_inputs);
	for (uint32_t k = 0; k < f->n_inputs; k++)
		hash_type(h, f->dims, &f->inputs[k]);
	hasher_add_u64(h, f->n_weights);
	for (uint32_t k = 0; k < f->n_weights; k++)
		hash_type(h, f->dims, &f->weights[k]);
	hasher_add_u64(h, f->n_insts);
	for (uint32_t r = 0; r < f->n_insts; r++)
		hash_inst(h, f, &f->insts[r]);
	hasher_add_u64(h, f->n_outputs);
	hasher_add(h, f->outputs, f->n_outputs * sizeof(ir_ref));
	return hasher_finish(h);
}

/* Common subexpressions by hash-consing: instructions with the same operation, type, attributes and operands become one. */
#include "backend/passes/passes.h"
#include "base/map.h"

static void cse_hash_handle(struct hasher *h, const struct dims *dims, dim x)
{
	(void)dims;
	hasher_add_u64(h, x.idx);
}

static void hash_operands(struct hasher *h, const struct rewrite *w, ir_ref r)
{
	const struct ir_inst *i = ir_at(&w->old, r);
	hasher_add_u64(h, i->n_operands);
	if (ir_op_traits(i->op) & COMMUTES) {
		ir_ref a = rewrite_operand(w, r, 0), b = rewrite_operand(w, r, 1);
		hasher_add_u64(h, a < b ? a : b);
		hasher_add_u64(h, a < b ? b : a);
		return;
	}
	for (uint32_t k = 0; k < i->n_operands; k++)
		hasher_add_u64(h, rewrite_operand(w, r, k));
}

static hash128 cse_key_of(const struct rewrite *w, ir_ref r)
{
	const struct ir_inst *i = ir_at(&w->old, r);
	struct hasher *h = hasher_new();
	hasher_add_u64(h, (uint64_t)i->layout << 16 | i->op);
	hasher_add_u64(h, (uint64_t)i->type.elem << 8 | i->type.rank);
	for (uint32_t k = 0; k < i->type.rank; k++)
		cse_hash_handle(h, w->old.dims, i->type.dims[k]);
	hash_operands(h, w, r);
	ir_hash_attributes(h, w->old.dims, i, cse_hash_handle);
	return hasher_finish(h);
}

uint32_t pass_cse(struct ir_fn *f, struct pass_context *c)
{
	(void)c;
	struct map seen = {0};
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		const struct ir_inst *i = ir_at(&w.old, r);
		if (i->op == OP_RANDOM || ir_has_effect(i)) {
			rewrite_copy(&w, r);
			continue;
		}
		hash128 key = cse_key_of(&w, r);
		uint64_t have;
		if (map_get(&seen, key, &have)) {
			w.map[r] = (ir_ref)have;
			ir_add_origins(f, (ir_ref)have, i->origin);
			changes++;
		} else {
			map_put(&seen, key, rewrite_copy(&w, r));
		}
	}
	rewrite_end(&w);
	map_free(&seen);
	return changes;
}

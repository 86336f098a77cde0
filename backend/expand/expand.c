/* Visits the instructions. expansions.def names the function that expands each operation. */
#include "backend/expand/expand.h"
#include "backend/expand/state.h"
#include "backend/ir/rewrite.h"
#include "base/bug.h"

enum { MAX_OPERANDS = 5 }; /* of NORM */

/* The last QUANTIZE or QUANT_SCALE that was expanded. Lowering emits both, one after the other; they share a mean or a maximum. */
struct quantisation {
	enum ir_op rest; /* the other operation, not yet needed; OP_COUNT: none */
	hash128 key;     /* of operands and attributes */
	ir_ref results[EXPAND_RESULTS];
};

static expand_fn *expansion_of(enum ir_op op)
{
	switch (op) {
#define EXPAND(op, function) \
	case OP_##op: return expand_##function;
#include "backend/expand/expansions.def"
#undef EXPAND
	default: return NULL;
	}
}

static void expand_hash_handle(struct hasher *h, const struct dims *dims, dim x)
{
	(void)dims;
	hasher_add_u64(h, x.idx);
}

static hash128 expand_key_of(const struct rewrite *w, ir_ref r)
{
	struct hasher *h = hasher_new();
	hasher_add_u64(h, rewrite_operand(w, r, 0));
	ir_hash_attributes(h, w->old.dims, ir_at(&w->old, r), expand_hash_handle);
	return hasher_finish(h);
}

static void expand_expand(struct rewrite *w, ir_ref r, expand_fn *fn, ir_ref *results)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	ir_ref x[MAX_OPERANDS];
	BUG_ON(i.n_operands > MAX_OPERANDS);
	for (uint32_t k = 0; k < i.n_operands; k++)
		x[k] = rewrite_operand(w, r, k);
	fn(&(struct ir_builder){w->f, i.origin}, &i, x, results);
}

static ir_ref expand_quantisation(struct rewrite *w, ir_ref r, struct quantisation *last)
{
	enum ir_op op = ir_at(&w->old, r)->op;
	hash128 key = expand_key_of(w, r);
	if (last->rest == op && hash_eq(key, last->key)) {
		last->rest = OP_COUNT;
	} else {
		expand_expand(w, r, expand_quantize, last->results);
		last->rest = op == OP_QUANTIZE ? OP_QUANT_SCALE : OP_QUANTIZE;
		last->key = key;
	}
	return last->results[op == OP_QUANT_SCALE];
}

/* Expands r, whose type the value gets. */
static ir_ref expand_inst(struct rewrite *w, ir_ref r, expand_fn *fn, struct quantisation *last)
{
	const struct ir_inst *i = ir_at(&w->old, r);
	ir_ref y[EXPAND_RESULTS];
	if (fn == expand_quantize)
		y[0] = expand_quantisation(w, r, last);
	else
		expand_expand(w, r, fn, y);
	struct ir_builder b = {w->f, i->origin};
	return ir_build_reshape(&b, ir_build_cast(&b, y[0], i->type.elem), i->type.dims, i->type.rank);
}

static bool has_compound(const struct ir_fn *f)
{
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_op_traits(ir_at(f, r)->op) & COMPOUND)
			return true;
	return false;
}

uint32_t expand_compound(struct ir_fn *f, expand_except *except, const void *ctx)
{
	if (!has_compound(f))
		return 0;
	struct rewrite w;
	struct quantisation last = {.rest = OP_COUNT};
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		expand_fn *fn = expansion_of(ir_at(&w.old, r)->op);
		if (!fn || (except && except(ctx, &w.old, r))) {
			rewrite_copy(&w, r);
			continue;
		}
		w.map[r] = expand_inst(&w, r, fn, &last);
		changes++;
	}
	rewrite_end(&w);
	return changes;
}

/* Constant folding: the interpreter evaluates operations on constants whose results are is_small. BROADCAST and IOTA remain, because
 * they cost nothing in a loop, but operations on them are folded. An element-wise operation on broadcast scalars is folded as a scalar. */
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/passes/passes.h"
#include "base/arena.h"

enum { FOLD_LIMIT = 64 * 1024 };

static bool fold_is_small(const struct ir_fn *f, const struct hir_type *t)
{
	int64_t n = (int64_t)dtype_size(t->elem), v;
	for (uint32_t k = 0; k < t->rank; k++)
		if (!dim_is_const(f->dims, t->dims[k], &v) || __builtin_mul_overflow(n, v, &n))
			return false;
	return n <= FOLD_LIMIT;
}

static bool is_leaf(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	if (!fold_is_small(f, &i->type))
		return false;
	return i->op == OP_CONST || i->op == OP_IOTA || (i->op == OP_BROADCAST && ir_at(f, ir_operand(f, r, 0))->op == OP_CONST);
}

static ir_ref copy_leaf(struct ir_fn *to, const struct ir_fn *from, ir_ref r)
{
	const struct ir_inst *leaf = ir_at(from, r);
	ir_ref operand = IR_NONE;
	if (leaf->n_operands)
		operand = ir_copy(to, ir_at(from, ir_operand(from, r, 0)), NULL, 0);
	return ir_copy(to, leaf, &operand, leaf->n_operands);
}

/* Returns a CONST of the value of r, whose operands are leaves, or IR_NONE if it cannot be computed. */
static ir_ref fold_evaluate(struct rewrite *w, ir_ref r)
{
	struct ir_fn *f = w->f, *one = ir_fn_new(f->unit, f->name, f->dims);
	one->origins = f->origins;
	const struct ir_inst i = *ir_at(f, r);
	ir_ref *operands = ARENA_ARRAY(f->unit, ir_ref, i.n_operands + 1);
	for (uint32_t k = 0; k < i.n_operands; k++)
		operands[k] = copy_leaf(one, f, ir_operand(f, r, k));
	ir_ref value = ir_copy(one, &i, operands, i.n_operands);
	one->outputs = &value;
	one->n_outputs = 1;
	struct tensor out;
	const char *error;
	if (!interp_run(one, NULL, NULL, NULL, 0, f->unit, &out, &error))
		return IR_NONE;
	ir_ref c = ir_emit(f, OP_CONST, &i.type, NULL, 0, i.origin);
	ir_set_const(f, c, out.data);
	return c;
}

/* Returns an element-wise operation on splats as a folded scalar that is broadcast, or IR_NONE if r is none. */
static ir_ref fold_scalar(struct rewrite *w, ir_ref r)
{
	struct ir_fn *f = w->f;
	const struct ir_inst i = *ir_at(f, r);
	ir_ref scalars[3];
	if (!(ir_op_traits(i.op) & EWISE) || i.type.rank == 0)
		return IR_NONE;
	for (uint32_t k = 0; k < i.n_operands; k++) {
		ir_ref s = ir_splat(f, ir_operand(f, r, k));
		if (s == IR_NONE)
			return IR_NONE;
		struct hir_type t = {.elem = ir_at(f, s)->type.elem};
		const void *data = ir_data(ir_at(f, s))->data;
		scalars[k] = ir_emit(f, OP_CONST, &t, NULL, 0, i.origin);
		ir_set_const(f, scalars[k], data);
	}
	struct hir_type t = {.elem = i.type.elem};
	ir_ref c = fold_evaluate(w, ir_emit(f, i.op, &t, scalars, i.n_operands, i.origin));
	return c == IR_NONE ? c : ir_emit(f, OP_BROADCAST, &i.type, &c, 1, i.origin);
}

static bool is_foldable(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	if (!(ir_op_traits(i->op) & PURE) || (ir_op_traits(i->op) & COMPOUND) || !i->build_time || !fold_is_small(f, &i->type))
		return false; /* a compound operation is folded once it is expanded, step by step as it would run */
	if (i->op == OP_CONST || i->op == OP_IOTA || i->op == OP_BROADCAST || ir_calls(i->op) || i->op == OP_RESULT)
		return false;
	bool moves = i->op == OP_RESHAPE || i->op == OP_TRANSPOSE || i->op == OP_SLICE;
	if (moves && ir_at(f, ir_operand(f, r, 0))->op == OP_BROADCAST)
		return false; /* simplify.c makes it a BROADCAST */
	for (uint32_t k = 0; k < i->n_operands; k++)
		if (!is_leaf(f, ir_operand(f, r, k)))
			return false;
	return true;
}

uint32_t pass_fold(struct ir_fn *f, struct pass_context *c)
{
	(void)c;
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		ir_ref copy = rewrite_copy(&w, r);
		ir_ref folded = fold_scalar(&w, copy);
		if (folded == IR_NONE && is_foldable(f, copy))
			folded = fold_evaluate(&w, copy);
		if (folded == IR_NONE)
			continue;
		w.map[r] = folded;
		changes++;
	}
	rewrite_end(&w);
	return changes;
}

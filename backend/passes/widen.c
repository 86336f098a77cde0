/* Reads 16-bit floats where they are used, instead of a widened copy:
 *
 *   gather(float32(t), i)  ->  float32(gather(t, i))
 *   x @ float32(w)         ->  x @ w     if the target has a kernel for it
 *   move(float32(w))       ->  float32(move(w))  a reshape, transpose or slice of a parameter
 *
 * The result is the same: widening is exact, and an element of x @ w is the same sum. What is left of float32(w) is computed by the loops that use it,
 * or when the library is built (split.c). */
#include "backend/passes/passes.h"
#include "backend/kernels/kernel.h"

/* Returns the 16-bit value that v widens to float32, or IR_NONE. */
static ir_ref narrow_of(const struct ir_fn *f, ir_ref v)
{
	const struct ir_inst *i = ir_at(f, v);
	if (i->op != OP_CAST || i->type.elem != DT_FLOAT32)
		return IR_NONE;
	dtype from = ir_at(f, ir_operand(f, v, 0))->type.elem;
	return from == DT_BFLOAT16 || from == DT_FLOAT16 ? ir_operand(f, v, 0) : IR_NONE;
}

/* Copies old instruction r with another first operand, and widens its result. */
static ir_ref move_narrow(struct rewrite *w, ir_ref r, ir_ref narrow)
{
	struct ir_inst i = *ir_at(&w->old, r);
	struct hir_type wide = i.type;
	ir_ref operands[1 + HIR_MAX_RANK] = {narrow};
	for (uint32_t k = 1; k < i.n_operands; k++)
		operands[k] = rewrite_operand(w, r, k);
	i.type.elem = ir_at(w->f, narrow)->type.elem;
	ir_ref moved = ir_copy(w->f, &i, operands, i.n_operands), widened = ir_emit(w->f, OP_CAST, &wide, &moved, 1, i.origin);
	ir_at(w->f, widened)->build_time = i.build_time;
	return widened;
}

/* A matrix may be repeated for a batch. */
static ir_ref narrow_matrix(struct ir_fn *f, ir_ref v)
{
	const struct ir_inst i = *ir_at(f, v);
	ir_ref narrow = narrow_of(f, i.op == OP_BROADCAST ? ir_operand(f, v, 0) : v);
	if (narrow == IR_NONE || i.op != OP_BROADCAST)
		return narrow;
	struct hir_type t = i.type;
	t.elem = ir_at(f, narrow)->type.elem;
	return ir_emit(f, OP_BROADCAST, &t, &narrow, 1, i.origin);
}

static ir_ref multiply_narrow(struct rewrite *w, const struct target *t, ir_ref r)
{
	const struct ir_inst i = *ir_at(&w->old, r);
	ir_ref x = rewrite_operand(w, r, 0), matrix = rewrite_operand(w, r, 1);
	if (!ir_at(&w->old, ir_operand(&w->old, r, 1))->build_time || ir_at(w->f, x)->type.elem != DT_FLOAT32)
		return IR_NONE;
	ir_ref narrow = narrow_matrix(w->f, matrix);
	if (narrow == IR_NONE)
		return IR_NONE;
	ir_ref product = ir_emit(w->f, OP_MATMUL, &i.type, (ir_ref[]){x, narrow}, 2, i.origin);
	return target_takes(t, w->f, product, NULL) ? product : IR_NONE;
}

static ir_ref widen_widen(struct rewrite *w, const struct target *t, ir_ref r)
{
	enum ir_op op = ir_at(&w->old, r)->op;
	if (op == OP_MATMUL)
		return multiply_narrow(w, t, r);
	if (op != OP_GATHER && op != OP_RESHAPE && op != OP_TRANSPOSE && op != OP_SLICE)
		return IR_NONE;
	bool is_known = ir_at(&w->old, ir_operand(&w->old, r, 0))->build_time;
	ir_ref narrow = is_known ? narrow_of(w->f, rewrite_operand(w, r, 0)) : IR_NONE;
	return narrow == IR_NONE ? IR_NONE : move_narrow(w, r, narrow);
}

uint32_t pass_widen(struct ir_fn *f, struct pass_context *c)
{
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		w.map[r] = widen_widen(&w, c->target, r);
		if (w.map[r] == IR_NONE)
			rewrite_copy(&w, r);
		else
			changes++;
	}
	rewrite_end(&w);
	return changes;
}

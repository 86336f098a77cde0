/* Cutting a slice into the pieces that can be evaluated apart from one another: connected components, where constants connect nothing. */
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/plan/plan.h"
#include "base/arena.h"

static uint32_t root(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static void join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = root(up, a);
	b = root(up, b);
	up[a > b ? a : b] = a > b ? b : a;
}

/* Joins every instruction with its operands; up[i] == i for what depends on constants only. */
static void connect(const struct ir_fn *f, uint32_t *up, bool *heavy)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		up[r] = r;
		heavy[r] = i->op == OP_WEIGHT || i->op == OP_RANDOM;
		for (uint32_t k = 0; k < i->n_operands; k++) {
			ir_ref o = ir_operand(f, r, k);
			heavy[r] = heavy[r] || heavy[o];
			if (heavy[o])
				join(up, r, o);
		}
	}
}

/* The bodies of the branches and loops of a piece, with all that they call: what is evaluated depends on them. */
static hash128 with_callees(hash128 h, const struct ir_fn *f)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		if (ir_calls(i->op))
			h = hash_combine(h, hir_unit_hash_all(i->callee));
		if (i->other)
			h = hash_combine(h, hir_unit_hash_all(i->other));
	}
	return h;
}

static void face_outputs(struct build_fn_interface *face, const struct ir_fn *f, uint32_t *up, uint32_t *number)
{
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		const struct ir_inst *i = ir_at(f, f->outputs[k]);
		struct build_fn_output *o = &face->outputs[k];
		*o = (struct build_fn_output){.weight = PLAN_NONE, .piece = PLAN_NONE, .elem = i->type.elem, .rank = i->type.rank};
		for (uint32_t d = 0; d < i->type.rank; d++)
			o->dims[d] = dim_eval(f->dims, i->type.dims[d], NULL);
		if (i->op == OP_WEIGHT) {
			o->weight = i->index;
			continue;
		}
		uint32_t *n = &number[root(up, f->outputs[k])];
		if (!*n)
			*n = ++face->n_pieces;
		o->piece = *n - 1;
	}
}

void plan_interface(struct arena *a, const struct ir_fn *f, struct build_fn_interface *face)
{
	struct arena *scratch = arena_new(0);
	uint32_t *up = ARENA_ARRAY(scratch, uint32_t, f->n_insts + 1), *number = ARENA_ARRAY(scratch, uint32_t, f->n_insts + 1);
	connect(f, up, ARENA_ARRAY(scratch, bool, f->n_insts + 1));
	*face = (struct build_fn_interface){.n_weights = f->n_weights, .n_outputs = f->n_outputs};
	face->outputs = ARENA_ARRAY(a, struct build_fn_output, f->n_outputs + 1);
	face->piece_of = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	face_outputs(face, f, up, number);
	memset(face->piece_of, 0xff, f->n_weights * sizeof *face->piece_of);
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_at(f, r)->op == OP_WEIGHT && number[root(up, r)])
			face->piece_of[ir_at(f, r)->index] = number[root(up, r)] - 1;
	uint32_t *nth = ARENA_ARRAY(scratch, uint32_t, face->n_pieces + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (face->outputs[k].piece != PLAN_NONE)
			face->outputs[k].nth = nth[face->outputs[k].piece]++;
	face->pieces = ARENA_ARRAY(a, hash128, face->n_pieces + 1);
	for (uint32_t k = 0; k < face->n_pieces; k++) {
		arena_mark_t mark = arena_mark(scratch);
		const struct ir_fn *piece = plan_piece(scratch, f, face, k);
		face->pieces[k] = with_callees(ir_hash(piece), piece);
		arena_release(scratch, mark);
	}
	arena_free(scratch);
}

/* ---- a piece as a function ---- */

/* Everything in a slice has constant dims, but for the symbols of the units that it calls. Equal pieces of different units must be equal: only a
 * piece that needs the unit's run-time sizes has them as symbols. */
static const dim *needed_symbols(struct ir_fn *to, const struct ir_fn *f, const bool *live)
{
	bool needed = false;
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		for (uint32_t k = 0; live[r] && ir_calls(i->op) && k < dims_syms(i->callee->dims); k++)
			needed = needed || !dim_is_const(f->dims, i->callee_syms[k], NULL);
	}
	if (!needed)
		return NULL;
	return ir_same_symbols(to, f->dims);
}

/* `number`: of each weight in the piece. */
static void copy_live(struct ir_fn *to, const struct ir_fn *f, const bool *live, ir_ref *map, const uint32_t *number)
{
	const dim *syms = needed_symbols(to, f, live);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		if (!live[r])
			continue;
		struct ir_inst i = *ir_at(f, r);
		ir_ref *operands = ARENA_ARRAY(to->unit, ir_ref, i.n_operands + 1);
		ir_translate(to, f->dims, syms, &i);
		if (i.op == OP_WEIGHT) {
			i.index = number[i.index];
			to->weights[i.index] = i.type;
		}
		for (uint32_t k = 0; k < i.n_operands; k++)
			operands[k] = map[ir_operand(f, r, k)];
		map[r] = ir_copy(to, &i, operands, i.n_operands);
	}
}

struct ir_fn *plan_piece(struct arena *a, const struct ir_fn *f, const struct build_fn_interface *face, uint32_t piece)
{
	struct ir_fn *to = ir_fn_new(a, "", dims_new(a));
	uint32_t *number = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	bool *live = ARENA_ARRAY(a, bool, f->n_insts + 1);
	ir_ref *map = ARENA_ARRAY(a, ir_ref, f->n_insts + 1);
	to->weights = ARENA_ARRAY(a, struct hir_type, f->n_weights + 1);
	for (uint32_t k = 0; k < f->n_weights; k++)
		if (face->piece_of[k] == piece)
			number[k] = to->n_weights++;
	to->outputs = ARENA_ARRAY(a, ir_ref, f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		live[f->outputs[k]] |= face->outputs[k].piece == piece;
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	copy_live(to, f, live, map, number);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (face->outputs[k].piece == piece)
			to->outputs[to->n_outputs++] = map[f->outputs[k]];
	return to;
}

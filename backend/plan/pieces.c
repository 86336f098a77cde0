/* Divides a build_fn into pieces that can be evaluated separately: its connected components, where a shared constant does not connect. */
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

static void pieces_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = root(up, a);
	b = root(up, b);
	up[a > b ? a : b] = a > b ? b : a;
}

/* Joins every instruction with its operands (union-find). What depends on constants alone stays alone: up[i] == i. */
static void connect(const struct ir_fn *f, uint32_t *up, bool *connects)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		up[r] = r;
		connects[r] = i->op == OP_WEIGHT || i->op == OP_RANDOM;
		for (uint32_t k = 0; k < i->n_operands; k++) {
			ir_ref o = ir_operand(f, r, k);
			connects[r] = connects[r] || connects[o];
			if (connects[o])
				pieces_join(up, r, o);
		}
	}
}

/* Adds the units that a piece calls, with all their callees, to its hash. */
static hash128 hash_callees(hash128 h, const struct ir_fn *f)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		if (!ir_calls(i->op))
			continue;
		h = hash_combine(h, hir_unit_hash_all(ir_call(i)->callee));
		if (ir_call(i)->other)
			h = hash_combine(h, hir_unit_hash_all(ir_call(i)->other));
	}
	return h;
}

static bool is_transposed_weight(const struct ir_fn *f, const struct ir_inst *i)
{
	return i->op == OP_TRANSPOSE && i->type.rank == 2 && ir_perm(i)->perm[0] == 1 &&
	       ir_at(f, f->operands[i->operands])->op == OP_WEIGHT;
}

static void describe_outputs(struct build_fn_interface *interface, const struct ir_fn *f, uint32_t *up, uint32_t *number)
{
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		const struct ir_inst *i = ir_at(f, f->outputs[k]);
		struct build_fn_output *o = &interface->outputs[k];
		*o = (struct build_fn_output){.weight = PLAN_NONE, .piece = PLAN_NONE, .elem = i->type.elem, .rank = i->type.rank};
		for (uint32_t d = 0; d < i->type.rank; d++)
			o->dims[d] = dim_eval(f->dims, i->type.dims[d], NULL);
		o->is_transposed = is_transposed_weight(f, i);
		if (o->is_transposed)
			i = ir_at(f, ir_operand(f, f->outputs[k], 0));
		if (i->op == OP_WEIGHT) {
			o->weight = ir_number(i)->number;
			continue;
		}
		uint32_t *n = &number[root(up, f->outputs[k])];
		if (!*n)
			*n = ++interface->n_pieces;
		o->piece = *n - 1;
	}
}

void build_fn_describe(struct arena *a, const struct ir_fn *f, struct build_fn_interface *interface)
{
	struct arena *scratch = arena_new(0);
	uint32_t *up = ARENA_ARRAY(scratch, uint32_t, f->n_insts + 1), *number = ARENA_ARRAY(scratch, uint32_t, f->n_insts + 1);
	connect(f, up, ARENA_ARRAY(scratch, bool, f->n_insts + 1));
	*interface = (struct build_fn_interface){.n_weights = f->n_weights, .n_outputs = f->n_outputs};
	interface->outputs = ARENA_ARRAY(a, struct build_fn_output, f->n_outputs + 1);
	interface->piece_of = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	describe_outputs(interface, f, up, number);
	memset(interface->piece_of, 0xff, f->n_weights * sizeof *interface->piece_of);
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_at(f, r)->op == OP_WEIGHT && number[root(up, r)])
			interface->piece_of[ir_number(ir_at(f, r))->number] = number[root(up, r)] - 1;
	uint32_t *nth = ARENA_ARRAY(scratch, uint32_t, interface->n_pieces + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (interface->outputs[k].piece != PLAN_NONE)
			interface->outputs[k].nth = nth[interface->outputs[k].piece]++;
	interface->pieces = ARENA_ARRAY(a, hash128, interface->n_pieces + 1);
	for (uint32_t k = 0; k < interface->n_pieces; k++) {
		arena_mark_t mark = arena_mark(scratch);
		const struct ir_fn *piece = build_fn_piece(scratch, f, interface, k);
		interface->pieces[k] = hash_callees(ir_hash(piece), piece);
		arena_release(scratch, mark);
	}
	arena_free(scratch);
}

/* ---- extracting a piece as a function ---- */

/* `number` maps each weight of the unit to its number in the piece. */
static void copy_live(struct ir_fn *to, const struct ir_fn *f, const bool *live, ir_ref *map, const uint32_t *number)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		if (!live[r])
			continue;
		struct ir_inst i = *ir_at(f, r);
		ir_ref *operands = ARENA_ARRAY(to->unit, ir_ref, i.n_operands + 1);
		for (uint32_t k = 0; k < i.n_operands; k++)
			operands[k] = map[ir_operand(f, r, k)];
		map[r] = ir_copy(to, &i, operands, i.n_operands);
		if (i.op != OP_WEIGHT)
			continue;
		struct ir_number n = {number[ir_number(&i)->number]};
		ir_set_number(to, map[r], n);
		to->weights[n.number] = i.type;
	}
}

struct ir_fn *build_fn_piece(struct arena *a, const struct ir_fn *f, const struct build_fn_interface *interface, uint32_t piece)
{
	struct ir_fn *to = ir_fn_new(a, "", f->dims);
	to->origins = f->origins;
	uint32_t *number = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	bool *live = ARENA_ARRAY(a, bool, f->n_insts + 1);
	ir_ref *map = ARENA_ARRAY(a, ir_ref, f->n_insts + 1);
	to->weights = ARENA_ARRAY(a, struct hir_type, f->n_weights + 1);
	for (uint32_t k = 0; k < f->n_weights; k++)
		if (interface->piece_of[k] == piece)
			number[k] = to->n_weights++;
	to->outputs = ARENA_ARRAY(a, ir_ref, f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		live[f->outputs[k]] |= interface->outputs[k].piece == piece;
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	copy_live(to, f, live, map, number);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (interface->outputs[k].piece == piece)
			to->outputs[to->n_outputs++] = map[f->outputs[k]];
	return to;
}

/* Cutting a slice into the pieces that can be evaluated apart from one another: connected components, where constants connect nothing. */
#include <string.h>
#include "backend/ir.h"
#include "backend/link/weigh.h"
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

uint32_t weigh_group(struct weigher *w, uint32_t node) { return root(w->groups.at, node); }
void weigh_join(struct weigher *w, uint32_t a, uint32_t b) { join(w->groups.at, a, b); }

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

struct pieces *weigh_pieces(struct arena *a, const struct ir_fn *f)
{
	struct pieces *p = ARENA_NEW(a, struct pieces);
	uint32_t *up = ARENA_ARRAY(a, uint32_t, f->n_insts + 1), *number = ARENA_ARRAY(a, uint32_t, f->n_insts + 1);
	connect(f, up, ARENA_ARRAY(a, bool, f->n_insts + 1));
	p->of_output = ARENA_ARRAY(a, uint32_t, f->n_outputs + 1);
	p->of_weight = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		p->of_output[k] = PIECE_NONE;
		if (ir_at(f, f->outputs[k])->op == OP_WEIGHT)
			continue;
		uint32_t *n = &number[root(up, f->outputs[k])];
		if (!*n)
			*n = ++p->n;
		p->of_output[k] = *n - 1;
	}
	memset(p->of_weight, 0xff, f->n_weights * sizeof *p->of_weight);
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (ir_at(f, r)->op == OP_WEIGHT && number[root(up, r)])
			p->of_weight[ir_at(f, r)->index] = number[root(up, r)] - 1;
	return p;
}

static void copy_live(struct ir_fn *to, const struct ir_fn *f, const bool *live, ir_ref *map)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		if (!live[r])
			continue;
		struct ir_inst i = *ir_at(f, r);
		ir_ref *operands = ARENA_ARRAY(to->unit, ir_ref, i.n_operands + 1);
		for (uint32_t k = 0; k < i.n_operands; k++)
			operands[k] = map[ir_operand(f, r, k)];
		map[r] = ir_emit(to, i.op, &i.type, operands, i.n_operands, i.at);
		i.operands = ir_at(to, map[r])->operands;
		*ir_at(to, map[r]) = i;
	}
}

struct ir_fn *weigh_piece(struct arena *a, const struct ir_fn *f, const struct pieces *p, uint32_t piece)
{
	struct ir_fn *to = ir_fn_new(a, f->name, f->dims);
	bool *live = ARENA_ARRAY(a, bool, f->n_insts + 1);
	ir_ref *map = ARENA_ARRAY(a, ir_ref, f->n_insts + 1);
	to->weights = f->weights;
	to->n_weights = f->n_weights;
	to->outputs = ARENA_ARRAY(a, ir_ref, f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		live[f->outputs[k]] |= p->of_output[k] == piece;
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	copy_live(to, f, live, map);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (p->of_output[k] == piece)
			to->outputs[to->n_outputs++] = map[f->outputs[k]];
	return to;
}

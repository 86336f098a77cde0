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
	p->hashes = ARENA_ARRAY(a, hash128, p->n + 1);
	for (uint32_t k = 0; k < p->n; k++) {
		struct arena *scratch = arena_new(0);
		p->hashes[k] = ir_hash(weigh_piece(scratch, f, p, k));
		arena_free(scratch);
	}
	return p;
}

/* ---- a piece as a function ---- */

/* From the dims of the slice, which know the unit's run-time sizes, to dims of the piece's own: equal pieces of different units must be equal. */
struct move {
	struct arena *a;
	struct dims *to;
	const struct dims *from;
	dim *syms; /* NULL: only constants so far */
};

static dim move_dim(struct move *m, dim x)
{
	int64_t v;
	if (dim_is_const(m->from, x, &v))
		return dim_const(m->to, v);
	uint32_t n = dims_syms(m->from);
	if (!m->syms) {
		m->syms = ARENA_ARRAY(m->a, dim, n + 1);
		for (uint32_t k = 0; k < n; k++)
			m->syms[k] = dim_new_sym(m->to, dims_sym_name(m->from, k));
	}
	return dim_translate(m->to, m->from, x, m->syms);
}

static void move_type(struct move *m, struct core_type *t)
{
	for (uint32_t k = 0; k < t->rank; k++)
		t->dims[k] = move_dim(m, t->dims[k]);
}

static void move_inst(struct move *m, struct ir_inst *i)
{
	move_type(m, &i->type);
	if (i->op == OP_DIM)
		i->extent = move_dim(m, i->extent);
	for (uint32_t k = 0; ir_op_starts(i->op) && k < i->type.rank; k++)
		i->starts[k] = move_dim(m, i->starts[k]);
	if (!ir_calls(i->op))
		return;
	uint32_t n = dims_syms(i->callee->dims);
	dim *syms = ARENA_ARRAY(m->a, dim, n + 1);
	for (uint32_t k = 0; k < n; k++)
		syms[k] = move_dim(m, i->callee_syms[k]);
	i->callee_syms = syms;
}

/* `number`: of each weight in the piece. */
static void copy_live(struct ir_fn *to, const struct ir_fn *f, const bool *live, ir_ref *map, const uint32_t *number)
{
	struct move m = {to->unit, to->dims, f->dims, NULL};
	for (ir_ref r = 0; r < f->n_insts; r++) {
		if (!live[r])
			continue;
		struct ir_inst i = *ir_at(f, r);
		ir_ref *operands = ARENA_ARRAY(to->unit, ir_ref, i.n_operands + 1);
		move_inst(&m, &i);
		if (i.op == OP_WEIGHT) {
			i.index = number[i.index];
			to->weights[i.index] = i.type;
		}
		for (uint32_t k = 0; k < i.n_operands; k++)
			operands[k] = map[ir_operand(f, r, k)];
		map[r] = ir_emit(to, i.op, &i.type, operands, i.n_operands, i.at);
		i.operands = ir_at(to, map[r])->operands;
		*ir_at(to, map[r]) = i;
	}
}

struct ir_fn *weigh_piece(struct arena *a, const struct ir_fn *f, const struct pieces *p, uint32_t piece)
{
	struct ir_fn *to = ir_fn_new(a, "", dims_new(a));
	uint32_t *number = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	bool *live = ARENA_ARRAY(a, bool, f->n_insts + 1);
	ir_ref *map = ARENA_ARRAY(a, ir_ref, f->n_insts + 1);
	to->weights = ARENA_ARRAY(a, struct core_type, f->n_weights + 1);
	for (uint32_t k = 0; k < f->n_weights; k++)
		if (p->of_weight[k] == piece)
			number[k] = to->n_weights++;
	to->outputs = ARENA_ARRAY(a, ir_ref, f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		live[f->outputs[k]] |= p->of_output[k] == piece;
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	copy_live(to, f, live, map, number);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (p->of_output[k] == piece)
			to->outputs[to->n_outputs++] = map[f->outputs[k]];
	return to;
}

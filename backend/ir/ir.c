/* Building and hashing functions of the tensor IR. Memory is the unit arena's; growing arrays leave their old copies in it. */
#include "backend/ir/ir.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"

static const struct {
	const char *text;
	int ins;
	uint32_t traits;
} facts[OP_COUNT] = {
#define OP(id, text, ins, traits, shape) [OP_##id] = {text, ins, traits},
#include "backend/ir/ops.def"
#undef OP
};

const char *ir_op_text(enum ir_op op) { return (unsigned)op < OP_COUNT ? facts[op].text : "?"; }
int ir_op_ins(enum ir_op op) { return facts[op].ins; }
uint32_t ir_op_traits(enum ir_op op) { return facts[op].traits; }

struct ir_fn *ir_fn_new(struct arena *unit, const char *name, struct dims *dims)
{
	struct ir_fn *f = ARENA_NEW(unit, struct ir_fn);
	f->unit = unit;
	f->name = arena_strdup(unit, name);
	f->dims = dims;
	return f;
}

static void *grown(struct arena *a, void *old, uint32_t len, uint32_t *cap, uint32_t need, size_t size)
{
	if (need <= *cap)
		return old;
	uint32_t want = *cap ? *cap * 2 : 16;
	*cap = want < need ? need : want;
	void *p = arena_alloc(a, size * *cap, _Alignof(max_align_t));
	if (len)
		memcpy(p, old, size * len);
	return p;
}

void ir_reserve(struct ir_fn *f, uint32_t insts, uint32_t operands)
{
	f->insts = grown(f->unit, f->insts, f->n_insts, &f->cap_insts, insts, sizeof *f->insts);
	f->operands = grown(f->unit, f->operands, f->n_operands, &f->cap_operands, operands, sizeof *f->operands);
}

ir_ref ir_emit(struct ir_fn *f, enum ir_op op, const struct hir_type *type, const ir_ref *operands, uint32_t n, span at)
{
	BUG_ON(facts[op].ins >= 0 && (uint32_t)facts[op].ins != n);
	f->insts = grown(f->unit, f->insts, f->n_insts, &f->cap_insts, f->n_insts + 1, sizeof *f->insts);
	f->operands = grown(f->unit, f->operands, f->n_operands, &f->cap_operands, f->n_operands + n, sizeof *f->operands);
	struct ir_inst *i = &f->insts[f->n_insts];
	memset(i, 0, sizeof *i);
	i->op = op;
	i->type = *type;
	i->operands = f->n_operands;
	i->n_operands = n;
	i->at = at;
	for (uint32_t k = 0; k < n; k++) {
		BUG_ON(operands[k] >= f->n_insts);
		f->operands[f->n_operands++] = operands[k];
	}
	return f->n_insts++;
}

ir_ref ir_copy(struct ir_fn *f, const struct ir_inst *i, const ir_ref *operands, uint32_t n)
{
	ir_ref r = ir_emit(f, i->op, &i->type, operands, n, i->at);
	struct ir_inst *copy = ir_at(f, r);
	uint32_t first = copy->operands;
	*copy = *i;
	copy->operands = first;
	copy->n_operands = n;
	return r;
}

struct hir_type ir_type_translate(struct dims *to, const struct dims *from, const dim *syms, const struct hir_type *t)
{
	struct hir_type out = {.elem = t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++)
		out.dims[k] = dim_translate(to, from, t->dims[k], syms);
	return out;
}

const dim *ir_same_symbols(struct ir_fn *f, const struct dims *from)
{
	uint32_t n = dims_syms(from);
	dim *syms = ARENA_ARRAY(f->unit, dim, n + 1);
	for (uint32_t k = 0; k < n; k++)
		syms[k] = dim_new_sym(f->dims, dims_sym_name(from, k));
	return syms;
}

void ir_translate(struct ir_fn *f, const struct dims *from, const dim *syms, struct ir_inst *i)
{
	i->type = ir_type_translate(f->dims, from, syms, &i->type);
	for (uint32_t k = 0; ir_op_starts(i->op) && k < i->type.rank; k++)
		i->starts[k] = dim_translate(f->dims, from, i->starts[k], syms);
	if (i->op == OP_DIM)
		i->extent = dim_translate(f->dims, from, i->extent, syms);
	if (!ir_calls(i->op))
		return;
	uint32_t n = dims_syms(i->callee->dims);
	dim *callee_syms = ARENA_ARRAY(f->unit, dim, n + 1);
	for (uint32_t k = 0; k < n; k++)
		callee_syms[k] = dim_translate(f->dims, from, i->callee_syms[k], syms);
	i->callee_syms = callee_syms;
}

static bool has_effect(const struct ir_inst *i)
{
	return (ir_op_traits(i->op) & EFFECT) || (ir_calls(i->op) && (i->callee->effects || (i->other && i->other->effects)));
}

bool ir_has_effect(const struct ir_fn *f, ir_ref r) { return has_effect(ir_at(f, r)); }

int64_t ir_type_count(const struct dims *d, const struct hir_type *t)
{
	int64_t n = 1, v;
	for (uint32_t k = 0; k < t->rank; k++) {
		BUG_ON(!dim_is_const(d, t->dims[k], &v));
		n *= v;
	}
	return n;
}

bool ir_type_const(const struct dims *d, const struct hir_type *t)
{
	for (uint32_t k = 0; k < t->rank; k++)
		if (!dim_is_const(d, t->dims[k], NULL))
			return false;
	return true;
}

bool ir_type_same(const struct hir_type *a, const struct hir_type *b)
{
	if (a->elem != b->elem || a->rank != b->rank)
		return false;
	for (uint32_t k = 0; k < a->rank; k++)
		if (!dim_eq(a->dims[k], b->dims[k]))
			return false;
	return true;
}

/* Are all results of constant shape? A branch or loop is evaluated at build time as a whole or not at all. */
static bool results_const(const struct hir_unit *u)
{
	if (!u->nodes) /* read from a text, which does not tell */
		return false;
	for (uint32_t k = 0; k < u->n_outputs; k++)
		if (!ir_type_const(u->dims, &u->nodes[u->outputs[k].node].type))
			return false;
	return true;
}

static bool known_at_build(const struct ir_fn *f, const struct ir_inst *i)
{
	if (i->op == OP_INPUT || has_effect(i) || !ir_type_const(f->dims, &i->type))
		return false;
	if (i->op == OP_DIM && !dim_is_const(f->dims, i->extent, NULL))
		return false;
	if ((i->op == OP_IF || i->op == OP_LOOP) && !results_const(i->callee))
		return false;
	if (ir_op_starts(i->op))
		for (uint32_t k = 0; k < i->type.rank; k++)
			if (!dim_is_const(f->dims, i->starts[k], NULL))
				return false;
	for (uint32_t k = 0; k < i->n_operands; k++)
		if (!f->insts[f->operands[i->operands + k]].build_time)
			return false;
	return true;
}

void ir_mark_build_time(struct ir_fn *f)
{
	for (uint32_t r = 0; r < f->n_insts; r++)
		f->insts[r].build_time = known_at_build(f, &f->insts[r]);
}

/* ---- hashing ---- */

static void hash_dim(struct hasher *h, const struct dims *d, dim x)
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
		hash_dim(h, d, t->dims[k]);
}

static void hash_callee(struct hasher *h, const struct dims *d, const struct ir_inst *i)
{
	hasher_add_str(h, i->callee->symbol);
	hasher_add_hash(h, i->callee->identity);
	if (i->other) {
		hasher_add_str(h, i->other->symbol);
		hasher_add_hash(h, i->other->identity);
	}
	uint32_t n = dims_syms(i->callee->dims);
	hasher_add_u64(h, n);
	for (uint32_t k = 0; k < n; k++)
		hash_dim(h, d, i->callee_syms[k]);
}

static void hash_inst(struct hasher *h, const struct ir_fn *f, const struct ir_inst *i)
{
	hasher_add_u64(h, i->op);
	hash_type(h, f->dims, &i->type);
	hasher_add_u64(h, i->n_operands);
	hasher_add(h, f->operands + i->operands, i->n_operands * sizeof(ir_ref));
	hasher_add_u64(h, i->index);
	hasher_add_u64(h, i->mask);
	hasher_add(h, i->ints, sizeof i->ints);
	hasher_add(h, i->f, sizeof i->f);
	if (ir_op_starts(i->op))
		for (uint32_t k = 0; k < i->type.rank; k++)
			hash_dim(h, f->dims, i->starts[k]);
	if (i->op == OP_DIM)
		hash_dim(h, f->dims, i->extent);
	if (i->op == OP_CONST)
		hasher_add(h, i->data, (size_t)ir_type_count(f->dims, &i->type) * dtype_size(i->type.elem));
	if (ir_calls(i->op))
		hash_callee(h, f->dims, i);
	if (i->op == OP_PRINT || i->op == OP_ASSERT)
		hasher_add_str(h, i->text);
	if (i->op == OP_ASSERT)
		hasher_add_str(h, i->where);
}

hash128 ir_hash(const struct ir_fn *f)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, f->name);
	hasher_add_u64(h, dims_syms(f->dims));
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

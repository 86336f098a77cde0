/* Builds functions of the tensor IR. Arrays that grow leave their old copies in the arena. */
#include "backend/ir/ir.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

static const struct {
	const char *text, *signature;
	uint32_t traits, work;
	enum ir_record record;
} facts[OP_COUNT] = {
#define OP(id, text, signature, elements, traits, record, shape, work, cost) \
	[OP_##id] = {text, signature, traits, work, IR_RECORD_##record},
#include "backend/ir/ops.def"
#undef OP
};

const char *ir_op_text(enum ir_op op) { return (unsigned)op < OP_COUNT ? facts[op].text : "?"; }
const char *ir_op_signature(enum ir_op op) { return facts[op].signature; }
int ir_op_operands(enum ir_op op)
{
	const char *s = facts[op].signature, *end = strchr(s, ':');
	return end > s && end[-1] == '*' ? -1 : (int)(end - s);
}
uint32_t ir_op_traits(enum ir_op op) { return facts[op].traits; }
uint32_t ir_op_work(enum ir_op op) { return facts[op].work; }
enum ir_record ir_op_record(enum ir_op op) { return facts[op].record; }

struct ir_fn *ir_fn_new(struct arena *unit, const char *name, struct dims *dims)
{
	struct ir_fn *f = ARENA_NEW(unit, struct ir_fn);
	f->unit = unit;
	f->name = arena_strdup(unit, name);
	f->dims = dims;
	f->origins = origins_new(unit);
	return f;
}

void ir_reserve(struct ir_fn *f, uint32_t insts, uint32_t operands)
{
	f->insts = arena_grow(f->unit, f->insts, f->n_insts, &f->cap_insts, insts, sizeof *f->insts);
	f->operands = arena_grow(f->unit, f->operands, f->n_operands, &f->cap_operands, operands, sizeof *f->operands);
}

ir_ref ir_emit(struct ir_fn *f, enum ir_op op, const struct hir_type *type, const ir_ref *operands, uint32_t n, origin_set origin)
{
	BUG_ON(ir_op_operands(op) >= 0 && (uint32_t)ir_op_operands(op) != n);
	f->insts = arena_grow(f->unit, f->insts, f->n_insts, &f->cap_insts, f->n_insts + 1, sizeof *f->insts);
	f->operands = arena_grow(f->unit, f->operands, f->n_operands, &f->cap_operands, f->n_operands + n, sizeof *f->operands);
	struct ir_inst *i = &f->insts[f->n_insts];
	memset(i, 0, sizeof *i);
	i->op = op;
	i->type = *type;
	i->operands = f->n_operands;
	i->n_operands = n;
	i->origin = origin;
	for (uint32_t k = 0; k < n; k++) {
		BUG_ON(operands[k] >= f->n_insts);
		f->operands[f->n_operands++] = operands[k];
	}
	return f->n_insts++;
}

ir_ref ir_copy(struct ir_fn *f, const struct ir_inst *i, const ir_ref *operands, uint32_t n)
{
	ir_ref r = ir_emit(f, i->op, &i->type, operands, n, i->origin);
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

void ir_set_const(struct ir_fn *f, ir_ref r, const void *data)
{
	const struct hir_type *t = ir_type_of(f, r);
	ir_set_data(f, r, (struct ir_data){data, (uint64_t)ir_type_count(f->dims, t) * dtype_size(t->elem)});
}

bool ir_has_effect(const struct ir_inst *i)
{
	return (ir_op_traits(i->op) & EFFECT) ||
	       (ir_calls(i->op) && (ir_call(i)->callee->effects || (ir_call(i)->other && ir_call(i)->other->effects)));
}

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

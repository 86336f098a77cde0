/* Inlining. A call with build-time operands is always inlined, so that a build_fn has no calls; a callee marked @inline from -O1 on; a
 * small callee from -O2 on. The callee is lowered again, with the values that the call has for its symbols. */
#include <string.h>
#include "backend/lower/lower.h"
#include "backend/passes/passes.h"
#include "base/arena.h"

/* The largest number of nodes of a callee that is inlined without @inline. */
static uint32_t inline_limit(uint8_t opt, bool size) { return size || opt < 2 ? 0 : opt == 2 ? 16 : 64; }

uint64_t inline_callee_facts(uint8_t opt, bool size, const struct hir_unit *u)
{
	bool small = u->n_nodes <= inline_limit(opt, size);
	return (uint64_t)u->always_inline | (uint64_t)u->never_inline << 1 | (uint64_t)u->effects << 2 | (uint64_t)small << 3;
}

static bool should_inline(const struct rewrite *w, ir_ref r, const struct pass_context *c)
{
	const struct ir_inst *i = ir_at(&w->old, r);
	if (i->op != OP_CALL || i->n_operands != ir_call(i)->callee->n_inputs ||
	    !ir_call(i)->callee->outputs) /* a unit read from text has no body */
		return false;
	if (i->build_time)
		return true;
	if (ir_call(i)->callee->never_inline || c->opt < 1)
		return false;
	return ir_call(i)->callee->always_inline || ir_call(i)->callee->n_nodes <= inline_limit(c->opt, c->size);
}

static void record_inlined(struct pass_context *c, struct arena *unit, const struct hir_unit *callee)
{
	for (uint32_t k = 0; k < c->n_inlined; k++)
		if (c->inlined[k] == callee)
			return;
	c->inlined = arena_grow(unit, c->inlined, c->n_inlined, &c->cap_inlined, c->n_inlined + 1, sizeof *c->inlined);
	uint32_t k = c->n_inlined++;
	for (; k && strcmp(c->inlined[k - 1]->symbol, callee->symbol) > 0; k--)
		c->inlined[k] = c->inlined[k - 1];
	c->inlined[k] = callee;
}

/* One call that is being inlined. */
struct splice {
	struct rewrite *w;
	ir_ref call;
	const struct ir_fn *from;
	ir_ref *map; /* from values of the callee to values of w->f */
	struct origins_copy origins;
};

/* Returns the operand for input (or weight) number `index` of the callee. */
static ir_ref inline_argument(const struct splice *s, bool build_time, uint32_t index)
{
	const struct hir_unit *u = ir_call(ir_at(&s->w->old, s->call))->callee;
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (u->inputs[k].build_time == build_time && index-- == 0)
			return rewrite_operand(s->w, s->call, k);
	return IR_NONE;
}

static void splice_inst(struct splice *s, ir_ref r)
{
	struct ir_inst i = *ir_at(s->from, r);
	if (i.op == OP_INPUT || i.op == OP_WEIGHT) {
		s->map[r] = inline_argument(s, i.op == OP_WEIGHT, ir_number(&i)->number);
		return;
	}
	ir_ref *operands = ARENA_ARRAY(s->w->f->unit, ir_ref, i.n_operands + 1);
	for (uint32_t k = 0; k < i.n_operands; k++)
		operands[k] = s->map[ir_operand(s->from, r, k)];
	i.origin = origins_copy_set(&s->origins, i.origin);
	s->map[r] = ir_copy(s->w->f, &i, operands, i.n_operands);
}

/* Stores the values of the callee's outputs in `outputs`. Returns false after reporting an error. */
static bool inline_call(struct rewrite *w, ir_ref call, struct pass_context *c, ir_ref **outputs)
{
	const struct ir_inst i = *ir_at(&w->old, call);
	const struct ir_fn *from = lower_into(w->f->unit, ir_call(&i)->callee, w->f->dims, ir_call(&i)->syms, c->diags);
	if (!from)
		return false;
	struct splice s = {.w = w, .call = call, .from = from, .map = ARENA_ARRAY(w->f->unit, ir_ref, from->n_insts + 1)};
	s.origins = origins_copy_begin(w->f->unit, w->f->origins, from->origins, i.origin);
	for (ir_ref r = 0; r < from->n_insts; r++)
		splice_inst(&s, r);
	*outputs = ARENA_ARRAY(w->f->unit, ir_ref, from->n_outputs + 1);
	for (uint32_t k = 0; k < from->n_outputs; k++)
		(*outputs)[k] = s.map[from->outputs[k]];
	record_inlined(c, w->f->unit, ir_call(&i)->callee);
	return true;
}

static uint32_t inline_once(struct ir_fn *f, struct pass_context *c)
{
	struct rewrite w;
	uint32_t changes = 0;
	rewrite_begin(&w, f);
	ir_ref **inlined = ARENA_ARRAY(f->unit, ir_ref *, w.old.n_insts + 1);
	for (ir_ref r = 0; r < w.old.n_insts && !c->failed; r++) {
		const struct ir_inst *i = ir_at(&w.old, r);
		if (should_inline(&w, r, c)) {
			c->failed = !inline_call(&w, r, c, &inlined[r]);
			changes++;
		} else if (i->op == OP_RESULT && inlined[ir_operand(&w.old, r, 0)]) {
			w.map[r] = inlined[ir_operand(&w.old, r, 0)][ir_number(i)->number];
		} else {
			rewrite_copy(&w, r);
		}
	}
	if (c->failed)
		*f = w.old;
	else
		rewrite_end(&w);
	return changes;
}

/* Inlined code may have calls itself. The front end reports recursion as an error, so this ends. */
uint32_t pass_inline(struct ir_fn *f, struct pass_context *c)
{
	uint32_t changes = 0, some = 1;
	for (uint32_t round = 0; round < 256 && !c->failed && some; round++)
		changes += some = inline_once(f, c);
	return changes;
}

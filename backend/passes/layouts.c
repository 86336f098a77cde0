/* Gives values the layouts that kernels want, and converts where a user needs another one.
 *
 * A kernel decides the layouts of its operands and of its result. Operations that loops compute read any layout; their result has the layout
 * of their operands if the dims that it moves remain, so that a chain between two kernels is converted at most at its ends. Inputs, outputs and
 * arguments of calls have the layouts that were decided for the program. A conversion of a run-time value is fused like any view. One of a build-time value to a packed layout
 * becomes a slot; a value that is not in the build_fn is not packed, and its user has no kernel. */
#include "backend/passes/passes.h"
#include "backend/kernels/kernel.h"
#include "base/arena.h"
#include "base/map.h"

struct assign {
	struct rewrite w;
	const struct pass_context *c;
	bool *in_build_fn; /* of the old values */
	struct map converted;
	uint32_t changes;
};

static bool takes_plain(enum kernel k, const struct ir_fn *f, ir_ref r)
{
	for (uint32_t i = 0; i < ir_at(f, r)->n_operands; i++)
		if (!kernel_takes_layout(k, i, LAYOUT_PLAIN, 0))
			return false;
	return kernel_result_layout(k) == LAYOUT_PLAIN;
}

static struct argument_layouts layouts_of_callee(const struct pass_context *c, const struct ir_inst *call)
{
	return ir_program_layouts(c->program, ir_call(call)->callee);
}

/* True if a kernel or an argument wants a layout that is not plain, and layouts are not assigned yet. */
static bool layouts_is_needed(const struct ir_fn *f, const struct pass_context *c)
{
	struct kernel_match m;
	bool needed = argument_layouts_code(c->own);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		if (i->layout != LAYOUT_PLAIN)
			return false;
		needed = needed || (target_takes(c->target, f, r, &m) && !takes_plain(m.kernel, f, r)) ||
			 (i->op == OP_CALL && argument_layouts_code(layouts_of_callee(c, i)));
	}
	return needed;
}

/* Returns v, a new value, in a layout. */
static ir_ref layouts_convert(struct assign *a, ir_ref v, enum layout layout)
{
	struct ir_fn *f = a->w.f;
	uint64_t found;
	if (ir_at(f, v)->layout == layout)
		return v;
	if (ir_at(f, v)->op == OP_CONVERT_LAYOUT)
		return layouts_convert(a, ir_operand(f, v, 0), layout);
	hash128 key = {v, layout};
	if (map_get(&a->converted, key, &found))
		return (ir_ref)found;
	struct hir_type type = ir_at(f, v)->type;
	ir_ref r = ir_emit(f, OP_CONVERT_LAYOUT, &type, &v, 1, ir_at(f, v)->origin);
	ir_at(f, r)->layout = (uint8_t)layout;
	ir_at(f, r)->build_time = ir_at(f, v)->build_time;
	map_put(&a->converted, key, r);
	a->changes++;
	return r;
}

/* True if value o can be packed for r. A matrix product has loops for values that the build_fn does not compute; other kernels fit only
 * values that can be packed. */
static bool can_pack(const struct assign *a, ir_ref r, ir_ref o, enum layout layout)
{
	const struct ir_inst *i = ir_at(&a->w.old, o);
	bool is_packed = ir_at(&a->w.old, r)->op == OP_MATMUL ? a->in_build_fn[o] && i->op != OP_BROADCAST : i->build_time;
	return is_packed && ir_layout_fits(layout, &i->type);
}

/* Returns the layout in which the callee takes its input k. */
static enum layout argument_wanted(const struct assign *a, const struct ir_inst *call, uint32_t k)
{
	const struct hir_unit *u = ir_call(call)->callee;
	uint32_t number = 0;
	for (uint32_t i = 0; i < k && i < u->n_inputs; i++)
		number += !u->inputs[i].build_time;
	return k < u->n_inputs && u->inputs[k].build_time ? LAYOUT_PLAIN : argument_input(layouts_of_callee(a->c, call), number);
}

/* Returns the layout that operand k of old instruction r, which is v now, has to have; LAYOUT_COUNT: any. `match`: the kernel of r, or NULL. */
static enum layout wanted_layout(const struct assign *a, ir_ref r, uint32_t k, ir_ref v, const struct kernel_match *match)
{
	const struct ir_fn *old = &a->w.old;
	if (ir_at(old, r)->op == OP_CALL)
		return argument_wanted(a, ir_at(old, r), k);
	enum layout any = ir_reads_any_layout(ir_at(old, r), k) ? LAYOUT_COUNT : LAYOUT_PLAIN;
	if (!match)
		return any;
	const struct ir_inst *i = ir_at(a->w.f, v);
	enum layout l = (enum layout)kernel_layout(match->kernel, k);
	if (l == LAYOUT_COUNT)
		return kernel_takes_layout(match->kernel, k, (enum layout)i->layout, i->type.rank) ? l : LAYOUT_PLAIN;
	return ir_layout_is_packed(l) && !can_pack(a, r, ir_operand(old, r, k), l) ? any : l;
}

/* True if the result has the dims of its operands that the layout moves. */
static bool keeps_layout(const struct ir_inst *i, enum layout l)
{
	uint32_t traits = ir_op_traits(i->op);
	if (traits & REDUCES)
		return l == LAYOUT_CHANNELS_LAST && !(ir_axes(i)->mask & 3);
	return (traits & EWISE) || i->op == OP_PAD || i->op == OP_SLICE || i->op == OP_WINDOW || i->op == OP_CONCAT;
}

static enum layout result_layout(const struct assign *a, ir_ref r)
{
	struct kernel_match m;
	const struct ir_fn *f = a->w.f;
	const struct ir_inst *i = ir_at(f, r);
	if (i->op == OP_INPUT)
		return argument_input(a->c->own, ir_number(i)->number);
	if (i->op == OP_RESULT && ir_at(f, ir_operand(f, r, 0))->op == OP_CALL)
		return argument_output(layouts_of_callee(a->c, ir_at(f, ir_operand(f, r, 0))), ir_number(i)->number);
	if (kernel_for(a->c->target, f, r, &m))
		return (enum layout)kernel_result_layout(m.kernel);
	for (uint32_t k = 0; k < i->n_operands; k++) {
		enum layout l = ir_at(f, ir_operand(f, r, k))->layout;
		if (l != LAYOUT_PLAIN && !ir_layout_is_packed(l) && keeps_layout(i, l) && ir_layout_fits(l, &i->type))
			return l;
	}
	return LAYOUT_PLAIN;
}

static void assign(struct assign *a, ir_ref r)
{
	struct kernel_match match;
	const struct ir_inst *i = ir_at(&a->w.old, r);
	const struct kernel_match *m = target_takes(a->c->target, &a->w.old, r, &match) ? &match : NULL;
	ir_ref few[8], *operands = i->n_operands <= 8 ? few : ARENA_ARRAY(a->w.f->unit, ir_ref, i->n_operands);
	for (uint32_t k = 0; k < i->n_operands; k++) {
		operands[k] = rewrite_operand(&a->w, r, k);
		enum layout l = wanted_layout(a, r, k, operands[k], m);
		if (l != LAYOUT_COUNT)
			operands[k] = layouts_convert(a, operands[k], l);
	}
	ir_ref v = a->w.map[r] = ir_copy(a->w.f, i, operands, i->n_operands);
	enum layout l = result_layout(a, v);
	a->changes += l != LAYOUT_PLAIN;
	ir_at(a->w.f, v)->layout = (uint8_t)l;
}

uint32_t pass_layouts(struct ir_fn *f, struct pass_context *c)
{
	struct assign a = {.c = c};
	if (!layouts_is_needed(f, c))
		return 0;
	a.in_build_fn = ARENA_ARRAY(f->unit, bool, f->n_insts + 1);
	ir_mark_in_build_fn(f, c->opt > 0, a.in_build_fn);
	rewrite_begin(&a.w, f);
	for (ir_ref r = 0; r < a.w.old.n_insts; r++)
		assign(&a, r);
	rewrite_end(&a.w);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		f->outputs[k] = layouts_convert(&a, f->outputs[k], argument_output(c->own, k));
	map_free(&a.converted);
	return a.changes;
}

/* Splits a unit into its build_fn, which is evaluated when the library is built, and its run_fn.
 *
 * A value belongs to the build_fn if it depends on a weight or on random numbers. So does a constant that is expensive and too large for
 * folding. The run_fn reads such a value through a slot. Broadcasts and cheap constant values stay in the run_fn: there they cost
 * nothing, in a slot they would cost memory. A parameter of 16-bit floats that is widened only for loops is in its slot as it is, and the loops
 * widen it.
 *
 * The two functions outlive the whole function. All three have the dims of the plan, so nothing is translated. */
#include "backend/plan/split.h"
#include <string.h>
#include "backend/ir/program.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"

struct split {
	struct plan *p;
	const struct ir_fn *whole;
	struct ir_fn *run_fn, *build_fn;
	struct origins_copy run_origins, build_origins;
	struct diags *diags;
	bool *at_build;    /* computed in the build_fn */
	bool *wanted;      /* needed by the run_fn, itself or through a slot */
	bool *widened;     /* a kernel or a call of the run_fn reads the value, so 16-bit floats are widened in the build_fn */
	ir_ref *map;       /* from values of the whole to values of the run_fn */
	ir_ref *operands;  /* of the instruction being built */
	ir_ref *weight_of; /* the WEIGHT instruction of its slot, or IR_NONE */
	ir_ref *outputs;   /* of the build_fn, as values of the whole */
	uint32_t n_outputs, cap_outputs, cap_slots, cap_weights;
	bool failed;
};

/* True if the run_fn reads r from a slot. */
static bool in_slot(const struct split *s, ir_ref r) { return s->at_build[r] && ir_at(s->whole, r)->op != OP_BROADCAST; }

static void mark_wanted(struct split *s)
{
	const struct ir_fn *f = s->whole;
	for (uint32_t k = 0; k < f->n_outputs; k++)
		s->wanted[f->outputs[k]] = true;
	for (ir_ref r = f->n_insts; r-- > 0;) {
		s->wanted[r] = s->wanted[r] || ir_has_effect(ir_at(f, r));
		for (uint32_t k = 0; s->wanted[r] && !in_slot(s, r) && k < ir_at(f, r)->n_operands; k++)
			s->wanted[ir_operand(f, r, k)] = true;
	}
}

/* True if the run_fn computes r element by element where it is used. */
static bool is_in_loops(const struct split *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->whole, r);
	return (ir_op_traits(i->op) & (EWISE | VIEW)) && i->op != OP_CONVERT_LAYOUT;
}

static void mark_widened(struct split *s)
{
	const struct ir_fn *f = s->whole;
	for (ir_ref r = f->n_insts; r-- > 0;) {
		bool reads = s->wanted[r] && !in_slot(s, r) && (!is_in_loops(s, r) || s->widened[r]);
		for (uint32_t k = 0; reads && k < ir_at(f, r)->n_operands; k++)
			if (!is_in_loops(s, r) || (ir_op_traits(ir_at(f, r)->op) & VIEW))
				s->widened[ir_operand(f, r, k)] = true;
	}
}

/* Returns the 16-bit value that the slot of r has in its place, or r. */
static ir_ref narrow_value(const struct split *s, ir_ref r)
{
	ir_ref narrow = s->widened[r] ? IR_NONE : slot_narrow_value(s->whole, r);
	return narrow != IR_NONE && s->at_build[narrow] ? narrow : r;
}

static void *split_copied(struct arena *a, const void *from, size_t bytes)
{
	void *to = arena_alloc(a, bytes ? bytes : 1, _Alignof(max_align_t));
	return bytes ? memcpy(to, from, bytes) : to;
}

/* Copies instruction r of the whole into `to`, with its constant and texts. */
static ir_ref copy_inst(struct split *s, struct ir_fn *to, ir_ref r, uint32_t n_operands)
{
	struct ir_inst i = *ir_at(s->whole, r);
	ir_own_attributes(to, &i);
	i.origin = origins_copy_set(to == s->run_fn ? &s->run_origins : &s->build_origins, i.origin);
	return ir_copy(to, &i, s->operands, n_operands);
}

/* ---- slots ---- */

static uint32_t split_add_slot(struct split *s, const struct slot *slot)
{
	struct plan *p = s->p;
	struct ir_fn *run = s->run_fn;
	uint32_t n = p->n_slots;
	p->slots = arena_grow(run->unit, p->slots, n, &s->cap_slots, n + 1, sizeof *p->slots);
	run->weights = arena_grow(run->unit, run->weights, n, &s->cap_weights, n + 1, sizeof *run->weights);
	run->weights[n] = slot->type;
	p->slots[n] = *slot;
	p->n_slots = run->n_weights = n + 1;
	return n;
}

static void split_add_output(struct split *s, ir_ref r)
{
	s->outputs = arena_grow(s->whole->unit, s->outputs, s->n_outputs, &s->cap_outputs, s->n_outputs + 1, sizeof *s->outputs);
	s->outputs[s->n_outputs++] = r;
}

/* Emits the WEIGHT that reads a slot, with the origins of `of`, an instruction of the whole. */
static ir_ref weight_of_slot(struct split *s, uint32_t slot, const struct ir_inst *of)
{
	ir_ref w = ir_emit(s->run_fn, OP_WEIGHT, &s->p->slots[slot].type, NULL, 0, origins_copy_set(&s->run_origins, of->origin));
	ir_set_number(s->run_fn, w, (struct ir_number){slot});
	ir_at(s->run_fn, w)->layout = s->p->slots[slot].layout;
	return w;
}

/* The build_fn gives the plain value of a slot. */
static ir_ref data_slot(struct split *s, ir_ref r)
{
	if (s->weight_of[r] != IR_NONE)
		return s->weight_of[r];
	const struct ir_inst *i = ir_at(s->whole, r);
	ir_ref narrow = narrow_value(s, r);
	if (narrow != r) {
		ir_ref v = data_slot(s, narrow);
		return s->weight_of[r] = ir_emit(s->run_fn, OP_CAST, &i->type, &v, 1, origins_copy_set(&s->run_origins, i->origin));
	}
	struct slot slot = {.kind = SLOT_DATA, .layout = i->layout, .type = i->type, .first_output = s->n_outputs};
	ir_ref matrix = slot_matrix_of_panels(s->whole, r);
	if (matrix != IR_NONE) {
		slot.layout = LAYOUT_PANELS;
		split_add_output(s, matrix);
		s->weight_of[r] = weight_of_slot(s, split_add_slot(s, &slot), i);
		ir_at(s->run_fn, s->weight_of[r])->layout = LAYOUT_PLAIN;
		return s->weight_of[r];
	}
	split_add_output(s, i->op == OP_CONVERT_LAYOUT ? ir_operand(s->whole, r, 0) : r);
	return s->weight_of[r] = weight_of_slot(s, split_add_slot(s, &slot), i);
}

/* ---- the run_fn ---- */

static ir_ref split_run_value(struct split *s, ir_ref r) { return in_slot(s, r) ? data_slot(s, r) : s->map[r]; }

/* Returns argument o for input k of u, a WEIGHT, as u's weight table stores it. */
static ir_ref stored_argument(const struct split *s, const struct hir_unit *u, uint32_t k, uint32_t weight, ir_ref o)
{
	const struct program_unit *decided = ir_program_find(s->p->options.program, u);
	if (!decided || decided->stored[weight] == u->inputs[k].type.elem)
		return o;
	BUG_ON(ir_at(s->whole, o)->op != OP_CAST);
	return ir_operand(s->whole, o, 0);
}

/* Collects the run-time operands of a call of u, whose operands start at `first`, then u's weight table. Its build-time operands become
 * outputs of the build_fn. Returns the number of operands. */
static uint32_t callee_operands(struct split *s, ir_ref r, const struct hir_unit *u, uint32_t first, ir_ref *operands)
{
	const struct ir_inst *i = ir_at(s->whole, r);
	struct slot slot = {.kind = SLOT_TABLE, .layout = LAYOUT_PLAIN, .type = {.elem = DT_INT8}, .callee = u};
	uint32_t n = 0;
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (!u->inputs[k].build_time)
			operands[n++] = split_run_value(s, ir_operand(s->whole, r, first + k));
	slot.first_output = s->n_outputs;
	for (uint32_t k = 0; k < u->n_inputs; k++) {
		ir_ref o = ir_operand(s->whole, r, first + k);
		if (!u->inputs[k].build_time)
			continue;
		if (!ir_at(s->whole, o)->build_time) {
			diag_add(s->diags, DIAG_LOWER, ir_span(s->whole, i),
				 "argument `%s` of %s must be a build-time value: computed from parameters and constants alone",
				 u->inputs[k].name, u->name);
			s->failed = true;
		}
		split_add_output(s, stored_argument(s, u, k, slot.n_args, o));
		slot.n_args++;
	}
	operands[n++] = weight_of_slot(s, split_add_slot(s, &slot), i);
	return n;
}

static uint32_t call_operands(struct split *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->whole, r);
	ir_ref *operands = s->operands;
	uint32_t n = 0;
	if (i->op != OP_CALL)
		operands[n++] = split_run_value(s, ir_operand(s->whole, r, 0));
	n += callee_operands(s, r, ir_call(i)->callee, i->op != OP_CALL, operands + n);
	if (ir_call(i)->other)
		n += callee_operands(s, r, ir_call(i)->other, 1 + ir_call(i)->callee->n_inputs, operands + n);
	return n;
}

static void add_run_inst(struct split *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->whole, r);
	uint32_t n = i->n_operands;
	if (ir_calls(i->op))
		n = call_operands(s, r);
	else
		for (uint32_t k = 0; k < n; k++)
			s->operands[k] = split_run_value(s, ir_operand(s->whole, r, k));
	s->map[r] = copy_inst(s, s->run_fn, r, n);
}

/* Reserves room for the live instructions. A call may get two more operands, for the weight tables. */
static void split_reserve(const struct split *s, struct ir_fn *to, const bool *live)
{
	uint32_t insts = 0, operands = 0;
	for (ir_ref r = 0; r < s->whole->n_insts; r++) {
		const struct ir_inst *i = ir_at(s->whole, r);
		insts += live[r];
		operands += live[r] ? i->n_operands + 2 * ir_calls(i->op) : 0;
	}
	ir_reserve(to, insts, operands);
}

static void make_run_fn(struct split *s)
{
	const struct ir_fn *f = s->whole;
	s->run_fn->inputs = split_copied(s->run_fn->unit, f->inputs, f->n_inputs * sizeof *f->inputs);
	s->run_fn->n_inputs = f->n_inputs;
	split_reserve(s, s->run_fn, s->wanted);
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (s->wanted[r] && !in_slot(s, r))
			add_run_inst(s, r);
	s->run_fn->n_outputs = f->n_outputs;
	s->run_fn->outputs = ARENA_ARRAY(s->run_fn->unit, ir_ref, f->n_outputs + 1);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		s->run_fn->outputs[k] = split_run_value(s, f->outputs[k]);
	ir_mark_build_time(s->run_fn);
}

/* ---- the build_fn ---- */

static void make_build_fn(struct split *s)
{
	const struct ir_fn *f = s->whole;
	struct ir_fn *build = s->build_fn;
	bool *live = ARENA_ARRAY(f->unit, bool, f->n_insts + 1);
	ir_ref *map = ARENA_ARRAY(f->unit, ir_ref, f->n_insts + 1);
	build->weights = split_copied(build->unit, f->weights, f->n_weights * sizeof *f->weights);
	build->n_weights = f->n_weights;
	for (uint32_t k = 0; k < s->n_outputs; k++)
		live[s->outputs[k]] = true;
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	split_reserve(s, build, live);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		uint32_t n = ir_at(f, r)->n_operands;
		for (uint32_t k = 0; live[r] && k < n; k++)
			s->operands[k] = map[ir_operand(f, r, k)];
		if (live[r])
			map[r] = copy_inst(s, build, r, n);
	}
	build->n_outputs = s->n_outputs;
	build->outputs = ARENA_ARRAY(build->unit, ir_ref, s->n_outputs + 1);
	for (uint32_t k = 0; k < s->n_outputs; k++)
		build->outputs[k] = map[s->outputs[k]];
	ir_mark_build_time(build);
}

static uint32_t split_most_operands(const struct ir_fn *f)
{
	uint32_t most = 0;
	for (ir_ref r = 0; r < f->n_insts; r++)
		most = ir_at(f, r)->n_operands > most ? ir_at(f, r)->n_operands : most;
	return most;
}

bool plan_split(struct plan *p, struct arena *unit, const struct ir_fn *whole, bool fold, struct diags *diags)
{
	struct arena *scratch = whole->unit;
	uint32_t n = whole->n_insts + 1;
	struct split s = {.p = p, .whole = whole, .diags = diags};
	p->run_fn = s.run_fn = ir_fn_new(unit, whole->name, p->dims);
	p->build_fn = s.build_fn = ir_fn_new(unit, whole->name, p->dims);
	s.run_origins = origins_copy_begin(scratch, s.run_fn->origins, whole->origins, ORIGINS_NONE);
	s.build_origins = origins_copy_begin(scratch, s.build_fn->origins, whole->origins, ORIGINS_NONE);
	s.at_build = ARENA_ARRAY(scratch, bool, n);
	s.wanted = ARENA_ARRAY(scratch, bool, n);
	s.map = ARENA_ARRAY(scratch, ir_ref, n);
	s.operands = ARENA_ARRAY(scratch, ir_ref, split_most_operands(whole) + 2); /* an IF has two weight tables */
	s.weight_of = ARENA_ARRAY(scratch, ir_ref, n);
	memset(s.weight_of, 0xff, n * sizeof *s.weight_of);
	s.widened = ARENA_ARRAY(scratch, bool, n);
	ir_mark_in_build_fn(whole, fold, s.at_build);
	mark_wanted(&s);
	mark_widened(&s);
	make_run_fn(&s);
	make_build_fn(&s);
	return !s.failed;
}

/* States are stored along the dim that grows, so that the filled part is a prefix of their memory. An output that is such an input with rows appended *grows*
 * it: both have the same memory, which has room for the output, and the unit writes only the new rows. The next value of a state
 * grows it if it is a chain of appends that starts at the input, in the unit or in what it calls. */
#include "backend/passes/program/program_passes.h"

/* True if v is the value of INPUT `state`, which grows along a dim, with rows appended or without. */
static bool is_grown(const struct ir_program *p, const struct unit_summary *s, const struct summary_value *v, uint32_t state, uint8_t along)
{
	for (;;) {
		if (v->number == IR_NONE || (v->along && v->along != along))
			return false;
		if (v->call == IR_NONE)
			return v->number == state;
		const struct summary_call *c = &s->calls[v->call];
		const struct program_unit *callee = &p->units[c->callee.unit];
		uint32_t input = c->op == OP_CALL ? argument_grows(callee->layouts, v->number) : IR_NONE;
		if (input == IR_NONE)
			return false;
		v = &c->operands[summary_run_input(callee->summary, input)];
	}
}

static uint32_t decide_output(const struct ir_program *p, const struct program_unit *u, uint32_t k)
{
	const struct summary_output *o = &u->summary->outputs[k];
	if (o->next == IR_NONE)
		return 0;
	const struct summary_input *in = &u->summary->inputs[summary_run_input(u->summary, o->next)];
	enum layout l = summary_state_layout(in);
	if (l == LAYOUT_COUNT)
		return 0;
	u->layouts.outputs[k] = (uint8_t)l;
	if (is_grown(p, u->summary, &o->value, o->next, in->grows))
		u->layouts.grows[k] = o->next;
	return 1;
}

uint32_t program_pass_states(struct ir_program *p, const struct target *t)
{
	uint32_t changes = 0;
	(void)t;
	for (uint32_t i = 0; i < p->n_units; i++) {
		const struct program_unit *u = &p->units[i];
		const struct unit_summary *s = u->summary;
		for (uint32_t k = 0, run = 0; k < s->n_inputs && !u->is_body; k++) {
			enum layout l = summary_state_layout(&s->inputs[k]);
			if (l != LAYOUT_COUNT && !s->inputs[k].build_time) {
				u->layouts.inputs[run] = (uint8_t)l;
				changes++;
			}
			run += !s->inputs[k].build_time;
		}
		for (uint32_t k = 0; k < s->n_outputs && !u->is_body; k++)
			changes += decide_output(p, u, k);
	}
	return changes;
}

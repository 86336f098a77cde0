/* A loop that only carries a value to a PUT updates it in place: the body's output has the memory of its input. */
#include "backend/passes/program/program_passes.h"

/* Output k + 1 of the body of a loop is the next value of INPUT k. */
static uint32_t decide_updates(const struct program_unit *body)
{
	const struct unit_summary *s = body->summary;
	uint32_t changes = 0;
	for (uint32_t k = 1; k < s->n_outputs; k++)
		if (s->outputs[k].puts == k - 1) {
			body->layouts.updates[k] = k - 1;
			changes++;
		}
	return changes;
}

uint32_t program_pass_updates(struct ir_program *p, const struct target *t)
{
	uint32_t changes = 0;
	(void)t;
	for (uint32_t i = 0; i < p->n_units; i++)
		for (uint32_t k = 0; k < p->units[i].summary->n_calls; k++)
			if (p->units[i].summary->calls[k].op == OP_LOOP)
				changes += decide_updates(&p->units[p->units[i].summary->calls[k].callee.unit]);
	return changes;
}

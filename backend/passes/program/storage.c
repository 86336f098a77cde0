/* In which element types float32 parameters are stored. A weights file may hold them as 16-bit floats; then the library does, too, and code widens what it
 * reads. A unit takes an argument as 16-bit floats if all its callers pass such a parameter unchanged. So another type in the file changes the plans of the
 * units that read the parameter, and no others. */
#include "backend/passes/program/program_passes.h"

#define UNKNOWN DT_COUNT /* no caller is known yet */

static dtype declared_type(const struct program_unit *u, uint32_t weight) { return u->summary->inputs[u->weights[weight]].elem; }

/* A weight that callers store in different types is as it is declared. */
static void pass_weight(const struct program_unit *callee, uint32_t weight, dtype stored)
{
	dtype *t = &callee->stored[weight];
	*t = *t == UNKNOWN || *t == stored ? stored : declared_type(callee, weight);
}

static void forget_types(const struct ir_program *p)
{
	for (uint32_t i = 0; i < p->n_units; i++)
		for (uint32_t k = 0; k < p->units[i].n_weights; k++)
			p->units[i].stored[k] = UNKNOWN;
}

/* Calls fn for each weight of each entry. */
typedef bool entry_weight_fn(struct ir_program *p, const struct program_unit *u, uint32_t weight, uint32_t param);
static bool each_entry_weight(struct ir_program *p, entry_weight_fn *fn)
{
	bool some = false;
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct program_unit *u = &p->units[p->entries[i].unit];
		for (uint32_t k = 0; k < u->n_weights; k++)
			some |= fn(p, u, k, p->entries[i].params[u->weights[k]]);
	}
	return some;
}

static bool pass_param(struct ir_program *p, const struct program_unit *u, uint32_t weight, uint32_t param)
{
	pass_weight(u, weight, param == IR_NONE ? declared_type(u, weight) : p->params[param]);
	return true;
}

/* A parameter that an entry cannot take as it is stored is widened before. True: it was not. */
static bool widen_param(struct ir_program *p, const struct program_unit *u, uint32_t weight, uint32_t param)
{
	dtype declared = declared_type(u, weight);
	if (param == IR_NONE || p->params[param] == u->stored[weight])
		return false;
	bool changed = p->params[param] != declared;
	p->params[param] = declared;
	return changed;
}

/* Passes the weights of c from operand `first` on to a callee. */
static void pass_arguments(const struct program_unit *u, const struct summary_call *c, const struct program_unit *callee, uint32_t first)
{
	for (uint32_t k = 0; k < callee->n_weights; k++) {
		const struct summary_value *v = &c->operands[first + callee->weights[k]];
		bool is_weight = v->weight != IR_NONE && !v->is_cast && !v->is_transposed;
		pass_weight(callee, k, is_weight ? u->stored[v->weight] : declared_type(callee, k));
	}
}

static void visit_callers(const struct ir_program *p)
{
	for (uint32_t i = p->n_units; i-- > 0;) {
		const struct program_unit *u = &p->units[i];
		for (uint32_t k = 0; k < u->summary->n_calls; k++) {
			const struct summary_call *c = &u->summary->calls[k];
			const struct program_unit *callee = &p->units[c->callee.unit];
			uint32_t first = c->op != OP_CALL;
			pass_arguments(u, c, callee, first);
			if (c->other.symbol)
				pass_arguments(u, c, &p->units[c->other.unit], first + callee->summary->n_inputs);
		}
	}
}

/* Units without callers take their weights as declared. Returns how many weights are stored in another type. */
static uint32_t settle_types(const struct ir_program *p)
{
	uint32_t changes = 0;
	for (uint32_t i = 0; i < p->n_units; i++)
		for (uint32_t k = 0; k < p->units[i].n_weights; k++) {
			dtype *t = &p->units[i].stored[k], declared = declared_type(&p->units[i], k);
			*t = *t == UNKNOWN ? declared : *t;
			changes += *t != declared;
		}
	return changes;
}

uint32_t program_pass_storage(struct ir_program *p, const struct target *t)
{
	(void)t;
	do {
		forget_types(p);
		each_entry_weight(p, pass_param);
		visit_callers(p);
	} while (each_entry_weight(p, widen_param));
	return settle_types(p);
}

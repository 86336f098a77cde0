/* Parameters whose rows are looked up in one place, and whose transpose is multiplied by in another, as an embedding with a tied head: both can read one copy.
 * How units read tables is found callees first, which tables are shared callers first. */
#include "backend/passes/program/program_passes.h"
#include "base/arena.h"

struct table_uses {
	struct ir_program *p;
	uint8_t **uses; /* for each unit and weight: enum table_use */
};

static void add_own_uses(const struct program_unit *u, uint8_t *uses)
{
	for (uint32_t k = 0; k < u->n_weights; k++)
		uses[k] = (uint8_t)u->summary->inputs[u->weights[k]].reads;
}

/* Calls fn for each weight of a callee and the operand that is passed for it. A branch or a loop shares no table with its caller. */
typedef void table_argument_fn(const struct table_uses *t, uint32_t caller, const struct summary_value *v, uint32_t callee,
			       uint32_t weight);
static void each_table_argument(const struct table_uses *t, uint32_t unit, table_argument_fn *fn)
{
	const struct unit_summary *s = t->p->units[unit].summary;
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct program_unit *callee = &t->p->units[s->calls[i].callee.unit];
		for (uint32_t k = 0; s->calls[i].op == OP_CALL && k < callee->n_weights; k++)
			fn(t, unit, &s->calls[i].operands[callee->weights[k]], s->calls[i].callee.unit, k);
	}
}

static void add_use_of_callee(const struct table_uses *t, uint32_t caller, const struct summary_value *v, uint32_t callee, uint32_t weight)
{
	if (v->weight != IR_NONE && !v->is_transposed)
		t->uses[caller][v->weight] |= t->uses[callee][weight];
}

/* All callers must pass a shared table. */
static void share_argument(const struct table_uses *t, uint32_t caller, const struct summary_value *v, uint32_t callee, uint32_t weight)
{
	bool is_weight = v->weight != IR_NONE && !v->is_cast && !v->is_transposed;
	t->p->units[callee].shared[weight] &= is_weight && t->p->units[caller].shared[v->weight];
}

static void share_params(const struct table_uses *t)
{
	const struct ir_program *p = t->p;
	uint8_t *uses = ARENA_ARRAY(p->arena, uint8_t, p->n_params + 1);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < p->n_entries; i++) {
			const struct program_entry *e = &p->entries[i];
			const struct program_unit *u = &p->units[e->unit];
			for (uint32_t k = 0; k < u->n_weights; k++) {
				uint32_t param = e->params[u->weights[k]];
				if (round == 0 && param != IR_NONE)
					uses[param] |= t->uses[e->unit][k];
				if (round == 1)
					u->shared[k] &= param != IR_NONE && uses[param] == (READS_ROWS | READS_COLUMNS);
			}
		}
}

uint32_t program_pass_tables(struct ir_program *p, const struct target *target)
{
	struct table_uses t = {p, ARENA_ARRAY(p->arena, uint8_t *, p->n_units + 1)};
	uint32_t changes = 0;
	(void)target;
	for (uint32_t i = 0; i < p->n_units; i++) {
		t.uses[i] = ARENA_ARRAY(p->arena, uint8_t, p->units[i].n_weights + 1);
		add_own_uses(&p->units[i], t.uses[i]);
		each_table_argument(&t, i, add_use_of_callee);
		for (uint32_t k = 0; k < p->units[i].n_weights; k++)
			p->units[i].shared[k] = !p->units[i].is_body && t.uses[i][k] != 0;
	}
	share_params(&t);
	for (uint32_t i = p->n_units; i-- > 0;)
		each_table_argument(&t, i, share_argument);
	for (uint32_t i = 0; i < p->n_units; i++)
		for (uint32_t k = 0; k < p->units[i].n_weights; k++)
			changes += p->units[i].shared[k];
	return changes;
}

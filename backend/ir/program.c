#include "backend/ir/program_state.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

struct ir_program *ir_program_new(struct arena *a)
{
	struct ir_program *p = ARENA_NEW(a, struct ir_program);
	*p = (struct ir_program){.arena = a};
	return p;
}

void ir_program_free(struct ir_program *p)
{
	if (p)
		map_free(&p->by_identity);
}

static bool link_callee(const struct ir_program *p, struct summary_callee *c)
{
	uint64_t unit = 0;
	bool ok = map_get(&p->by_identity, c->identity, &unit);
	c->unit = (uint32_t)unit;
	return ok;
}

/* Returns the calls of s with the indices of their callees in p, or NULL if p lacks a callee. */
static struct summary_call *link_calls(const struct ir_program *p, const struct unit_summary *s)
{
	struct summary_call *calls = ARENA_ARRAY(p->arena, struct summary_call, s->n_calls + 1);
	for (uint32_t k = 0; k < s->n_calls; k++) {
		struct summary_call *c = &calls[k];
		*c = s->calls[k];
		if (!link_callee(p, &c->callee) || (c->other.symbol && !link_callee(p, &c->other)))
			return NULL;
		if (c->op == OP_CALL)
			continue;
		p->units[c->callee.unit].is_body = true;
		if (c->other.symbol)
			p->units[c->other.unit].is_body = true;
	}
	return calls;
}

const struct decision ir_decisions[DECISIONS] = {
#define DECISION(of, kind, member, word) {OF_##of, DECIDED_##kind, word, offsetof(struct program_unit, member)},
#include "backend/ir/decisions.def"
#undef DECISION
};

uint32_t decision_none(const struct program_unit *u, const struct decision *d, uint32_t k)
{
	return d->kind == DECIDED_PLACE ? IR_NONE : d->kind == DECIDED_ELEM ? (uint32_t)u->summary->inputs[u->weights[k]].elem : 0;
}

static uint32_t decision_count(const struct program_unit *u, const struct decision *d)
{
	return d->of == OF_INPUTS ? u->layouts.n_inputs : d->of == OF_WEIGHTS ? u->n_weights : u->layouts.n_outputs;
}

static void decide_nothing(struct arena *a, struct program_unit *u)
{
	const struct unit_summary *s = u->summary;
	u->weights = ARENA_ARRAY(a, uint32_t, s->n_inputs + 1);
	for (uint32_t k = 0; k < s->n_inputs; k++)
		if (s->inputs[k].build_time)
			u->weights[u->n_weights++] = k;
	u->layouts.n_inputs = s->n_inputs - u->n_weights;
	u->layouts.n_outputs = s->n_outputs;
	for (const struct decision *d = ir_decisions; d < ir_decisions + DECISIONS; d++) {
		uint32_t n = decision_count(u, d), *values = *decision_values(u, d) = ARENA_ARRAY(a, uint32_t, n + 1);
		for (uint32_t k = 0; k < n; k++)
			values[k] = decision_none(u, d, k);
	}
}

bool ir_program_add_unit(struct ir_program *p, const struct unit_summary *s)
{
	struct unit_summary *own = ARENA_NEW(p->arena, struct unit_summary);
	*own = *s;
	if (!(own->calls = link_calls(p, s)))
		return false;
	p->units = arena_grow(p->arena, p->units, p->n_units, &p->cap_units, p->n_units + 1, sizeof *p->units);
	p->units[p->n_units] = (struct program_unit){.summary = own};
	decide_nothing(p->arena, &p->units[p->n_units]);
	map_put(&p->by_identity, s->identity, p->n_units++);
	return true;
}

void ir_program_add_entry(struct ir_program *p, uint32_t unit, const uint32_t *params)
{
	p->entries = arena_grow(p->arena, p->entries, p->n_entries, &p->cap_entries, p->n_entries + 1, sizeof *p->entries);
	p->entries[p->n_entries++] = (struct program_entry){unit, params};
	p->units[unit].is_entry = true;
}

void ir_program_add_param(struct ir_program *p, dtype type)
{
	p->params = arena_grow(p->arena, p->params, p->n_params, &p->cap_params, p->n_params + 1, sizeof *p->params);
	p->params[p->n_params++] = type;
}

const struct program_unit *ir_program_find(const struct ir_program *p, const struct hir_unit *u)
{
	uint64_t at;
	return p && map_get(&p->by_identity, u->identity, &at) ? &p->units[at] : NULL;
}

struct argument_layouts ir_program_layouts(const struct ir_program *p, const struct hir_unit *u)
{
	const struct program_unit *found = ir_program_find(p, u);
	return found ? found->layouts : (struct argument_layouts){0};
}

/* Returns the decisions of the weights, or of the inputs and outputs, as a number. Returns 0 if no decision differs from decision_none. */
static uint64_t decisions_code(const struct program_unit *u, bool of_weights)
{
	bool any = false;
	struct hasher *h = hasher_new();
	for (const struct decision *d = ir_decisions; d < ir_decisions + DECISIONS; d++)
		for (uint32_t k = 0; (d->of == OF_WEIGHTS) == of_weights && k < decision_count(u, d); k++) {
			any |= decision_value(u, d, k) != decision_none(u, d, k);
			hasher_add_u64(h, decision_value(u, d, k));
		}
	hash128 all = hasher_finish(h);
	return any ? all.lo | 1 : 0;
}

uint64_t argument_layouts_code(struct argument_layouts l) { return decisions_code(&(struct program_unit){.layouts = l}, false); }

uint64_t ir_program_code(const struct ir_program *p, const struct hir_unit *u)
{
	const struct program_unit *found = ir_program_find(p, u);
	uint64_t types = found ? decisions_code(found, true) : 0, layouts = found ? decisions_code(found, false) : 0;
	return types ? hash_combine((hash128){types, 0}, (hash128){layouts, 0}).lo : layouts;
}

enum layout summary_state_layout(const struct summary_input *in)
{
	return in->grows ? ir_layout_along(in->grows - 1u, in->rank) : LAYOUT_COUNT;
}

uint32_t summary_run_input(const struct unit_summary *s, uint32_t number)
{
	uint32_t k = 0;
	for (; k < s->n_inputs && (s->inputs[k].build_time || number > 0); k++)
		number -= !s->inputs[k].build_time;
	return k;
}

/* ---- verification ---- */

static bool fault(const struct unit_summary *s, const char *what, struct buf *why)
{
	buf_printf(why, "unit %s: %s", s->symbol, what);
	return false;
}

static bool is_group(const struct unit_summary *s, uint32_t group) { return group == IR_NONE || group < s->n_groups; }

/* n_calls: the number of calls before the value. */
static const char *value_fault(const struct program_unit *u, const struct summary_value *v, uint32_t n_calls)
{
	const struct unit_summary *s = u->summary;
	if (!is_group(s, v->group))
		return "a value of an unknown group";
	if (v->weight != IR_NONE && v->weight >= u->n_weights)
		return "a value of an unknown weight";
	if (v->call != IR_NONE && (v->call >= n_calls || v->number >= s->calls[v->call].n_results))
		return "an unknown result";
	if (v->call == IR_NONE && v->number != IR_NONE && v->number >= u->layouts.n_inputs)
		return "an unknown input";
	return v->along > HIR_MAX_RANK ? "rows along an unknown dim" : NULL;
}

static uint32_t inputs_of(const struct ir_program *p, const struct summary_callee *c) { return p->units[c->unit].summary->n_inputs; }

static const char *call_fault(const struct ir_program *p, const struct program_unit *u, uint32_t k)
{
	const struct summary_call *c = &u->summary->calls[k];
	const struct program_unit *callee = &p->units[c->callee.unit];
	uint32_t n = (c->op != OP_CALL) + inputs_of(p, &c->callee) + (c->other.symbol ? inputs_of(p, &c->other) : 0);
	if ((c->op == OP_IF) != (c->other.symbol != NULL))
		return "an IF has two callees, CALL and LOOP have one";
	if (n != c->n_operands)
		return "the operands of a call are not the inputs of the callee";
	if (c->n_results + (c->op == OP_LOOP) != callee->summary->n_outputs)
		return "the results of a call are not the outputs of the callee";
	for (uint32_t i = 0; i < c->n_results; i++)
		if (!is_group(u->summary, c->results[i]))
			return "a result of an unknown group";
	for (uint32_t i = 0; i < c->n_operands; i++) {
		const char *what = value_fault(u, &c->operands[i], k);
		if (what)
			return what;
	}
	return NULL;
}

static bool layout_holds(uint32_t l, dtype elem, uint8_t rank)
{
	return l < LAYOUT_COUNT && !ir_layout_is_packed(l) && ir_layout_fits(l, &(struct hir_type){.elem = elem, .rank = rank});
}

static const char *output_fault(const struct program_unit *u, uint32_t k)
{
	const struct summary_output *o = &u->summary->outputs[k];
	const struct argument_layouts *l = &u->layouts;
	if ((o->next != IR_NONE && o->next >= l->n_inputs) || (o->puts != IR_NONE && o->puts >= l->n_inputs))
		return "an output of an unknown input";
	if (!layout_holds(l->outputs[k], o->elem, o->rank))
		return "an output in a layout that it cannot have";
	if (l->grows[k] != IR_NONE && (l->grows[k] != o->next || l->inputs[o->next] != l->outputs[k]))
		return "an output grows an input that is not its state, or has another layout";
	if (l->updates[k] != IR_NONE && (l->updates[k] != o->puts || l->inputs[o->puts] != l->outputs[k]))
		return "an output updates an input that it does not have a slice of, or has another layout";
	return value_fault(u, &o->value, u->summary->n_calls);
}

static const char *weight_fault(const struct program_unit *u, const struct summary_input *in, uint32_t number)
{
	dtype t = u->stored[number];
	if (t != in->elem && (in->elem != DT_FLOAT32 || (t != DT_FLOAT16 && t != DT_BFLOAT16)))
		return "a weight stored in a type that does not widen to its own";
	return u->shared[number] && in->rank != 2 ? "a shared table that is no matrix" : NULL;
}

static const char *input_fault(const struct program_unit *u, uint32_t k, uint32_t *run, uint32_t *weight)
{
	const struct summary_input *in = &u->summary->inputs[k];
	if (in->grows > in->rank || !is_group(u->summary, in->group))
		return "an input that grows along an unknown dim, or of an unknown group";
	if (in->build_time)
		return weight_fault(u, in, (*weight)++);
	enum layout l = (enum layout)u->layouts.inputs[(*run)++];
	if (!layout_holds(l, in->elem, in->rank))
		return "an input in a layout that it cannot have";
	return u->is_entry && l != LAYOUT_PLAIN && l != summary_state_layout(in) ? "an argument of an entry that is not plain" : NULL;
}

static const char *unit_fault(const struct ir_program *p, const struct program_unit *u)
{
	const struct unit_summary *s = u->summary;
	const char *what = NULL;
	uint32_t run = 0, weight = 0;
	for (uint32_t k = 0; k < s->n_inputs && !what; k++)
		what = input_fault(u, k, &run, &weight);
	for (uint32_t k = 0; k < s->n_convs && !what; k++)
		what = is_group(s, s->convs[k].from) && is_group(s, s->convs[k].to) ? NULL : "a convolution of an unknown group";
	for (uint32_t k = 0; k < s->n_calls && !what; k++)
		what = call_fault(p, u, k);
	for (uint32_t k = 0; k < s->n_outputs && !what; k++)
		what = output_fault(u, k);
	return what;
}

bool ir_program_verify(const struct ir_program *p, struct buf *why)
{
	for (uint32_t i = 0; i < p->n_units; i++) {
		const char *what = unit_fault(p, &p->units[i]);
		if (what)
			return fault(p->units[i].summary, what, why);
	}
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct unit_summary *s = p->units[p->entries[i].unit].summary;
		for (uint32_t k = 0; k < s->n_inputs; k++)
			if (p->entries[i].params[k] != IR_NONE && (p->entries[i].params[k] >= p->n_params || !s->inputs[k].build_time))
				return fault(s, "an entry passes an unknown parameter", why);
	}
	return true;
}

/* Makes the summary of a unit from its function. Values that one layout suits are joined in classes (union-find); those of inputs, outputs, convolutions and
 * calls become groups. */
#include "backend/lower/summary.h"
#include "backend/lower/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/measure.h"

struct summariser {
	const struct ir_fn *f;
	struct arena *a;
	struct unit_summary *s;
	ir_ref *parent;    /* of each value; a root is its own */
	uint32_t *group;   /* of roots, IR_NONE until one is asked for */
	uint32_t *call_of; /* for each call its number */
	uint32_t *uses;
};

/* ---- groups ---- */

static ir_ref class_of(const struct summariser *s, ir_ref r)
{
	while (s->parent[r] != r)
		r = s->parent[r] = s->parent[s->parent[r]];
	return r;
}

static bool has_dim(const struct ir_fn *f, ir_ref a, ir_ref b, uint32_t k)
{
	return dim_eq(ir_type_of(f, a)->dims[k], ir_type_of(f, b)->dims[k]);
}

/* True if all dims of t from `first` on are 1. */
static bool is_flat(const struct ir_fn *f, const struct hir_type *t, uint32_t first)
{
	for (uint32_t k = first; k < t->rank; k++)
		if (!dim_eq(t->dims[k], dim_const(f->dims, 1)))
			return false;
	return true;
}

/* True if r has the batch and the channels of o, both run-time values, so that one layout suits both. */
static bool keeps_channels(const struct ir_fn *f, ir_ref r, ir_ref o)
{
	const struct ir_inst *i = ir_at(f, r);
	const struct hir_type *t = &i->type, *from = ir_type_of(f, o);
	if (ir_at(f, o)->build_time || t->rank < 2 || from->rank < 2 || !has_dim(f, r, o, 0))
		return false;
	switch (i->op) {
	case OP_CALL:
	case OP_IF:
	case OP_LOOP:
	case OP_RESULT:
	case OP_MATMUL:
	case OP_ATTENTION:
	case OP_TRANSPOSE: return false;
	case OP_RESHAPE:
		return has_dim(f, r, o, 1) && (t->rank == from->rank ? ir_type_same(t, from) : is_flat(f, t, 2) && is_flat(f, from, 2));
	case OP_CONCAT:
	case OP_SLICE: return t->rank == 4;
	default: return (ir_op_traits(i->op) & REDUCES ? !(ir_axes(i)->mask & 3) : t->rank == from->rank) && has_dim(f, r, o, 1);
	}
}

static bool is_anchor(const struct ir_fn *f, const struct ir_inst *i)
{
	return i->op == OP_CONV && ir_at(f, f->operands[i->operands + 1])->build_time;
}

static void find_classes(struct summariser *s)
{
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		const struct ir_inst *i = ir_at(s->f, r);
		s->parent[r] = r;
		s->group[r] = IR_NONE;
		for (uint32_t k = 0; k < i->n_operands && !is_anchor(s->f, i); k++)
			if (keeps_channels(s->f, r, ir_operand(s->f, r, k)))
				s->parent[class_of(s, ir_operand(s->f, r, k))] = r;
	}
}

static uint32_t group_of(const struct summariser *s, ir_ref r)
{
	ir_ref class = class_of(s, r);
	if (ir_type_of(s->f, r)->rank != 4 || ir_at(s->f, r)->build_time)
		return IR_NONE;
	if (s->group[class] == IR_NONE)
		s->group[class] = s->s->n_groups++;
	return s->group[class];
}

/* ---- values ---- */

static void find_weight(const struct ir_fn *f, ir_ref r, struct summary_value *v)
{
	const struct ir_inst *i = ir_at(f, r);
	for (; i->op == OP_CAST || (i->op == OP_TRANSPOSE && i->type.rank == 2); i = ir_at(f, r)) {
		v->is_cast |= i->op == OP_CAST;
		v->is_transposed ^= i->op == OP_TRANSPOSE;
		r = ir_operand(f, r, 0);
	}
	v->weight = i->op == OP_WEIGHT ? ir_number(i)->number : IR_NONE;
	v->is_cast &= v->weight != IR_NONE;
	v->is_transposed &= v->weight != IR_NONE;
}

/* Follows appended rows to what they were appended to. */
static void find_grown(const struct summariser *s, ir_ref r, struct summary_value *v)
{
	const struct ir_inst *i = ir_at(s->f, r);
	for (; i->op == OP_CONCAT; i = ir_at(s->f, r)) {
		uint32_t along = ir_axis(i)->axis + 1;
		if (v->along && v->along != along)
			break;
		v->along = (uint8_t)along;
		r = ir_operand(s->f, r, 0);
	}
	if (i->op == OP_INPUT || i->op == OP_RESULT)
		v->number = ir_number(i)->number;
	if (i->op == OP_RESULT)
		v->call = s->call_of[ir_operand(s->f, r, 0)];
	if (v->number == IR_NONE)
		v->along = 0;
}

static struct summary_value passed_value(const struct summariser *s, ir_ref r)
{
	struct summary_value v = {.group = group_of(s, r), .weight = IR_NONE, .call = IR_NONE, .number = IR_NONE};
	find_weight(s->f, r, &v);
	find_grown(s, r, &v);
	return v;
}

/* ---- the unit ---- */

/* Notes that rows of matrix r are looked up, or that it is a right operand of a product. */
static void note_reads(const struct summariser *s, ir_ref r, uint32_t straight, uint32_t transposed)
{
	struct summary_value v = {.weight = IR_NONE};
	find_weight(s->f, r, &v);
	if (v.weight == IR_NONE)
		return;
	uint32_t k = 0, number = v.weight;
	while (!s->s->inputs[k].build_time || number--)
		k++;
	s->s->inputs[k].reads |= v.is_transposed ? transposed : straight;
}

static void add_call(const struct summariser *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->f, r);
	const struct ir_call *call = ir_call(i);
	struct summary_call *c = &s->s->calls[s->call_of[r]];
	*c = (struct summary_call){.op = i->op, .callee = {call->callee->symbol, call->callee->identity, 0}, .n_operands = i->n_operands};
	if (call->other)
		c->other = (struct summary_callee){call->other->symbol, call->other->identity, 0};
	c->operands = ARENA_ARRAY(s->a, struct summary_value, i->n_operands + 1);
	for (uint32_t k = 0; k < i->n_operands; k++)
		c->operands[k] = passed_value(s, ir_operand(s->f, r, k));
	c->n_results = call->callee->n_outputs - (i->op == OP_LOOP);
	c->results = ARENA_ARRAY(s->a, uint32_t, c->n_results + 1);
	for (uint32_t k = 0; k < c->n_results; k++)
		c->results[k] = IR_NONE;
}

static void summarise_inst(const struct summariser *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->f, r);
	if (ir_calls(i->op))
		add_call(s, r);
	else if (i->op == OP_RESULT)
		s->s->calls[s->call_of[ir_operand(s->f, r, 0)]].results[ir_number(i)->number] = group_of(s, r);
	else if (i->op == OP_EMBEDDING)
		note_reads(s, ir_operand(s->f, r, 0), READS_ROWS, 0);
	else if (i->op == OP_MATMUL)
		note_reads(s, ir_operand(s->f, r, 1), 0, READS_COLUMNS);
	else if (is_anchor(s->f, i))
		s->s->convs[s->s->n_convs++] =
			(struct summary_conv){ir_type_of(s->f, ir_operand(s->f, r, 1))->elem, group_of(s, ir_operand(s->f, r, 0)),
					      group_of(s, r), keeps_channels(s->f, r, ir_operand(s->f, r, 0))};
}

/* Numbers the calls, makes room for them and for the convolutions, joins the RESULTs of one number, counts uses. */
static void count_calls(struct summariser *s)
{
	uint32_t convs = 0;
	struct map first = {0};
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		const struct ir_inst *i = ir_at(s->f, r);
		uint64_t same = r;
		convs += is_anchor(s->f, i);
		if (ir_calls(i->op))
			s->call_of[r] = s->s->n_calls++;
		if (i->op == OP_RESULT && !map_put(&first, (hash128){ir_operand(s->f, r, 0), ir_number(i)->number}, r)) {
			map_get(&first, (hash128){ir_operand(s->f, r, 0), ir_number(i)->number}, &same);
			s->parent[class_of(s, (ir_ref)same)] = r;
		}
	}
	for (uint32_t k = 0; k < s->f->n_operands; k++)
		s->uses[s->f->operands[k]]++;
	for (uint32_t k = 0; k < s->f->n_outputs; k++)
		s->uses[s->f->outputs[k]]++;
	map_free(&first);
	s->s->calls = ARENA_ARRAY(s->a, struct summary_call, s->s->n_calls + 1);
	s->s->convs = ARENA_ARRAY(s->a, struct summary_conv, convs + 1);
}

/* Returns the INPUT of which r replaces a slice, if nothing else reads either. */
static uint32_t put_into(const struct summariser *s, ir_ref r)
{
	if (ir_at(s->f, r)->op != OP_PUT || s->uses[r] != 1)
		return IR_NONE;
	ir_ref to = ir_operand(s->f, r, 0);
	return ir_at(s->f, to)->op == OP_INPUT && s->uses[to] == 1 ? ir_number(ir_at(s->f, to))->number : IR_NONE;
}

static uint32_t input_number(const struct hir_unit *u, uint32_t input)
{
	uint32_t number = 0;
	for (uint32_t k = 0; k < input; k++)
		number += !u->inputs[k].build_time;
	return number;
}

static void add_interface(const struct summariser *s, const struct hir_unit *u)
{
	struct unit_summary *to = s->s;
	to->n_inputs = u->n_inputs;
	to->n_outputs = u->n_outputs;
	to->inputs = ARENA_ARRAY(s->a, struct summary_input, u->n_inputs + 1);
	to->outputs = ARENA_ARRAY(s->a, struct summary_output, u->n_outputs + 1);
	for (uint32_t k = 0; k < u->n_inputs; k++) {
		const struct hir_input *in = &u->inputs[k];
		to->inputs[k] = (struct summary_input){in->type.elem, in->type.rank, in->build_time, in->grows, IR_NONE, 0};
	}
	for (uint32_t k = 0; k < u->n_outputs; k++) {
		const struct hir_type *t = hir_output_type(u, k);
		to->outputs[k] = (struct summary_output){.elem = t->elem, .rank = t->rank, .next = IR_NONE, .puts = IR_NONE};
		if (u->outputs[k].state)
			to->outputs[k].next = input_number(u, u->outputs[k].state - 1);
	}
}

static void add_body(struct summariser *s)
{
	const struct ir_fn *f = s->f;
	s->parent = ARENA_ARRAY(f->unit, ir_ref, f->n_insts + 1);
	s->group = ARENA_ARRAY(f->unit, uint32_t, f->n_insts + 1);
	s->call_of = ARENA_ARRAY(f->unit, uint32_t, f->n_insts + 1);
	s->uses = ARENA_ARRAY(f->unit, uint32_t, f->n_insts + 1);
	find_classes(s);
	count_calls(s);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		if (ir_at(f, r)->op == OP_INPUT)
			s->s->inputs[summary_run_input(s->s, ir_number(ir_at(f, r))->number)].group = group_of(s, r);
		summarise_inst(s, r);
	}
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		s->s->outputs[k].value = passed_value(s, f->outputs[k]);
		s->s->outputs[k].puts = put_into(s, f->outputs[k]);
	}
}

static struct unit_summary *summarise(struct arena *a, struct arena *scratch, const struct hir_unit *u, struct diags *diags)
{
	measure_begin("summarise");
	arena_mark_t mark = arena_mark(scratch);
	struct unit_summary *to = ARENA_NEW(a, struct unit_summary);
	struct summariser s = {.f = lower_unit(scratch, u, diags), .a = a, .s = to};
	*to = (struct unit_summary){.symbol = u->symbol, .identity = u->identity};
	add_interface(&s, u);
	if (s.f)
		add_body(&s);
	else
		for (uint32_t k = 0; k < to->n_outputs; k++)
			to->outputs[k].value = (struct summary_value){IR_NONE, IR_NONE, false, false, IR_NONE, IR_NONE, 0};
	arena_release(scratch, mark);
	measure_end();
	return to;
}

const struct unit_summary **lower_summaries(struct arena *a, const struct hir_program *p, const struct unit_summary *const *known)
{
	const struct unit_summary **list = ARENA_ARRAY(a, const struct unit_summary *, p->n_units + 1);
	struct arena *scratch = arena_new(0);
	struct diags *unseen = diags_new(0); /* planning the units reports them */
	ARENA_NEW(scratch, char);            /* so that releasing a unit keeps the first block */
	for (uint32_t i = 0; i < p->n_units; i++)
		list[i] = known && known[i] ? known[i] : summarise(a, scratch, p->units[i], unseen);
	diags_free(unseen);
	arena_free(scratch);
	return list;
}

struct ir_program *lower_program(struct arena *a, const struct hir_program *p, const struct unit_summary *const *summaries,
				 const dtype *types)
{
	struct ir_program *to = ir_program_new(a);
	for (uint32_t i = 0; i < p->n_params; i++)
		ir_program_add_param(to, types ? types[i] : p->params[i].type.elem);
	for (uint32_t i = 0; i < p->n_units; i++)
		if (!ir_program_add_unit(to, summaries[i])) {
			ir_program_free(to);
			return NULL;
		}
	for (uint32_t i = 0; i < p->n_entries; i++)
		ir_program_add_entry(to, (uint32_t)(ir_program_find(to, p->entries[i].unit) - to->units), p->entries[i].params);
	return to;
}

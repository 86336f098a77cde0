#include "builder/store/summary_record.h"
#include "backend/ir/program.h"
#include "builder/store/serializer.h"

static void serialize_value(struct serializer *s, struct summary_value *v)
{
	serialize_u32(s, &v->group);
	serialize_u32(s, &v->weight);
	serialize_u32(s, &v->call);
	serialize_u32(s, &v->number);
	serialize_u8(s, &v->along);
	serialize_bool(s, &v->is_cast);
	serialize_bool(s, &v->is_transposed);
}

static void serialize_inputs(struct serializer *s, struct unit_summary *summary)
{
	serialize_array(s, &summary->inputs, &summary->n_inputs, sizeof *summary->inputs);
	for (uint32_t k = 0; k < summary->n_inputs && s->ok; k++) {
		struct summary_input *in = &summary->inputs[k];
		serialize_enum(s, &in->elem, DT_COUNT);
		serialize_u8(s, &in->rank);
		serialize_bool(s, &in->build_time);
		serialize_u8(s, &in->grows);
		serialize_u32(s, &in->group);
		serialize_u32(s, &in->reads);
	}
}

static void serialize_outputs(struct serializer *s, struct unit_summary *summary)
{
	serialize_array(s, &summary->outputs, &summary->n_outputs, sizeof *summary->outputs);
	for (uint32_t k = 0; k < summary->n_outputs && s->ok; k++) {
		struct summary_output *o = &summary->outputs[k];
		serialize_enum(s, &o->elem, DT_COUNT);
		serialize_u8(s, &o->rank);
		serialize_value(s, &o->value);
		serialize_u32(s, &o->next);
		serialize_u32(s, &o->puts);
	}
}

static void serialize_callee(struct serializer *s, struct summary_callee *callee)
{
	serialize_str(s, &callee->symbol);
	serialize_hash(s, &callee->identity);
}

static void serialize_call(struct serializer *s, struct summary_call *c)
{
	serialize_enum(s, &c->op, OP_COUNT);
	s->ok &= ir_calls(c->op);
	serialize_callee(s, &c->callee);
	if (c->op == OP_IF)
		serialize_callee(s, &c->other);
	serialize_array(s, &c->operands, &c->n_operands, sizeof *c->operands);
	for (uint32_t k = 0; k < c->n_operands && s->ok; k++)
		serialize_value(s, &c->operands[k]);
	serialize_array(s, &c->results, &c->n_results, sizeof *c->results);
	for (uint32_t k = 0; k < c->n_results && s->ok; k++)
		serialize_u32(s, &c->results[k]);
}

void summary_serialize(struct serializer *s, struct unit_summary *summary)
{
	serialize_u32(s, &summary->n_groups);
	serialize_inputs(s, summary);
	serialize_array(s, &summary->convs, &summary->n_convs, sizeof *summary->convs);
	for (uint32_t k = 0; k < summary->n_convs && s->ok; k++) {
		serialize_enum(s, &summary->convs[k].elem, DT_COUNT);
		serialize_u32(s, &summary->convs[k].from);
		serialize_u32(s, &summary->convs[k].to);
		serialize_bool(s, &summary->convs[k].keeps);
	}
	serialize_array(s, &summary->calls, &summary->n_calls, sizeof *summary->calls);
	for (uint32_t k = 0; k < summary->n_calls && s->ok; k++)
		serialize_call(s, &summary->calls[k]);
	serialize_outputs(s, summary);
}

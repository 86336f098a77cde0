/* A program as text; program.h has an example. program_read.c reads it back. */
#include "backend/ir/program_state.h"
#include "base/buf.h"

static void print_attribute_number(const char *word, uint32_t n, struct buf *out)
{
	if (n != IR_NONE)
		buf_printf(out, " %s %u", word, n);
}

static void print_callee_name(const struct summary_callee *c, struct buf *out)
{
	char hex[33];
	hash_hex(c->identity, hex);
	buf_printf(out, " @%s %s", c->symbol, hex);
}

static void print_summary_value(const struct summary_value *v, struct buf *out)
{
	print_attribute_number("group", v->group, out);
	print_attribute_number("weight", v->weight, out);
	buf_puts(out, v->is_cast ? " cast" : "");
	buf_puts(out, v->is_transposed ? " transposed" : "");
	if (v->call == IR_NONE)
		print_attribute_number("input", v->number, out);
	else
		buf_printf(out, " result %u of %u", v->number, v->call);
	if (v->along)
		buf_printf(out, " along %u", v->along - 1u);
}

static void print_decisions(const struct program_unit *u, enum decision_of of, uint32_t k, struct buf *out)
{
	for (const struct decision *d = ir_decisions; d < ir_decisions + DECISIONS; d++) {
		if (d->of != of || decision_value(u, d, k) == decision_none(u, d, k))
			continue;
		uint32_t v = decision_value(u, d, k);
		buf_printf(out, " %s", d->word);
		if (d->kind == DECIDED_PLACE)
			buf_printf(out, " %u", v);
		else if (d->kind != DECIDED_FLAG)
			buf_printf(out, " %s", d->kind == DECIDED_ELEM ? dtype_text((dtype)v) : ir_layout_text((enum layout)v));
	}
	buf_putc(out, '\n');
}

static void print_summary_inputs(const struct program_unit *u, struct buf *out)
{
	for (uint32_t k = 0, run = 0, weight = 0; k < u->summary->n_inputs; k++) {
		const struct summary_input *in = &u->summary->inputs[k];
		buf_printf(out, "  %s %s rank %u", in->build_time ? "known" : "in", dtype_text(in->elem), in->rank);
		print_attribute_number("group", in->group, out);
		buf_puts(out, in->reads & READS_ROWS ? " rows" : "");
		buf_puts(out, in->reads & READS_COLUMNS ? " columns" : "");
		if (in->grows)
			buf_printf(out, " along %u", in->grows - 1u);
		print_decisions(u, in->build_time ? OF_WEIGHTS : OF_INPUTS, in->build_time ? weight++ : run++, out);
	}
}

/* The operands of a call, or the groups of its results; "-" says nothing. */
static void print_call_list(const struct summary_call *c, bool operands, struct buf *out)
{
	struct buf item = {0};
	uint32_t n = operands ? c->n_operands : c->n_results;
	buf_puts(out, " (");
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&item);
		if (operands)
			print_summary_value(&c->operands[i], &item);
		else
			print_attribute_number("group", c->results[i], &item);
		buf_printf(out, "%s%s", i ? ", " : "", item.len ? item.at + 1 : "-");
	}
	buf_putc(out, ')');
	buf_free(&item);
}

static void print_calls(const struct unit_summary *s, struct buf *out)
{
	for (uint32_t k = 0; k < s->n_calls; k++) {
		const struct summary_call *c = &s->calls[k];
		buf_printf(out, "  %s", ir_op_text(c->op));
		print_callee_name(&c->callee, out);
		if (c->other.symbol) {
			buf_puts(out, " else");
			print_callee_name(&c->other, out);
		}
		print_call_list(c, true, out);
		print_call_list(c, false, out);
		buf_putc(out, '\n');
	}
}

static void print_summary_outputs(const struct program_unit *u, struct buf *out)
{
	for (uint32_t k = 0; k < u->summary->n_outputs; k++) {
		const struct summary_output *o = &u->summary->outputs[k];
		buf_printf(out, "  out %s rank %u", dtype_text(o->elem), o->rank);
		print_summary_value(&o->value, out);
		print_attribute_number("next", o->next, out);
		print_attribute_number("puts", o->puts, out);
		print_decisions(u, OF_OUTPUTS, k, out);
	}
}

static void print_program_unit(const struct program_unit *u, struct buf *out)
{
	const struct unit_summary *s = u->summary;
	buf_puts(out, "unit");
	print_callee_name(&(struct summary_callee){s->symbol, s->identity, 0}, out);
	buf_putc(out, '\n');
	print_summary_inputs(u, out);
	for (uint32_t k = 0; k < s->n_convs; k++) {
		buf_printf(out, "  conv %s", dtype_text(s->convs[k].elem));
		print_attribute_number("group", s->convs[k].from, out);
		print_attribute_number("group", s->convs[k].to, out);
		buf_puts(out, s->convs[k].keeps ? " keeps\n" : "\n");
	}
	print_calls(s, out);
	print_summary_outputs(u, out);
}

void ir_program_print(const struct ir_program *p, struct buf *out)
{
	for (uint32_t k = 0, n; k < p->n_params; k += n) {
		for (n = 1; k + n < p->n_params && p->params[k + n] == p->params[k]; n++)
			;
		buf_printf(out, "params %u %s\n", n, dtype_text(p->params[k]));
	}
	for (uint32_t k = 0; k < p->n_units; k++)
		print_program_unit(&p->units[k], out);
	for (uint32_t k = 0; k < p->n_entries; k++) {
		const struct unit_summary *s = p->units[p->entries[k].unit].summary;
		buf_printf(out, "entry @%s", s->symbol);
		for (uint32_t i = 0; i < s->n_inputs; i++)
			if (p->entries[k].params[i] == IR_NONE)
				buf_puts(out, " -");
			else
				buf_printf(out, " %u", p->entries[k].params[i]);
		buf_putc(out, '\n');
	}
}

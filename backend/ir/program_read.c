/* Reads the text that ir_program_print writes. White space is free, `;` starts a comment. The text is not trusted: numbers are bounded, and the result must
 * pass ir_program_verify. */
#include <string.h>
#include "backend/ir/program_state.h"
#include "backend/ir/read_token.h"
#include "base/arena.h"
#include "base/buf.h"

/* A unit that is read: its summary, then what was decided of it. */
struct unit_reader {
	struct ir_reader *r;
	struct ir_program *p;
	struct unit_summary s;
	uint32_t cap_inputs, cap_outputs, cap_calls, cap_convs;
	struct read_decision {
		const struct decision *d;
		uint32_t k, value;
	} *decided;
	uint32_t n_decided, cap_decided, n_weights;
};

static uint32_t read_place(struct ir_reader *r) { return ir_read_u32(r, UINT32_MAX - 1); }

static uint8_t read_rank(struct ir_reader *r) { return (uint8_t)ir_read_u32(r, HIR_MAX_RANK); }

/* Reads a group, if one follows. */
static uint32_t read_group(struct unit_reader *u)
{
	if (!ir_read_eat(u->r, "group"))
		return IR_NONE;
	uint32_t g = ir_read_u32(u->r, 1 << 20);
	u->s.n_groups = g >= u->s.n_groups ? g + 1 : u->s.n_groups;
	return g;
}

static struct summary_callee read_callee_name(struct ir_reader *r)
{
	struct summary_callee c = {0};
	ir_read_expect(r, "@");
	c.symbol = ir_read_word(r);
	if (!r->failed && !hash_parse_hex(ir_read_word(r), &c.identity))
		ir_read_fail(r, "32 hex digits expected");
	return c;
}

static struct summary_value read_summary_value(struct unit_reader *u)
{
	struct ir_reader *r = u->r;
	struct summary_value v = {.group = read_group(u), .weight = IR_NONE, .call = IR_NONE, .number = IR_NONE};
	if (ir_read_eat(r, "weight"))
		v.weight = read_place(r);
	v.is_cast = ir_read_eat(r, "cast");
	v.is_transposed = ir_read_eat(r, "transposed");
	if (ir_read_eat(r, "input")) {
		v.number = read_place(r);
	} else if (ir_read_eat(r, "result")) {
		v.number = read_place(r);
		ir_read_expect(r, "of");
		v.call = read_place(r);
	}
	if (ir_read_eat(r, "along"))
		v.along = (uint8_t)(read_rank(r) + 1);
	return v;
}

static uint32_t read_decision_value(struct ir_reader *r, enum decision_kind kind)
{
	switch (kind) {
	case DECIDED_LAYOUT: return ir_read_layout(r);
	case DECIDED_ELEM: return ir_read_elem(r);
	case DECIDED_PLACE: return read_place(r);
	case DECIDED_FLAG: break;
	}
	return true;
}

/* Reads what was decided of number k. */
static void read_decisions(struct unit_reader *u, enum decision_of of, uint32_t k)
{
	for (const struct decision *d = ir_decisions; d < ir_decisions + DECISIONS; d++) {
		if (d->of != of || !ir_read_eat(u->r, d->word))
			continue;
		u->decided = arena_grow(u->r->unit, u->decided, u->n_decided, &u->cap_decided, u->n_decided + 1, sizeof *u->decided);
		u->decided[u->n_decided++] = (struct read_decision){d, k, read_decision_value(u->r, d->kind)};
	}
}

static void read_summary_input(struct unit_reader *u, bool build_time)
{
	struct ir_reader *r = u->r;
	struct summary_input in = {.elem = ir_read_elem(r), .build_time = build_time};
	ir_read_expect(r, "rank");
	in.rank = read_rank(r);
	in.group = read_group(u);
	in.reads |= ir_read_eat(r, "rows") ? READS_ROWS : 0;
	in.reads |= ir_read_eat(r, "columns") ? READS_COLUMNS : 0;
	if (ir_read_eat(r, "along"))
		in.grows = (uint8_t)(read_rank(r) + 1);
	read_decisions(u, build_time ? OF_WEIGHTS : OF_INPUTS, build_time ? u->n_weights++ : u->s.n_inputs - u->n_weights);
	uint32_t n = u->s.n_inputs;
	u->s.inputs = arena_grow(r->unit, u->s.inputs, n, &u->cap_inputs, n + 1, sizeof in);
	u->s.inputs[n] = in;
	u->s.n_inputs++;
}

static void read_summary_output(struct unit_reader *u)
{
	struct ir_reader *r = u->r;
	struct summary_output o = {.elem = ir_read_elem(r), .next = IR_NONE, .puts = IR_NONE};
	ir_read_expect(r, "rank");
	o.rank = read_rank(r);
	o.value = read_summary_value(u);
	o.next = ir_read_eat(r, "next") ? read_place(r) : IR_NONE;
	o.puts = ir_read_eat(r, "puts") ? read_place(r) : IR_NONE;
	read_decisions(u, OF_OUTPUTS, u->s.n_outputs);
	uint32_t n = u->s.n_outputs;
	u->s.outputs = arena_grow(r->unit, u->s.outputs, n, &u->cap_outputs, n + 1, sizeof o);
	u->s.outputs[n] = o;
	u->s.n_outputs++;
}

static void read_conv(struct unit_reader *u)
{
	struct summary_conv c = {.elem = ir_read_elem(u->r)};
	c.from = read_group(u);
	c.to = read_group(u);
	c.keeps = ir_read_eat(u->r, "keeps");
	u->s.convs = arena_grow(u->r->unit, u->s.convs, u->s.n_convs, &u->cap_convs, u->s.n_convs + 1, sizeof c);
	u->s.convs[u->s.n_convs++] = c;
}

/* True if item n of a list in parentheses follows. */
static bool has_item(struct ir_reader *r, uint32_t n)
{
	if (!n)
		ir_read_expect(r, "(");
	if (r->failed || ir_read_eat(r, ")"))
		return false;
	if (n)
		ir_read_expect(r, ",");
	ir_read_eat(r, "-");
	return !r->failed;
}

static void read_call_operands(struct unit_reader *u, struct summary_call *c)
{
	uint32_t cap = 0;
	while (has_item(u->r, c->n_operands)) {
		c->operands = arena_grow(u->r->unit, c->operands, c->n_operands, &cap, c->n_operands + 1, sizeof *c->operands);
		c->operands[c->n_operands++] = read_summary_value(u);
	}
}

static void read_call_results(struct unit_reader *u, struct summary_call *c)
{
	uint32_t cap = 0;
	while (has_item(u->r, c->n_results)) {
		c->results = arena_grow(u->r->unit, c->results, c->n_results, &cap, c->n_results + 1, sizeof *c->results);
		c->results[c->n_results++] = read_group(u);
	}
}

static void read_call(struct unit_reader *u, enum ir_op op)
{
	struct summary_call c = {.op = op, .callee = read_callee_name(u->r)};
	if (ir_read_eat(u->r, "else"))
		c.other = read_callee_name(u->r);
	read_call_operands(u, &c);
	read_call_results(u, &c);
	u->s.calls = arena_grow(u->r->unit, u->s.calls, u->s.n_calls, &u->cap_calls, u->s.n_calls + 1, sizeof c);
	u->s.calls[u->s.n_calls++] = c;
}

/* Reads a line; returns false if the unit ends. */
static bool read_summary_line(struct unit_reader *u)
{
	struct ir_reader *r = u->r;
	if (ir_read_eat(r, "in"))
		read_summary_input(u, false);
	else if (ir_read_eat(r, "known"))
		read_summary_input(u, true);
	else if (ir_read_eat(r, "out"))
		read_summary_output(u);
	else if (ir_read_eat(r, "conv"))
		read_conv(u);
	else if (ir_read_eat(r, "call"))
		read_call(u, OP_CALL);
	else if (ir_read_eat(r, "if"))
		read_call(u, OP_IF);
	else if (ir_read_eat(r, "loop"))
		read_call(u, OP_LOOP);
	else
		return false;
	return !r->failed;
}

static void take_decisions(const struct unit_reader *u)
{
	struct program_unit *to = &u->p->units[u->p->n_units - 1];
	for (const struct read_decision *r = u->decided; r < u->decided + u->n_decided; r++)
		(*decision_values(to, r->d))[r->k] = r->value;
}

static void read_unit_lines(struct ir_reader *r, struct ir_program *p)
{
	struct unit_reader u = {.r = r, .p = p};
	struct summary_callee name = read_callee_name(r);
	u.s.symbol = name.symbol;
	u.s.identity = name.identity;
	while (read_summary_line(&u))
		;
	if (r->failed)
		return;
	if (map_get(&p->by_identity, u.s.identity, NULL))
		ir_read_fail(r, "another identity expected");
	else if (!ir_program_add_unit(p, &u.s))
		ir_read_fail(r, "callees that are units before expected");
	else
		take_decisions(&u);
}

static void read_program_entry(struct ir_reader *r, struct ir_program *p)
{
	ir_read_expect(r, "@");
	const char *symbol = ir_read_word(r);
	uint32_t unit = 0;
	while (unit < p->n_units && strcmp(p->units[unit].summary->symbol, symbol) != 0)
		unit++;
	if (unit == p->n_units) {
		ir_read_fail(r, "the symbol of a unit expected");
		return;
	}
	uint32_t n = p->units[unit].summary->n_inputs, *params = ARENA_ARRAY(r->unit, uint32_t, n + 1);
	for (uint32_t k = 0; k < n; k++)
		params[k] = ir_read_eat(r, "-") ? IR_NONE : read_place(r);
	ir_program_add_entry(p, unit, params);
}

static void read_params(struct ir_reader *r, struct ir_program *p)
{
	uint32_t n = ir_read_u32(r, 1 << 20);
	for (dtype t = ir_read_elem(r); n && !r->failed; n--)
		ir_program_add_param(p, t);
}

struct ir_program *ir_program_read(struct arena *a, const struct source *text, struct diags *diags)
{
	struct ir_reader r = ir_reader_of(a, text, diags);
	struct ir_program *p = ir_program_new(a);
	struct buf why = {0};
	for (ir_read_space(&r); !r.failed && r.at < r.end; ir_read_space(&r)) {
		if (ir_read_eat(&r, "unit"))
			read_unit_lines(&r, p);
		else if (ir_read_eat(&r, "entry"))
			read_program_entry(&r, p);
		else if (ir_read_eat(&r, "params"))
			read_params(&r, p);
		else
			ir_read_fail(&r, "`params`, `unit` or `entry` expected");
	}
	if (!r.failed && !ir_program_verify(p, &why)) {
		r.at = text->text;
		ir_read_fail(&r, why.at);
	}
	buf_free(&why);
	if (!r.failed)
		return p;
	ir_program_free(p);
	return NULL;
}

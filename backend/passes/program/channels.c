/* Which tensors of rank 4 units take and give channels-last. A group of values is, if a convolution of it has a kernel that is, or an argument or result of a
 * callee is. Groups that a callee connects are one. Arguments of entries, and of the branches and bodies of `if` and loops, are plain. So an edit can
 * change the layouts of the edited unit and, by them, those of its callers. */
#include "backend/passes/program/program_passes.h"
#include "backend/kernels/kernel.h"
#include "backend/target/target.h"
#include "base/arena.h"

struct channels {
	const struct ir_program *p;
	bool has_kernel[DT_COUNT]; /* one convolves with weights of this type, and its input and result are channels-last */
	uint32_t **links;          /* for each unit and output: a mask of the INPUTs of its class. NULL: all its arguments are plain */
	const struct program_unit *u;
	uint32_t *parent;    /* of each group; a root is its own */
	bool *channels_last; /* of roots */
};

static uint32_t root_group(const struct channels *c, uint32_t g)
{
	while (c->parent[g] != g)
		g = c->parent[g] = c->parent[c->parent[g]];
	return g;
}

static void ask_channels_last(const struct channels *c, uint32_t g)
{
	if (g != IR_NONE)
		c->channels_last[root_group(c, g)] = true;
}

static void join_groups(const struct channels *c, uint32_t a, uint32_t b)
{
	if (a == IR_NONE || b == IR_NONE)
		return;
	uint32_t from = root_group(c, a), to = root_group(c, b);
	c->parent[from] = to;
	c->channels_last[to] |= c->channels_last[from];
}

static void find_kernels(struct channels *c, const struct target *t)
{
	for (dtype e = 0; e < DT_COUNT; e++)
		for (enum kernel k = 0; k < KERNEL_COUNT; k++) {
			const struct kernel_stored *o = kernel_info(k)->operands;
			c->has_kernel[e] |= kernel_record(k)->op == OP_CONV && kernel_is_of(k, t) && o[0].layout == LAYOUT_CHANNELS_LAST &&
					    kernel_result_layout(k) == LAYOUT_CHANNELS_LAST &&
					    ir_layout_fits((enum layout)o[1].layout, &(struct hir_type){.elem = e, .rank = 4});
		}
}

static void visit_conv(const struct channels *c, const struct summary_conv *conv)
{
	if (c->has_kernel[conv->elem]) {
		ask_channels_last(c, conv->from);
		ask_channels_last(c, conv->to);
	} else if (conv->keeps) {
		join_groups(c, conv->from, conv->to);
	}
}

static bool is_linked(uint32_t mask, uint32_t k) { return k < 32 && (mask >> k & 1); }

static void visit_channels_call(const struct channels *c, const struct summary_call *call)
{
	const struct program_unit *callee = &c->p->units[call->callee.unit];
	const uint32_t *links = c->links[call->callee.unit];
	for (uint32_t k = 0, run = 0; k < callee->summary->n_inputs; k++) {
		if (callee->summary->inputs[k].build_time)
			continue;
		if (argument_input(callee->layouts, run) == LAYOUT_CHANNELS_LAST)
			ask_channels_last(c, call->operands[k].group);
		for (uint32_t i = 0; links && i < call->n_results; i++)
			if (is_linked(links[i], run))
				join_groups(c, call->operands[k].group, call->results[i]);
		run++;
	}
	for (uint32_t k = 0; k < call->n_results; k++)
		if (argument_output(callee->layouts, k) == LAYOUT_CHANNELS_LAST)
			ask_channels_last(c, call->results[k]);
}

static void find_groups(const struct channels *c)
{
	const struct unit_summary *s = c->u->summary;
	for (uint32_t g = 0; g < s->n_groups; g++) {
		c->parent[g] = g;
		c->channels_last[g] = false;
	}
	for (uint32_t k = 0; k < s->n_convs; k++)
		visit_conv(c, &s->convs[k]);
	for (uint32_t k = 0; k < s->n_calls; k++)
		visit_channels_call(c, &s->calls[k]);
}

static uint32_t inputs_of_group(const struct channels *c, uint32_t g)
{
	const struct unit_summary *s = c->u->summary;
	uint32_t mask = 0;
	for (uint32_t k = 0, run = 0; k < s->n_inputs && run < 32 && g != IR_NONE; k++) {
		if (s->inputs[k].build_time)
			continue;
		if (s->inputs[k].group != IR_NONE && root_group(c, s->inputs[k].group) == root_group(c, g))
			mask |= 1u << run;
		run++;
	}
	return mask;
}

/* A state has the layout of states. */
static bool is_channels_last(const struct channels *c, uint32_t group, uint32_t state)
{
	const struct unit_summary *s = c->u->summary;
	bool is_state = state != IR_NONE && summary_state_layout(&s->inputs[state]) != LAYOUT_COUNT;
	return !is_state && group != IR_NONE && c->channels_last[root_group(c, group)];
}

static uint32_t decide_channels(const struct channels *c)
{
	const struct unit_summary *s = c->u->summary;
	const struct argument_layouts *l = &c->u->layouts;
	uint32_t changes = 0;
	for (uint32_t k = 0, run = 0; k < s->n_inputs; k++)
		if (!s->inputs[k].build_time) {
			bool decided = run < 32 && is_channels_last(c, s->inputs[k].group, k);
			l->inputs[run++] = decided ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
			changes += decided;
		}
	for (uint32_t k = 0; k < s->n_outputs; k++) {
		uint32_t next = s->outputs[k].next;
		bool decided = is_channels_last(c, s->outputs[k].value.group, next == IR_NONE ? next : summary_run_input(s, next));
		l->outputs[k] = decided ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
		changes += decided;
	}
	return changes;
}

static uint32_t most_groups(const struct ir_program *p)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < p->n_units; i++)
		most = p->units[i].summary->n_groups > most ? p->units[i].summary->n_groups : most;
	return most;
}

uint32_t program_pass_channels(struct ir_program *p, const struct target *t)
{
	struct channels c = {.p = p, .links = ARENA_ARRAY(p->arena, uint32_t *, p->n_units + 1)};
	uint32_t changes = 0;
	find_kernels(&c, t);
	c.parent = ARENA_ARRAY(p->arena, uint32_t, most_groups(p) + 1);
	c.channels_last = ARENA_ARRAY(p->arena, bool, most_groups(p) + 1);
	for (uint32_t i = 0; i < p->n_units; i++) {
		c.u = &p->units[i];
		if (c.u->is_entry || c.u->is_body)
			continue;
		find_groups(&c);
		c.links[i] = ARENA_ARRAY(p->arena, uint32_t, c.u->summary->n_outputs + 1);
		for (uint32_t k = 0; k < c.u->summary->n_outputs; k++)
			c.links[i][k] = inputs_of_group(&c, c.u->summary->outputs[k].value.group);
		changes += decide_channels(&c);
	}
	return changes;
}

/* States are stored along the dim that grows. The next value of a state grows it if it is a chain of appends that starts at the input, in the unit
 * or in what it calls. */
#include "backend/passes/program/argument_states.h"

/* Returns the number of input k among the run-time inputs. */
static uint32_t number_of(const struct hir_unit *u, uint32_t k)
{
	uint32_t number = 0;
	for (uint32_t i = 0; i < k; i++)
		number += !u->inputs[i].build_time;
	return number;
}

/* Returns the input that is run-time input `number`. */
static uint32_t input_of(const struct hir_unit *u, uint32_t number)
{
	uint32_t k = 0;
	for (; u->inputs[k].build_time || number > 0; k++)
		number -= !u->inputs[k].build_time;
	return k;
}

/* True if n concatenates along the dim; stores its first operand. */
static bool is_append(const struct hir_unit *u, const struct hir_node *n, uint32_t along, hir_ref *to)
{
	const struct hir_arg *args = u->args + n->args;
	if (n->kind != HIR_BUILTIN || n->builtin != BI_CONCAT || args[0].kind != ARG_LIST || args[0].u.list.n < 1 ||
	    args[1].kind != ARG_INT)
		return false;
	const struct hir_arg *first = &u->args[args[0].u.list.start];
	int64_t axis = args[1].u.i < 0 ? args[1].u.i + n->type.rank : args[1].u.i;
	*to = first->u.tensor;
	return first->kind == ARG_TENSOR && axis == along;
}

/* True if node r, output `number` of a call, grows an argument of it; stores the argument. */
static bool grows_argument(const struct arguments *known, const struct hir_unit *u, hir_ref r, uint32_t number, hir_ref *to)
{
	const struct hir_node *n = &u->nodes[r];
	if (n->kind != HIR_CALL)
		return false;
	uint32_t input = argument_grows(arguments_of(known, n->callee), number);
	if (input == IR_NONE)
		return false;
	*to = u->args[n->args + input_of(n->callee, input)].u.tensor;
	return true;
}

/* True if r is the value of input `state`, with appended rows or without. */
static bool is_grown(const struct arguments *known, const struct hir_unit *u, hir_ref r, uint32_t state)
{
	for (;;) {
		const struct hir_node *n = &u->nodes[r];
		if (n->kind == HIR_INPUT)
			return n->index == state;
		if (n->kind == HIR_RESULT ? !grows_argument(known, u, n->source, n->index, &r)
					  : !is_append(u, n, u->inputs[state].grows - 1u, &r) && !grows_argument(known, u, r, 0, &r))
			return false;
	}
}

void arguments_of_states(const struct arguments *known, const struct hir_unit *u, bool in_place, const struct argument_draft *out)
{
	for (uint32_t k = 0; k < u->n_inputs; k++)
		if (u->inputs[k].grows && ir_layout_along(u->inputs[k].grows - 1u, u->inputs[k].type.rank) != LAYOUT_COUNT)
			out->inputs[number_of(u, k)] = (uint8_t)ir_layout_along(u->inputs[k].grows - 1u, u->inputs[k].type.rank);
	for (uint32_t k = 0; k < u->n_outputs; k++) {
		uint32_t state = u->outputs[k].state - 1;
		if (!u->outputs[k].state || !u->inputs[state].grows ||
		    ir_layout_along(u->inputs[state].grows - 1u, u->inputs[state].type.rank) == LAYOUT_COUNT)
			continue;
		out->outputs[k] = out->inputs[number_of(u, state)];
		if (in_place && is_grown(known, u, u->outputs[k].node, state))
			out->grows[k] = number_of(u, state);
	}
}
